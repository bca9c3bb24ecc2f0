/* Goal: after SIGKILL at random moments, while clients submit and jobs run, everything
 * that was acknowledged is there, with one row in the audit trail; no step ran that is
 * not charged; a repeated request is the same job; `epsilond verify` agrees; and
 * committed + held is within the capacity at some weighted order. Method: KILLS rounds
 * (50), a fresh directory every 50; fewer rounds if the database is on a PostgreSQL
 * server, which is killed in every other round before the daemon is. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/e2e/account_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"
#include "tests/store/postgres_fixture.h"

enum {
    KILLS = 50,
    KILLS_A_LIFE = 50,
    KILLS_ON_SERVER = 4,
    JOBS_A_ROUND = 6,
    JOBS_MAX = 400,
};

static const char *const two_workers[] = {"--workers", "2", NULL};
static struct postgres_server server; /* only for lives on a server */
static const char *const datasets[] = {"ample", "tight"};

/* What a client knows of a job: the largest values that it was ever shown. */
struct known {
    char id[32], state[16];
    double step, authorised, epsilon_spent;
};

struct life {
    struct stage *stage;
    const char *const *options;               /* options of the daemon */
    const struct postgres_database *database; /* NULL: the database is a file */
    struct known jobs[JOBS_MAX];
    size_t count;
    unsigned posts;      /* requests sent, used to number their keys */
    bool unanswered;     /* whether the last of them is unanswered */
    atomic_uint answers; /* in this round */
    struct account accounts[2];
};

/* Short jobs and jobs that only a kill ends, on a budget that lasts and on one that
 * does not. */
static const struct reply *post(struct client *client, unsigned number)
{
    char key[32];
    snprintf(key, sizeof key, "job-%u", number);
    bool tight = number % 5 == 4;
    int steps = number % 3 == 0 ? SAMPLE_ENDLESS : 200;
    return client_post(client, "/v1/jobs", key, SAMPLE_JOB, datasets[tight], steps,
                       (tight ? 300.0 : 2000.0) * (steps == SAMPLE_ENDLESS ? 200 : 1));
}

static bool is_terminal(const char *state)
{
    return strcmp(state, "SUCCEEDED") == 0 || strcmp(state, "FAILED") == 0 ||
           strcmp(state, "CANCELLED") == 0;
}

/* Numbers and states that were shown once must never be withdrawn. */
static void learn(struct known *known, const struct reply *job)
{
    const char *state = reply_text(job, "state");
    double authorised = reply_number(job, "privacy.authorised_steps");
    double epsilon_spent = reply_number(job, "privacy.epsilon_spent");
    double step = reply_number(job, "progress.step");
    assert_string_equal(reply_text(job, "id"), known->id);
    if (is_terminal(known->state)) {
        assert_string_equal(state, known->state);
        assert_true(authorised == known->authorised);
    }
    assert_true(authorised >= known->authorised && authorised >= known->step);
    assert_true(authorised >= step);
    assert_true(epsilon_spent >= known->epsilon_spent);
    snprintf(known->state, sizeof known->state, "%s", state);
    known->authorised = authorised;
    known->epsilon_spent = epsilon_spent;
    known->step = fmax(known->step, step);
}

static void acknowledge(struct life *life, const struct reply *reply)
{
    assert_true(life->count < JOBS_MAX);
    struct known *known = &life->jobs[life->count++];
    *known = (struct known){0};
    snprintf(known->id, sizeof known->id, "%s", reply_text(reply, "id"));
    learn(known, reply);
}

/* Submits, then polls, until the daemon is gone. */
static void *live(void *argument)
{
    struct life *life = argument;
    struct client client;
    client_init(&client, &life->stage->daemon);
    client.lossy = true;
    for (unsigned i = 0;; i++) {
        const struct reply *reply;
        if (i < JOBS_A_ROUND) {
            life->unanswered = true;
            reply = post(&client, ++life->posts);
            life->unanswered = reply->status == 0;
            if (reply->status == 201)
                acknowledge(life, reply);
        } else {
            struct known *known =
                &life->jobs[life->count - 1 - i % JOBS_A_ROUND % life->count];
            reply = client_get(&client, "/v1/jobs/%s", known->id);
            if (reply->status == 200)
                learn(known, reply);
        }
        if (reply->status == 0)
            break;
        atomic_fetch_add(&life->answers, 1);
    }
    client_fini(&client);
    return NULL;
}

