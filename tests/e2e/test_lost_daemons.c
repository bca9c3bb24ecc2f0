/* Goal: the work of a daemon that dies, or is taken for dead, is ended by the others
 * and charged what was authorised; a daemon that was only suspended writes nothing any
 * more when it resumes; and whatever is killed under load, nothing that was
 * acknowledged is lost and nothing is spent twice. Method: two daemons of role api and
 * two workers, which are killed, suspended for longer than a lease, and cut off; a
 * checker outside them remembers what was acknowledged. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

#include "tests/expect.h"
#include "tests/e2e/account_fixture.h"
#include "tests/e2e/daemons_fixture.h"
#include "tests/e2e/sample_fixture.h"

enum { ONE, OTHER, WORKER, SECOND_WORKER };

static const char *const roles[] = {"api", "api", "worker", "worker", NULL};

static int begin(void **state)
{
    daemons_begin(state, roles);
    ready_points(&((struct daemons *)*state)->clients[ONE], "points", 500, 1,
                 SAMPLE_BUDGET(8));
    return 0;
}

/* Asserts that the job was ended once, charged what was authorised, and published
 * nothing. */
static void expect_lost(struct daemons *daemons, const char *job)
{
    const struct reply *ended = await_end(&daemons->clients[OTHER], job);
    assert_string_equal(reply_text(ended, "state"), "FAILED");
    assert_string_equal(reply_text(ended, "state_reason"), "worker_lost");
    double authorised = daemons_ask("SELECT authorised FROM mark WHERE job='%s'", job);
    assert_true(authorised > 0);
    assert_true(reply_number(ended, "privacy.authorised_steps") == authorised);
    assert_true(
        daemons_ask("SELECT count(*) FROM ledger WHERE kind='COMMIT' AND job='%s'",
                    job) == 1);
    assert_true(daemons_ask("SELECT (meta::jsonb->>'steps')::bigint FROM ledger"
                            " WHERE kind='COMMIT' AND job='%s'",
                            job) == authorised);
    assert_true(daemons_ask("SELECT count(*) FROM model WHERE job='%s'", job) == 0);
    assert_true(daemons_ask("SELECT count(*) FROM claim WHERE job='%s'", job) == 0);
}

/* --- killed, and suspended --- */

/* Returns the worker that has claimed the job, found by its process id. */
static size_t worker_of(const struct daemons *daemons, const char *job)
{
    double process =
        daemons_ask("SELECT split_part(writer.daemon,' ',2) FROM claim JOIN"
                    " writer ON writer.id=claim.daemon WHERE job='%s'",
                    job);
    size_t worker = daemons->all[WORKER].pid == (pid_t)process ? WORKER : SECOND_WORKER;
    assert_int_equal(daemons->all[worker].pid, (pid_t)process);
    return worker;
}

static void who_is_killed_or_sleeps_loses_its_job_and_no_charge(void **state)
{
    struct daemons *daemons = *state;
    struct client *one = &daemons->clients[ONE];
    const char *killed = submit(one, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 60000.0);
    const char *asleep = submit(one, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 60000.0);
    await_training(one, killed);
    await_training(one, asleep);
    size_t dead = worker_of(daemons, killed), sleeper = worker_of(daemons, asleep);
    assert_in_range(dead, WORKER, SECOND_WORKER);
    assert_int_equal(dead + sleeper, WORKER + SECOND_WORKER);
    assert_int_equal(daemon_stop(&daemons->all[dead], SIGKILL), 128 + SIGKILL);
    assert_int_equal(kill(daemons->all[sleeper].pid, SIGSTOP), 0);

    expect_lost(daemons, killed);
    expect_lost(daemons, asleep);
    double entries = daemons_ask("SELECT count(*) FROM ledger");
    double marks = daemons_ask("SELECT sum(authorised) FROM mark");
    assert_int_equal(kill(daemons->all[sleeper].pid, SIGCONT), 0);
    assert_int_equal(daemon_wait(&daemons->all[sleeper]), 75);
    assert_true(daemons_ask("SELECT count(*) FROM ledger") == entries);
    assert_true(daemons_ask("SELECT sum(authorised) FROM mark") == marks);
    assert_int_equal(daemons_verify(daemons), 0);

    daemons_start(daemons, dead);
    daemons_start(daemons, sleeper);
    train(one, SAMPLE_JOB, "points", 200, 2000.0);
}

