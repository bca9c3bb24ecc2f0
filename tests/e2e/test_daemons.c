/* Goal: daemons that share a database and a bucket are one service: each of them gives
 * the same answers, a worker runs the jobs that another daemon has accepted, and a
 * budget is spent once. Method: two daemons of role api and one worker, on a real
 * PostgreSQL server and a small S3 server, each a process. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/account_fixture.h"
#include "tests/e2e/daemons_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stream_fixture.h"

enum { ONE, OTHER, WORKER };
#define STEPS (200000 / SAMPLE_SHORTER) /* of a job whose progress is visible */

static const char *const roles[] = {"api", "api", "worker", NULL};

static int begin(void **state)
{
    return daemons_begin(state, roles);
}

static bool is_same(const struct reply *one, const struct reply *other)
{
    return one->status == other->status && one->size == other->size &&
           memcmp(one->body, other->body, one->size) == 0;
}

static void assert_same(const struct reply *one, const struct reply *other)
{
    if (!is_same(one, other))
        fail_msg("%s\nis not\n%s", one->body, other->body);
}

/* Waits until both daemons show the same at the path, which nothing changes any more:
 * each of them sees the others' writes at its next poll. Returns what is shown. */
static const struct reply *await_alike(struct daemons *daemons, const char *path)
{
    const struct reply *one, *other;
    unsigned tries = 0;
    do {
        one = client_get(&daemons->clients[ONE], "%s", path);
        other = client_get(&daemons->clients[OTHER], "%s", path);
        assert_status(one, 200);
        usleep(10000);
    } while (!is_same(one, other) && tries++ < 6000);
    assert_same(one, other);
    return one;
}

/* The same, with the same ETag. Lists have ETags of the daemon that shows them. */
static void assert_shown_alike(struct daemons *daemons, const char *path)
{
    char tag[256], header[300];
    if (!reply_header(await_alike(daemons, path), "etag", tag))
        return;
    snprintf(header, sizeof header, "If-None-Match: %s", tag);
    assert_status(client_get_with(&daemons->clients[OTHER], path, header), 304);
}

/* --- the main job --- */

/* The dataset is declared and imported at one daemon; its file is uploaded to the
 * other. */
static void ready_at_both(struct daemons *daemons)
{
    struct client *one = &daemons->clients[ONE], *other = &daemons->clients[OTHER];
    char *text = sample_points(500, 1);
    assert_status(declare_points(one, "points", SAMPLE_BUDGET(8)), 201);
    assert_status(
        client_put(other, "/v1/datasets/points/files/data", text, strlen(text)), 204);
    free(text);
    const struct reply *imported = client_act(one, "/v1/datasets/points:import");
    assert_status(imported, 200);
    assert_string_equal(reply_text(imported, "state"), "READY");
    assert_shown_alike(daemons, "/v1/datasets/points");
}

static void a_job_is_taken_by_one_run_by_another_and_shown_by_all(void **state)
{
    struct daemons *daemons = *state;
    struct client *one = &daemons->clients[ONE], *other = &daemons->clients[OTHER];
    char path[128];
    ready_at_both(daemons);
    const char *job = submit(one, SAMPLE_JOB, "points", STEPS, 1000.0);
    await_step(other, job, STEPS / 4); /* as the worker reports it */
    assert_string_equal(reply_text(client_get(one, "/v1/jobs/%s", job), "state"),
                        "RUNNING");
    const struct reply *ended = await_success(other, job);
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    assert_shown_alike(daemons, path);
    assert_shown_alike(daemons, "/v1/datasets/points/budget");
    assert_shown_alike(daemons, "/v1/datasets/points/ledger");
    assert_true(reply_number(ended, "privacy.authorised_steps") == STEPS);
    const char *model = reply_text(ended, "model");
    snprintf(path, sizeof path, "/v1/models/%s/content", model);
    const struct reply *content = client_get(one, "%s", path);
    assert_status(content, 200);
    assert_same(content, client_get(other, "%s", path));
    snprintf(path, sizeof path, "/v1/models/%s/predict", model);
    const struct reply *predicted =
        client_post(one, path, NULL, "{'inputs':[[0.5,-0.25]]}");
    assert_status(predicted, 200);
    assert_same(predicted, client_post(other, path, NULL, "{'inputs':[[0.5,-0.25]]}"));
    assert_int_equal(daemons_verify(daemons), 0);
}

