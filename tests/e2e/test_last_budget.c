/* Goal: when many clients compete for the last budget, exactly the number of jobs is
 * accepted that the filter's arithmetic allows, computed here from the numbers that the
 * daemon shows; and two jobs that run on one dataset at once are charged each for
 * itself. */
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "tests/expect.h"
#include "tests/e2e/account_fixture.h"
#include "tests/e2e/sample_fixture.h"
#include "tests/e2e/stage_fixture.h"

enum { CLIENTS = 200, THREADS = 40 };

/* Each worker ends one job a second, so with this number the jobs of the races end
 * soon. */
static const char *const workers[] = {"--workers", "40", "--threads", "1", NULL};

static int begin(void **state)
{
    return stage_begin_with(state, workers);
}

struct race {
    const struct daemon *daemon;
    const char *dataset;
    double noise_multiplier;
    pthread_barrier_t start;
};

struct racer {
    struct race *race;
    pthread_t thread;
    unsigned taken, exhausted, held, other;
};

/* Each request comes from a client of its own, over a connection of its own. */
static void *run(void *argument)
{
    struct racer *racer = argument;
    pthread_barrier_wait(&racer->race->start);
    for (int i = 0; i < CLIENTS / THREADS; i++) {
        struct client client;
        client_init(&client, racer->race->daemon);
        char key[64];
        snprintf(key, sizeof key, "%s-%p-%d", racer->race->dataset, (void *)racer, i);
        const struct reply *reply =
            client_post(&client, "/v1/jobs", key, SAMPLE_JOB, racer->race->dataset, 20,
                        racer->race->noise_multiplier);
        const char *code = json_string_value(json_object_get(reply->json, "code"));
        bool refused = reply->status == 409 && code != NULL;
        racer->taken += reply->status == 201;
        racer->exhausted += refused && strcmp(code, "budget_exhausted") == 0;
        racer->held += refused && strcmp(code, "budget_held") == 0;
        client_fini(&client);
    }
    return NULL;
}

/* Returns the number of the clients' jobs that are accepted; the others must be refused
 * because of the budget. */