/* The worker goes on as if nothing had happened, and its work has no effect. */
static void who_is_cut_off_is_taken_for_dead_and_writes_nothing(void **state)
{
    struct daemons *daemons = *state;
    struct client *one = &daemons->clients[ONE];
    const char *job = submit(one, SAMPLE_JOB, "points", SAMPLE_ENDLESS, 60000.0);
    await_training(one, job);
    size_t alone = worker_of(daemons, job);
    daemons_cut(daemons, alone);

    expect_lost(daemons, job);
    double entries = daemons_ask("SELECT count(*) FROM ledger");
    double marks = daemons_ask("SELECT sum(authorised) FROM mark");
    daemons_join(daemons, alone);
    assert_int_equal(daemon_wait(&daemons->all[alone]), 75);
    assert_true(daemons_ask("SELECT count(*) FROM ledger") == entries);
    assert_true(daemons_ask("SELECT sum(authorised) FROM mark") == marks);
    assert_int_equal(daemons_verify(daemons), 0);
    daemons_start(daemons, alone);
    train(one, SAMPLE_JOB, "points", 200, 2000.0);
}

/* The others need nothing from an api daemon: they go on without it at once. */
static void an_api_daemon_that_is_killed_is_not_missed(void **state)
{
    struct daemons *daemons = *state;
    const char *job =
        submit(&daemons->clients[ONE], SAMPLE_JOB, "points", 2000, 3000.0);
    assert_int_equal(daemon_stop(&daemons->all[ONE], SIGKILL), 128 + SIGKILL);
    await_success(&daemons->clients[OTHER], job);
    daemons_start(daemons, ONE);
    assert_string_equal(
        reply_text(client_get(&daemons->clients[ONE], "/v1/jobs/%s", job), "state"),
        "SUCCEEDED");
}

/* --- killed at random, under load --- */

enum { ROUNDS = 6, JOBS_MAX = 2000 };

struct load { /* one client, which sends requests to one daemon */
    pthread_t thread;
    pthread_mutex_t lock; /* protects place */
    struct daemon place;  /* the daemon's current or last address */
    const char *name;
    atomic_bool *stops;
    size_t count;
    struct {
        char key[32], id[32];
    } known[JOBS_MAX];
};

static struct daemon place_of(struct load *load)
{
    pthread_mutex_lock(&load->lock);
    struct daemon place = load->place;
    pthread_mutex_unlock(&load->lock);
    return place;
}

static void move(struct load *load, const struct daemon *daemon)
{
    pthread_mutex_lock(&load->lock);
    load->place = *daemon;
    pthread_mutex_unlock(&load->lock);
}

static const struct reply *post(struct client *client, const char *key)
{
    return client_post(client, "/v1/jobs", key, SAMPLE_JOB, "points", 20, 2000.0);
}

/* Submits until it is asked to stop, and retries while its daemon is gone. */
static void *live(void *argument)
{
    struct load *load = argument;
    for (unsigned i = 0; !atomic_load(load->stops) && load->count < JOBS_MAX; i++) {
        /* keeps no connection to a port that may belong to another process by now */
        struct client client;
        const struct daemon place = place_of(load);
        char key[32];
        client_init(&client, &place);
        client.lossy = true;
        snprintf(key, sizeof key, "%s-%u", load->name, i);
        const struct reply *reply = post(&client, key);
        if (reply->status == 201) {
            snprintf(load->known[load->count].key, sizeof key, "%s", key);
            snprintf(load->known[load->count++].id, sizeof load->known[0].id, "%s",
                     reply_text(reply, "id"));
        }
        usleep(reply->status == 201 ? 20000 : 100000);
        client_fini(&client);
    }
    return NULL;
}

static uint32_t any(uint32_t below)
{
    uint32_t random;
    assert_int_equal(getrandom(&random, sizeof random, 0), sizeof random);
    return random % below;
}

/* Each of the daemons is killed once, in some order, and the server in between. */
static void kill_all_in_turn(struct daemons *daemons, struct load loads[2])
{
    uint32_t first = any(DAEMONS_MAX);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        size_t victim = (first + round) % daemons->count;
        usleep(200000 + any(800000));
        if (round % 3 == 1)
            daemons_kill_server();
        usleep(any(300000));
        daemon_stop(&daemons->all[victim], SIGKILL);
        usleep(any(300000));
        daemons_start(daemons, victim);
        if (victim < 2)
            move(&loads[victim], &daemons->all[victim]);
    }
}