static void pause_us(uint32_t us)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000L * us}, NULL);
}

/* Waits for a random number of answers, however slow the machine is, and then for a
 * random time. */
static void pause_at_random(struct life *life)
{
    uint32_t random[2];
    assert_int_equal(getrandom(random, sizeof random, 0), sizeof random);
    /* The wait is bounded: a daemon that does not answer is killed as well. */
    for (int i = 0; i < 60000; i++) {
        if (atomic_load(&life->answers) >= random[0] % JOBS_A_ROUND)
            break;
        pause_us(1000);
    }
    pause_us(random[1] % 900000);
}

static size_t jobs_listed(struct client *client)
{
    const struct reply *jobs = client_get(client, "/v1/jobs?page_size=1000");
    assert_status(jobs, 200);
    return json_array_size(reply_at(jobs, "jobs"));
}

/* A request without an answer was carried out completely or not at all: sending it
 * again gives one job. */
static void ask_again(struct life *life, struct client *client)
{
    char replayed[256];
    size_t before = jobs_listed(client);
    assert_true(before == life->count || before == life->count + 1);
    assert_true(life->unanswered || before == life->count);
    if (!life->unanswered)
        return;
    const struct reply *reply = post(client, life->posts);
    bool was_done = reply_header(reply, "idempotency-replayed", replayed);
    assert_true(was_done == (before == life->count + 1));
    if (reply->status == 201)
        acknowledge(life, reply);
    else
        assert_int_equal(reply->status, 409);
    assert_int_equal(jobs_listed(client), life->count);
    life->unanswered = false;
}

/* A job and the audit row of its submission exist both or neither: each listed job has
 * one row, and each row its job. */
static void check_acts(const struct life *life, struct client *client)
{
    const struct reply *page =
        client_get(client, "/v1/audit?action=job.create&result=ok&page_size=1000");
    assert_status(page, 200);
    const json_t *acts = reply_at(page, "acts");
    assert_int_equal(json_array_size(acts), life->count);
    for (size_t i = 0; i < life->count; i++) { /* submitted one by one: same order */
        const json_t *object = json_object_get(json_array_get(acts, i), "object");
        assert_string_equal(json_string_value(object), life->jobs[i].id);
    }
}

static void expect_charged(const struct known *known, const struct reply *ledger)
{
    double curve[ACCOUNT_ORDERS], whole[ACCOUNT_ORDERS];
    const json_t *reserve = account_entry(ledger, "RESERVE", known->id);
    const json_t *commit = account_entry(ledger, "COMMIT", known->id);
    if (reserve == NULL)
        return; /* on the other dataset */
    assert_true((commit != NULL) == is_terminal(known->state));
    if (commit == NULL)
        return;
    const json_t *steps = json_object_get(json_object_get(commit, "meta"), "steps");
    const json_t *of = json_object_get(json_object_get(reserve, "meta"), "steps");
    assert_true(json_number_value(steps) == known->authorised);
    account_curve(curve, json_object_get(commit, "curve"));
    account_curve(whole, json_object_get(reserve, "curve"));
    double share = known->authorised / json_number_value(of);
    for (size_t k = 0; k < ACCOUNT_ORDERS; k++)
        assert_true(curve[k] <= whole[k] && curve[k] >= whole[k] * share - 0x1p-40);
}

static void check_account(struct life *life, struct client *client, int which)
{
    struct account now, *before = &life->accounts[which];
    account_read(&now, client, datasets[which]);
    assert_true(account_is_sound(&now));
    for (size_t k = 0; k < ACCOUNT_ORDERS; k++)
        assert_true(now.committed[k] >= before->committed[k]);
    *before = now;
}

static void check(struct life *life, struct client *client)
{
    /* The running jobs are lost and settled; the queued ones go on. */
    for (size_t i = 0; i < life->count; i++)
        if (!is_terminal(life->jobs[i].state)) {
            const struct reply *job =
                client_get(client, "/v1/jobs/%s", life->jobs[i].id);
            assert_status(job, 200);
            learn(&life->jobs[i], job);
        }
    for (int which = 0; which < 2; which++) {
        const struct reply *ledger = client_get(
            client, "/v1/datasets/%s/ledger?page_size=1000", datasets[which]);
        assert_status(ledger, 200);
        for (size_t i = 0; i < life->count; i++)
            if (is_terminal(life->jobs[i].state))
                expect_charged(&life->jobs[i], ledger);
        check_account(life, client, which);
    }
}