static unsigned race(struct stage *stage, const char *dataset, double noise_multiplier)
{
    struct racer racers[THREADS] = {0};
    struct race race = {&stage->daemon, dataset, noise_multiplier, {{0}}};
    unsigned taken = 0, refused = 0;
    pthread_barrier_init(&race.start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        racers[i].race = &race;
        assert_int_equal(pthread_create(&racers[i].thread, NULL, run, &racers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(racers[i].thread, NULL);
        taken += racers[i].taken;
        refused += racers[i].exhausted + racers[i].held;
    }
    pthread_barrier_destroy(&race.start);
    assert_int_equal(taken + refused, CLIENTS);
    return taken;
}

static void race_for_the_rest(struct stage *stage, const char *dataset,
                              double noise_multiplier)
{
    struct client *client = &stage->client;
    struct account account;
    double curve[ACCOUNT_ORDERS];
    const char *first = submit(client, SAMPLE_JOB, dataset, 20, noise_multiplier);
    const struct reply *ledger = client_get(client, "/v1/datasets/%s/ledger", dataset);
    account_curve(curve,
                  json_object_get(account_entry(ledger, "RESERVE", first), "curve"));
    account_read(&account, client, dataset);
    unsigned expected = account_admits(&account, curve);
    assert_true(expected > 0 && expected < CLIENTS);

    assert_int_equal(race(stage, dataset, noise_multiplier), expected);
    account_read(&account, client, dataset);
    assert_true(account_is_sound(&account));
    assert_int_equal(account_admits(&account, curve), 0);
    const struct reply *jobs =
        client_get(client, "/v1/jobs?dataset=%s&page_size=1000", dataset);
    assert_int_equal(json_array_size(reply_at(jobs, "jobs")), expected + 1);
}

static void as_many_are_taken_as_the_filter_allows(void **state)
{
    struct stage *stage = *state;
    static const double noise_multipliers[] = {2.71, 5.3, 9.7};
    for (unsigned i = 0; i < 3; i++) {
        char dataset[16];
        snprintf(dataset, sizeof dataset, "race-%u", i);
        ready_points(&stage->client, dataset, 500, i + 1, SAMPLE_BUDGET(2));
        race_for_the_rest(stage, dataset, noise_multipliers[i]);
    }
}

static const json_t *entries_of(struct client *client, const char *dataset)
{
    const struct reply *ledger =
        client_get(client, "/v1/datasets/%s/ledger?page_size=1000", dataset);
    assert_status(ledger, 200);
    return reply_at(ledger, "entries");
}

static void no_entry_of_a_race_is_lost_by_a_kill(void **state)
{
    static const char *const datasets[] = {"race-0", "race-1", "race-2"};
    struct stage *stage = *state;
    const json_t *before[3];
    for (int i = 0; i < 3; i++)
        before[i] = entries_of(&stage->client, datasets[i]);
    assert_int_equal(daemon_stop(&stage->daemon, SIGKILL), 128 + SIGKILL);
    assert_int_equal(daemon_verify(&stage->daemon), 0);
    daemon_start(&stage->daemon, workers);
    for (int i = 0; i < 3; i++) {
        struct account account;
        account_read(&account, &stage->client, datasets[i]);
        assert_true(account_is_sound(&account));
        const json_t *after = entries_of(&stage->client, datasets[i]);
        for (size_t k = 0; k < json_array_size(before[i]); k++)
            assert_true(
                json_equal(json_array_get(after, k), json_array_get(before[i], k)));
    }
}

/* committed must be the sum of both COMMITs, each of its own job's authorised steps. */
static void expect_own_charge(struct client *client, const char *const jobs[2])
{
    const struct reply *ledger = client_get(client, "/v1/datasets/both/ledger");
    struct account account;
    double sum[ACCOUNT_ORDERS] = {0}, curve[ACCOUNT_ORDERS], whole[ACCOUNT_ORDERS];
    for (int i = 0; i < 2; i++) {
        const json_t *commit = account_entry(ledger, "COMMIT", jobs[i]);
        assert_non_null(commit);
        double steps = json_number_value(
            json_object_get(json_object_get(commit, "meta"), "steps"));
        assert_true(steps == reply_number(client_get(client, "/v1/jobs/%s", jobs[i]),
                                          "privacy.authorised_steps"));
        account_curve(curve, json_object_get(commit, "curve"));
        account_curve(
            whole, json_object_get(account_entry(ledger, "RESERVE", jobs[i]), "curve"));
        for (size_t k = 0; k < ACCOUNT_ORDERS; k++) {
            assert_true(curve[k] <= whole[k]);
            /* The curves are rounded up to multiples of 2^-40. */
            assert_true(curve[k] >= whole[k] * (steps / SAMPLE_LONG) - 0x1p-40);
            sum[k] += curve[k];
        }
    }
    account_read(&account, client, "both");
    for (size_t k = 0; k < ACCOUNT_ORDERS; k++) {
        assert_true(account.committed[k] == sum[k]);
        assert_true(account.held[k] == 0);
    }
}

static void two_jobs_on_one_dataset_run_at_once(void **state)
{
    struct client *client = &((struct stage *)*state)->client;
    struct account account;
    ready_points(client, "both", 500, 9, SAMPLE_BUDGET(2));
    const char *const jobs[] = {
        submit(client, SAMPLE_JOB, "both", SAMPLE_LONG, 4000.0),
        submit(client, SAMPLE_JOB, "both", SAMPLE_LONG, 7000.0)};
    for (int i = 0; i < 2; i++)
        await_training(client, jobs[i]);
    for (int i = 0; i < 2;
         i++) /* a quarter of its steps: later the other may have ended */
        await_step(client, jobs[i], 1);
    account_read(&account, client, "both");
    assert_true(account_is_sound(&account));
    for (int i = 0; i < 2; i++)
        cancel(client, jobs[i]);
    for (int i = 0; i < 2; i++)
        await_end(client, jobs[i]);
    expect_own_charge(client, jobs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_are_taken_as_the_filter_allows),
        cmocka_unit_test(no_entry_of_a_race_is_lost_by_a_kill),
        cmocka_unit_test(two_jobs_on_one_dataset_run_at_once),
    };
    return cmocka_run_group_tests(tests, begin, stage_end);
}