/* --- evaluations after the training --- */

/* A look is asked of one daemon while the other has a score of the model in memory.
 * Whoever runs it, it is charged once, both show it, and both put it into lists. */
static void a_look_is_charged_once_and_shown_by_all(void **state)
{
    struct daemons *daemons = *state;
    struct client *one = &daemons->clients[ONE], *other = &daemons->clients[OTHER];
    char path[128], id[64], model[64], *text = sample_points(1000, 3);
    assert_status(declare_points(one, "looked",
                                 "{'epsilon':8,'delta':1e-5},"
                                 "'holdout':0.2,'holdout_seed':5"),
                  201);
    assert_status(client_put(one, "/v1/datasets/looked/files/data", text, strlen(text)),
                  204);
    free(text);
    assert_status(client_act(one, "/v1/datasets/looked:import"), 200);
    const char *job =
        submit(one, "{'dataset':'looked','evaluation':{'holdout':true,'epsilon':0.5},"
                    "'model':{'preset':'linear'},'algorithm':{'name':'dpsgd'},"
                    "'batch_size':50,'steps':20,'privacy':{'noise_multiplier':4}}");
    const struct reply *reply = await_success(other, job);
    snprintf(model, sizeof model, "%s", reply_text(reply, "model"));
    double before = daemons_ask("SELECT max(seq) FROM ledger");
    static const char *const lists[] = {"/v1/jobs?dataset=looked&order_by=quality",
                                        "/v1/models?dataset=looked&order_by=quality",
                                        "/v1/datasets/looked/budget"};
    for (size_t i = 0; i < 3; i++)
        await_alike(daemons, lists[i]);
    snprintf(path, sizeof path, "/v1/models/%s:evaluate", model);
    reply = client_create(other, path, "{'evaluation':{'holdout':true,'epsilon':0.7}}");
    assert_status(reply, 201);
    snprintf(id, sizeof id, "%s", reply_text(reply, "id"));
    while (reply = client_get(one, "/v1/evaluations/%s", id),
           reply->status == 404 || strcmp(reply_text(reply, "state"), "RUNNING") == 0)
        usleep(50000);
    assert_string_equal(reply_text(reply, "state"), "SUCCEEDED");
    json_t *figure = json_deep_copy(reply_at(reply, "quality.accuracy.value"));
    snprintf(path, sizeof path, "/v1/evaluations/%s", id);
    assert_shown_alike(daemons, path);
    for (size_t d = 0; d < 2; d++) {
        unsigned tries = 0;
        do {
            reply = client_get(&daemons->clients[d], "/v1/models/%s", model);
            usleep(10000);
        } while (!json_is_string(reply_at(reply, "metrics.holdout.evaluation")) &&
                 tries++ < 6000);
        assert_string_equal(reply_text(reply, "metrics.holdout.evaluation"), id);
        assert_true(json_equal(reply_at(reply, "metrics.holdout.value"), figure));
    }
    json_decref(figure);
    for (size_t i = 0; i < 3; i++)
        await_alike(daemons, lists[i]);
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    assert_shown_alike(daemons, path);
    /* RESERVE and COMMIT, once. */
    assert_true(daemons_ask("SELECT max(seq) FROM ledger") == before + 2);
    assert_int_equal(daemons_verify(daemons), 0);
}

/* --- raw records --- */

