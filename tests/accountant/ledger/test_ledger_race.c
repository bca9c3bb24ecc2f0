/* Goal: threads that race for a budget get exactly what the filter's arithmetic allows,
 * jobs on one dataset interleave without disturbing each other, and a settlement
 * charges what was authorised until then: in a file and on a server, where marks become
 * durable concurrently. */
#include "accountant/ledger/ledger.h"

#include <pthread.h>
#include <stdatomic.h>

#include "accountant/ledger/head_file.h"
#include "accountant/ledger/ledger_freeze.h"
#include "accountant/ledger/ledger_view.h"
#include "tests/expect.h"
#include "accountant/audit/verify.h"
#include "tests/accountant/ledger_fixture.h"
#include "tests/store/place_fixture.h"
#include "tests/store/postgres_store_fixture.h"

enum { CLIENTS = 200, WORKERS = 4, STEPS = 40, ROUNDS = 20 };

static struct postgres_server server;

struct client {
    struct kit *kit;
    unsigned job;
    double sigma;
    enum status status;
};

static void *submit(void *context)
{
    struct client *client = context;
    client->status = kit_reserve(client->kit, "a", client->job, client->sigma, 3);
    return NULL;
}

static void start_clients(struct kit *kit, struct client *clients, double sigma)
{
    pthread_t threads[CLIENTS];
    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){kit, i, sigma, ST_INTERNAL};
        assert_int_equal(pthread_create(&threads[i], NULL, submit, &clients[i]), 0);
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
}

/* Returns the largest k with k charges within the capacity at a weighted order. Each
 * charge is rounded up to 2^-40; k such roundings are far too small to change k
 * here. */
static unsigned largest(const struct balance *balance, double sigma)
{
    double most = 0;
    for (size_t k = 0; k < LEDGER_WEIGHTED; k++) {
        double charge = 3 * curve_orders[balance->weighted[k]] / (2 * sigma * sigma);
        most = fmax(most, floor(balance->capacity[k] / charge));
    }
    return (unsigned)most;
}

static void as_many_are_admitted_as_the_arithmetic_allows(void **state)
{
    (void)state;
    struct place place = place_make();
    struct client clients[CLIENTS];
    const double sigma = 37.3;
    struct kit kit = kit_open(place.path);
    assert_int_equal(kit_grant(&kit, "a", 2, 1e-5, 0), ST_OK);
    struct balance fresh = kit_balance(&kit, "a");
    unsigned expected = largest(&fresh, sigma), admitted = 0;
    assert_true(expected > 50 && expected < CLIENTS);
    start_clients(&kit, clients, sigma);
    for (unsigned i = 0; i < CLIENTS; i++) {
        assert_true(clients[i].status == ST_OK || clients[i].status == ST_BUDGET_HELD);
        admitted += clients[i].status == ST_OK;
    }
    assert_int_equal(admitted, expected);
    assert_int_equal(kit_reserve(&kit, "a", 1000, sigma, 3), ST_BUDGET_HELD);
    kit_reopen_ledger(&kit);
    assert_int_equal(kit_reserve(&kit, "a", 1000, sigma, 3), ST_BUDGET_HELD);
    struct verify_report report;
    assert_int_equal(verify_store(kit.store, &report, NULL), ST_OK);
    assert_int_equal(report.entries, admitted + 1);
    kit_close(&kit);
    place_remove(&place);
}

struct worker {
    struct kit *kit;
    const char *head_path;
    unsigned job;
    bool good;
};

/* Returns whether the head file covers the authorised steps, as it must before anything
 * runs. */
static bool is_kept(const struct worker *worker, uint64_t steps)
{
    struct head head;
    bool found = false;
    return head_file_read(worker->head_path, &head, &found, NULL) == ST_OK && found &&
           head.authorised >= steps;
}

/* Lives a job's life, while other threads do the same and all of them read the
 * balances. */