/* The server notices soon, but not at once, that a killed daemon's connections are
 * gone. */
static void await_alone(const struct life *life)
{
    char answer[64] = "";
    while (life->database != NULL && strcmp(answer, "0") != 0)
        postgres_ask(&server, life->database,
                     "SELECT count(*) FROM pg_stat_activity WHERE "
                     "datname=current_database() AND pid<>pg_backend_pid()",
                     answer, sizeof answer);
}

static int verify(const struct life *life)
{
    struct daemon *daemon = &life->stage->daemon;
    const char *const arguments[] = {"verify",
                                     "--data-dir",
                                     daemon->data_dir,
                                     "--store",
                                     life->database != NULL ? life->database->url : "",
                                     NULL};
    return life->database != NULL ? daemon_run(daemon, arguments)
                                  : daemon_verify(daemon);
}

static void play_round(struct life *life, bool kills_server)
{
    struct daemon *daemon = &life->stage->daemon;
    struct client client;
    pthread_t thread;
    atomic_store(&life->answers, 0);
    assert_int_equal(pthread_create(&thread, NULL, live, life), 0);
    pause_at_random(life);
    if (kills_server) {
        postgres_kill(&server);
        pause_at_random(life);
    }
    assert_int_equal(daemon_stop(daemon, SIGKILL), 128 + SIGKILL);
    pthread_join(thread, NULL);
    await_alone(life);
    assert_int_equal(verify(life), 0);
    daemon_start(daemon, life->options);
    client_init(&client, daemon);
    ask_again(life, &client);
    check_acts(life, &client);
    check(life, &client);
    client_fini(&client);
}

/* Otherwise the next round's jobs would only wait. */
static void end_all(struct life *life)
{
    struct client client;
    client_init(&client, &life->stage->daemon);
    for (size_t i = 0; i < life->count; i++)
        if (!is_terminal(life->jobs[i].state))
            client_act(&client, "/v1/jobs/%s:cancel", life->jobs[i].id);
    for (size_t i = 0; i < life->count; i++)
        if (!is_terminal(life->jobs[i].state))
            learn(&life->jobs[i], await_end(&client, life->jobs[i].id));
    client_fini(&client);
}

static void play_life(long kills, const char *const *options,
                      const struct postgres_database *database)
{
    void *state;
    struct life *life = calloc(1, sizeof *life);
    assert_non_null(life);
    stage_begin_with(&state, options);
    life->stage = state;
    life->options = options;
    life->database = database;
    ready_points(&life->stage->client, "ample", 500, 1, SAMPLE_BUDGET(8));
    ready_points(&life->stage->client, "tight", 500, 2, SAMPLE_BUDGET(1));
    for (long i = 0; i < kills; i++) {
        play_round(life, database != NULL && i % 2 == 0);
        if (i % 4 == 3)
            end_all(life);
    }
    assert_true(life->count > (size_t)kills);
    assert_int_equal(stage_end(&state), 0);
    free(life);
}

static long kills_asked(long usual, long share)
{
    const char *asked = getenv("KILLS");
    return asked != NULL ? atol(asked) / share : usual;
}

static void a_kill_at_any_moment_loses_nothing(void **state)
{
    (void)state;
    for (long kills = kills_asked(KILLS, 1); kills > 0; kills -= KILLS_A_LIFE)
        play_life(kills < KILLS_A_LIFE ? kills : KILLS_A_LIFE, two_workers, NULL);
}

static void a_kill_of_daemon_or_server_loses_nothing(void **state)
{
    (void)state;
    if (!daemon_has_postgres() || !postgres_make(&server, true))
        skip(); /* they have given the reason */
    for (long kills = kills_asked(KILLS_ON_SERVER, 10); kills > 0;
         kills -= KILLS_A_LIFE) {
        const struct postgres_database database = postgres_database(&server);
        const char *const options[] = {"--workers",       "2",  "--store", database.url,
                                       "--single-server", "on", NULL};
        play_life(kills < KILLS_A_LIFE ? kills : KILLS_A_LIFE, options, &database);
    }
    postgres_remove(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kill_at_any_moment_loses_nothing),
        cmocka_unit_test(a_kill_of_daemon_or_server_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