/* Returns the number of the bucket's files that a daemon has decrypted. */
static size_t cached(const struct daemons *daemons, size_t index)
{
    char path[128];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/cache", daemons->all[index].data_dir);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static void await_cached(const struct daemons *daemons, size_t index, size_t count)
{
    unsigned tries = 0;
    while (cached(daemons, index) != count && tries++ < 6000)
        usleep(10000);
    assert_int_equal(cached(daemons, index), count);
}

/* A file that was uploaded to one daemon is imported by the worker and deleted by
 * another daemon. */
static void no_machine_keeps_records_behind_their_end(void **state)
{
    struct daemons *daemons = *state;
    struct client *one = &daemons->clients[ONE], *other = &daemons->clients[OTHER];
    char *text = sample_points(500, 2);
    size_t before = cached(daemons, OTHER), at_worker = cached(daemons, WORKER);
    assert_status(declare_points(one, "passing", SAMPLE_BUDGET(8)), 201);
    assert_status(
        client_put(other, "/v1/datasets/passing/files/data", text, strlen(text)), 204);
    free(text);
    assert_int_equal(cached(daemons, OTHER), before + 1);
    assert_string_equal(
        reply_text(client_act(one, "/v1/datasets/passing:import"), "state"), "READY");
    await_cached(daemons, OTHER, before);
    await_cached(daemons, WORKER, at_worker + 1);
    assert_status(client_delete(one, "/v1/datasets/passing"), 204);
    await_cached(daemons, WORKER, at_worker);
}

/* --- requests to one about what the other has accepted --- */

static void a_job_is_cancelled_by_whichever_is_asked(void **state)
{
    struct daemons *daemons = *state;
    struct client *one = &daemons->clients[ONE], *other = &daemons->clients[OTHER];
    const char *running = submit(one, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 60000.0);
    const char *queued = submit(other, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 60000.0);
    await_training(other, running);
    assert_status(cancel(one, queued), 200);
    assert_string_equal(reply_text(await_end(other, queued), "state"), "CANCELLED");
    assert_status(cancel(other, running), 200);
    const struct reply *ended = await_end(one, running);
    assert_string_equal(reply_text(ended, "state"), "CANCELLED");
    assert_true(reply_number(ended, "privacy.authorised_steps") > 0);
    assert_shown_alike(daemons, "/v1/datasets/points/budget");
}

/* A stream at one daemon and a long poll at the other both report an end that neither
 * of them caused. */
static void ends_wake_who_waits_at_any_of_them(void **state)
{
    struct daemons *daemons = *state;
    struct event_stream stream;
    struct event event;
    char path[128];
    bool told = false;
    const char *job =
        submit(&daemons->clients[ONE], SAMPLE_JOB, "points", 2000, 2000.0);
    snprintf(path, sizeof path, "/v1/jobs/%s/events", job);
    stream_open(&stream, &daemons->all[OTHER], path, NULL);
    await_success(&daemons->clients[ONE], job);
    while (!told && stream_next(&stream, &event)) {
        told = strstr(event.text, "SUCCEEDED") != NULL;
        event_fini(&event);
    }
    assert_true(told);
    stream_close(&stream);
}

static void a_worker_answers_probes_and_metrics_alone(void **state)
{
    struct daemons *daemons = *state;
    struct client *worker = &daemons->clients[WORKER];
    assert_status(client_get(worker, "/readyz"), 200);
    assert_status(client_get(worker, "/livez"), 200);
    const struct reply *metrics = client_get(worker, "/metrics");
    assert_status(metrics, 200);
    assert_non_null(strstr(metrics->body, "epsilond_daemons{role=\"worker\"} 1"));
    assert_non_null(strstr(metrics->body, "epsilond_daemons{role=\"api\"} 2"));
    assert_problem(client_get(worker, "/v1/jobs"), 404, "not_found");
    assert_problem(client_get(worker, "/ui/"), 404, "not_found");
    assert_problem(declare_points(worker, "elsewhere", SAMPLE_PUBLIC), 404,
                   "not_found");
    assert_problem(client_get(&daemons->clients[ONE], "/v1/datasets/elsewhere"), 404,
                   "not_found");
}

/* --- many at once, at both --- */

enum { CALLERS = 10, TWINS = 20 };

struct caller {
    pthread_t thread;
    const struct daemon *daemon;
    void (*ask)(struct caller *caller, struct client *client, unsigned number);
    unsigned accepted, refused;
    char job[TWINS][32]; /* by its number, or "" */
};

static void *call(void *argument)
{
    struct caller *caller = argument;
    struct client client;
    client_init(&client, caller->daemon);
    for (unsigned i = 0; i < TWINS; i++)
        caller->ask(caller, &client, i);
    client_fini(&client);
    return NULL;
}

static void call_all(struct daemons *daemons, struct caller callers[CALLERS],
                     void (*ask)(struct caller *, struct client *, unsigned))
{
    for (size_t i = 0; i < CALLERS; i++) {
        callers[i] = (struct caller){.daemon = &daemons->all[i % 2], .ask = ask};
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call, &callers[i]),
                         0);
    }
    for (size_t i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_join(callers[i].thread, NULL), 0);
}