/* One key is one job with one reservation, also if another daemon gets the repeated
 * request. */
static void check_known(struct daemons *daemons, const struct load *load)
{
    char replayed[256];
    for (size_t i = 0; i < load->count; i++) {
        const char *id = load->known[i].id;
        assert_true(daemons_ask("SELECT count(*) FROM job WHERE id='%s'", id) == 1);
        assert_true(
            daemons_ask("SELECT count(*) FROM ledger WHERE kind='RESERVE' AND job='%s'",
                        id) == 1);
        if (i % 16 != 0)
            continue;
        const struct reply *again =
            post(&daemons->clients[i / 16 % 2], load->known[i].key);
        assert_status(again, 201);
        assert_true(reply_header(again, "idempotency-replayed", replayed));
        assert_string_equal(reply_text(again, "id"), id);
    }
}

static void await_no_claims(void)
{
    while (daemons_ask("SELECT count(*) FROM job WHERE state IN('QUEUED','RUNNING',"
                       "'CANCELLING')") > 0)
        usleep(200000);
}

static void cancel_all(struct daemons *daemons)
{
    const struct reply *queued =
        client_get(&daemons->clients[ONE], "/v1/jobs?state=QUEUED&page_size=1000");
    const json_t *jobs = reply_at(queued, "jobs");
    size_t index;
    const json_t *job;
    json_array_foreach(jobs, index, job)
        client_act(&daemons->clients[ONE], "/v1/jobs/%s:cancel",
                   json_string_value(json_object_get(job, "id")));
}

static void nothing_is_lost_or_spent_twice_whatever_is_killed(void **state)
{
    struct daemons *daemons = *state;
    static struct load loads[2];
    struct account account;
    atomic_bool stops = false;
    for (size_t i = 0; i < 2; i++) {
        loads[i] = (struct load){.lock = PTHREAD_MUTEX_INITIALIZER,
                                 .place = daemons->all[i],
                                 .name = i == 0 ? "one" : "other",
                                 .stops = &stops};
        assert_int_equal(pthread_create(&loads[i].thread, NULL, live, &loads[i]), 0);
    }
    kill_all_in_turn(daemons, loads);
    atomic_store(&stops, true);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_join(loads[i].thread, NULL), 0);
    /* A daemon that lost the server during a COMMIT may have ended by itself. */
    for (size_t i = 0; i < daemons->count; i++) {
        daemon_stop(&daemons->all[i], SIGKILL);
        daemons_start(daemons, i);
    }
    assert_true(loads[0].count + loads[1].count > 0);
    check_known(daemons, &loads[0]);
    check_known(daemons, &loads[1]);
    cancel_all(daemons);
    await_no_claims();

    assert_true(daemons_ask("SELECT count(*) FROM ledger") ==
                daemons_ask("SELECT max(seq) FROM ledger"));
    assert_true(daemons_ask("SELECT count(*) FROM ledger WHERE kind='RESERVE'") ==
                daemons_ask("SELECT count(*) FROM ledger WHERE kind='COMMIT'"));
    assert_true(
        daemons_ask("SELECT count(*) FROM ledger JOIN mark ON ledger.job=mark.job WHERE"
                    " kind='COMMIT' AND (meta::jsonb->>'steps')::bigint<>authorised") ==
        0);
    assert_true(daemons_ask("SELECT count(*) FROM model WHERE job NOT IN(SELECT id FROM"
                            " job WHERE state='SUCCEEDED')") == 0);
    account_read(&account, &daemons->clients[ONE], "points");
    assert_true(account_is_sound(&account));
    assert_int_equal(daemons_verify(daemons), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_killed_or_sleeps_loses_its_job_and_no_charge),
        cmocka_unit_test(who_is_cut_off_is_taken_for_dead_and_writes_nothing),
        cmocka_unit_test(an_api_daemon_that_is_killed_is_not_missed),
        cmocka_unit_test(nothing_is_lost_or_spent_twice_whatever_is_killed),
    };
    return daemons_can_start() ? cmocka_run_group_tests(tests, begin, daemons_end) : 0;
}