static void *work(void *context)
{
    struct worker *worker = context;
    struct job_id id = kit_job(worker->job);
    struct dataset_id dataset = kit_dataset("a");
    worker->good = kit_reserve(worker->kit, "a", worker->job, 90, STEPS) == ST_OK;
    for (uint64_t step = 1; worker->good && step <= STEPS / 2; step++) {
        struct balance balance;
        struct ledger_entry_name head;
        worker->good =
            kit_authorise(worker->kit, worker->job, step) == ST_OK &&
            is_kept(worker, step) &&
            ledger_authorised(worker->kit->ledger, &id) == step &&
            ledger_balance(worker->kit->ledger, &dataset, &balance, NULL) == ST_OK;
        ledger_head(worker->kit->ledger, &head);
    }
    worker->good = worker->good && kit_settle(worker->kit, worker->job) == ST_OK;
    return NULL;
}

/* Meanwhile the head file is written, and covers everything that was authorised. */
static void check_interleaving(struct kit kit)
{
    struct place place = place_make();
    struct head head;
    struct worker workers[WORKERS];
    pthread_t threads[WORKERS];
    bool frozen, found;
    assert_int_equal(kit_grant(&kit, "a", 4, 1e-5, 0), ST_OK);
    assert_int_equal(ledger_head_file(kit.ledger, place.path, &frozen, NULL), ST_OK);
    for (unsigned i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){&kit, place.path, i, false};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(workers[i].good);
    }
    struct balance balance = kit_balance(&kit, "a");
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        double expected = WORKERS * (STEPS / 2) * curve_orders[i] / (2 * 90.0 * 90.0);
        assert_close(balance.committed.at[i], expected, 1e-9);
        assert_true(balance.held.at[i] == 0);
    }
    assert_int_equal(head_file_read(place.path, &head, &found, NULL), ST_OK);
    assert_true(found && head.authorised == WORKERS * (STEPS / 2));
    assert_int_equal(head.entry.seq, 1 + 2 * WORKERS);
    kit_close(&kit);
    place_remove(&place);
}

static struct kit kit_on_server(void)
{
    const struct postgres_database database = postgres_schema(&server);
    return kit_take(postgres_store(&database));
}

static void jobs_interleave_and_are_charged_their_own_steps(void **state)
{
    (void)state;
    check_interleaving(kit_open(":memory:"));
    if (server.folder[0] != '\0')
        check_interleaving(kit_on_server());
}

/* Authorises step after step until the job is settled; last is the last step
 * acknowledged. */
struct authoriser {
    struct kit *kit;
    unsigned job;
    atomic_uint last;
    enum status status;
};

static void *authorise_on(void *context)
{
    struct authoriser *authoriser = context;
    for (unsigned step = 1;; step++) {
        authoriser->status = kit_authorise(authoriser->kit, authoriser->job, step);
        if (authoriser->status != ST_OK)
            return NULL;
        atomic_store(&authoriser->last, step);
    }
}

/* verify_store compares each COMMIT entry with its mark. */
static void check_settlements(struct kit kit)
{
    struct verify_report report;
    assert_int_equal(kit_grant(&kit, "a", 4, 1e-5, 0), ST_OK);
    for (unsigned job = 0; job < ROUNDS; job++) {
        struct authoriser authoriser = {.kit = &kit, .job = job};
        struct job_id id = kit_job(job);
        pthread_t thread;
        assert_int_equal(kit_reserve(&kit, "a", job, 1e5, 1 << 20), ST_OK);
        assert_int_equal(pthread_create(&thread, NULL, authorise_on, &authoriser), 0);
        while (atomic_load(&authoriser.last) < 1 + job % 5)
            sched_yield();
        assert_int_equal(kit_settle(&kit, job), ST_OK);
        pthread_join(thread, NULL);
        assert_int_equal(authoriser.status, ST_NOT_FOUND);
        assert_int_equal(ledger_authorised(kit.ledger, &id), authoriser.last);
    }
    assert_int_equal(verify_store(kit.store, &report, NULL), ST_OK);
    kit_close(&kit);
}

static void a_settlement_charges_all_that_was_authorised_until_then(void **state)
{
    (void)state;
    check_settlements(kit_open(":memory:"));
    if (server.folder[0] != '\0')
        check_settlements(kit_on_server());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_are_admitted_as_the_arithmetic_allows),
        cmocka_unit_test(jobs_interleave_and_are_charged_their_own_steps),
        cmocka_unit_test(a_settlement_charges_all_that_was_authorised_until_then),
    };
    postgres_make_for_stores(&server, true);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