/* All callers send the same request with the same key. */
static void ask_same(struct caller *caller, struct client *client, unsigned number)
{
    char key[32];
    snprintf(key, sizeof key, "twin-%u", number);
    const struct reply *reply =
        client_post(client, "/v1/jobs", key, SAMPLE_JOB, "points", 2, 3000.0);
    assert_status(reply, 201);
    snprintf(caller->job[number], sizeof caller->job[number], "%s",
             reply_text(reply, "id"));
}

static void twins_at_both_are_one_job_each(void **state)
{
    struct daemons *daemons = *state;
    static struct caller callers[CALLERS];
    double before = daemons_ask("SELECT count(*) FROM job");
    call_all(daemons, callers, ask_same);
    assert_true(daemons_ask("SELECT count(*) FROM job") == before + TWINS);
    for (unsigned k = 0; k < TWINS; k++) {
        for (size_t i = 1; i < CALLERS; i++)
            assert_string_equal(callers[i].job[k], callers[0].job[k]);
        assert_true(daemons_ask("SELECT count(*) FROM ledger WHERE kind='RESERVE'"
                                " AND job='%s'",
                                callers[0].job[k]) == 1);
    }
    await_success(&daemons->clients[OTHER], callers[0].job[0]);
}

static void ask_one(struct caller *caller, struct client *client, unsigned number)
{
    const struct reply *reply =
        client_post(client, "/v1/jobs", "the-one", SAMPLE_JOB, "points", 2, 3000.0);
    assert_status(reply, 201);
    snprintf(caller->job[number], sizeof caller->job[number], "%s",
             reply_text(reply, "id"));
}

static void two_hundred_twins_of_one_key_are_one_job(void **state)
{
    struct daemons *daemons = *state;
    static struct caller callers[CALLERS];
    double before = daemons_ask("SELECT count(*) FROM job");
    call_all(daemons, callers, ask_one);
    assert_true(daemons_ask("SELECT count(*) FROM job") == before + 1);
    for (size_t i = 0; i < CALLERS; i++)
        for (unsigned k = 0; k < TWINS; k++)
            assert_string_equal(callers[i].job[k], callers[0].job[0]);
}

/* Submits jobs that never run to their end, until there is no room for another. */
static void ask_more(struct caller *caller, struct client *client, unsigned number)
{
    (void)number;
    const struct reply *reply =
        client_create(client, "/v1/jobs", SAMPLE_JOB, "few", SAMPLE_ENDLESS, 9000.0);
    caller->accepted += reply->status == 201;
    caller->refused += reply->status == 409;
    assert_true(reply->status == 201 || reply->status == 409);
}

static void a_budget_is_not_spent_twice_by_two_that_reserve_at_once(void **state)
{
    struct daemons *daemons = *state;
    struct client *one = &daemons->clients[ONE];
    static struct caller callers[CALLERS];
    struct account account;
    double curve[ACCOUNT_ORDERS];
    unsigned accepted = 0, refused = 0;
    ready_points(one, "few", 300, 2, SAMPLE_BUDGET(2));
    account_read(&account, one, "few");
    const char *first = submit(one, SAMPLE_JOB, "few", SAMPLE_ENDLESS, 9000.0);
    const json_t *entry =
        account_entry(client_get(one, "/v1/datasets/few/ledger"), "RESERVE", first);
    account_curve(curve, json_object_get(entry, "curve"));
    unsigned admits = account_admits(&account, curve);
    assert_in_range(admits, 2, CALLERS * TWINS);
    call_all(daemons, callers, ask_more);
    for (size_t i = 0; i < CALLERS; i++) {
        accepted += callers[i].accepted;
        refused += callers[i].refused;
    }
    assert_int_equal(accepted + 1, admits);
    assert_int_equal(accepted + refused, CALLERS * TWINS);
    assert_shown_alike(daemons, "/v1/datasets/few/budget");
    account_read(&account, one, "few");
    assert_true(account_is_sound(&account));
    assert_int_equal(account_admits(&account, curve), 0);
    assert_int_equal(daemons_verify(daemons), 0);
}

/* --- who may join --- */

static void one_that_shares_with_none_is_refused_beside_them(void **state)
{
    struct daemons *daemons = *state;
    const char *const seal[] = {"seal", "--archive", "/tmp", NULL};
    const char *const regrant[] = {"regrant", "points", "--epsilon", "1", "--delta",
                                   "1e-5",    "--role", "api",       NULL};
    struct daemons nobody = {.count = 1}; /* serves a directory of its own */
    assert_int_equal(daemons_command(daemons, ONE, seal), 75);
    daemon_init(&nobody.all[0]);
    assert_int_equal(daemons_command(&nobody, 0, regrant), 75);
    daemon_fini(&nobody.all[0]);
    const char *const none[] = {"--listen", "127.0.0.1:0", NULL};
    struct daemons strange = {.count = 1};
    daemon_init(&strange.all[0]); /* a directory of its own, without --role */
    assert_int_equal(daemons_command(&strange, 0, none), 75);
    assert_true(daemon_logged(&strange.all[0], "another daemon, process "));
    const char *const own[] = {"--listen",   "127.0.0.1:0",           "--role", "api",
                               "--data-dir", strange.all[0].data_dir, NULL};
    assert_int_equal(daemon_run(&strange.all[0], own), 64);
    assert_true(daemon_logged(&strange.all[0], "--role goes with --store and --blobs"));
    daemon_fini(&strange.all[0]);
}

/* All daemons stop, the worker first, and after a start each shows what all of them
 * have done. A daemon that writes has read what the others wrote before. */
static void what_all_have_done_is_there_after_a_start(void **state)
{
    struct daemons *daemons = *state;
    struct client *one = &daemons->clients[ONE];
    assert_int_equal(daemon_stop(&daemons->all[WORKER], SIGTERM), 0);
    assert_status(client_patch(one, "/v1/datasets/points", "*", "{'tags':{'a':'b'}}"),
                  200);
    const struct reply *before = client_get(one, "/v1/datasets/points/budget");
    assert_int_equal(daemon_stop(&daemons->all[ONE], SIGTERM), 0);
    assert_int_equal(daemon_stop(&daemons->all[OTHER], SIGTERM), 0);
    daemons_start(daemons, OTHER);
    assert_same(before,
                client_get(&daemons->clients[OTHER], "/v1/datasets/points/budget"));
    daemons_start(daemons, ONE);
    assert_shown_alike(daemons, "/v1/datasets/points/ledger");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_taken_by_one_run_by_another_and_shown_by_all),
        cmocka_unit_test(a_look_is_charged_once_and_shown_by_all),
        cmocka_unit_test(no_machine_keeps_records_behind_their_end),
        cmocka_unit_test(a_job_is_cancelled_by_whichever_is_asked),
        cmocka_unit_test(ends_wake_who_waits_at_any_of_them),
        cmocka_unit_test(a_worker_answers_probes_and_metrics_alone),
        cmocka_unit_test(twins_at_both_are_one_job_each),
        cmocka_unit_test(two_hundred_twins_of_one_key_are_one_job),
        cmocka_unit_test(a_budget_is_not_spent_twice_by_two_that_reserve_at_once),
        cmocka_unit_test(one_that_shares_with_none_is_refused_beside_them),
        cmocka_unit_test(what_all_have_done_is_there_after_a_start),
    };
    return daemons_can_start() ? cmocka_run_group_tests(tests, begin, daemons_end) : 0;
}
