/* Goal: threads that race for a budget get exactly what the filter's arithmetic allows,
 * and jobs on one dataset interleave without disturbing each other. */
#include "accountant/ledger.h"

#include <pthread.h>

#include "accountant/ledger_view.h"
#include "tests/expect.h"
#include "accountant/verify.h"
#include "tests/accountant/ledger_fixture.h"
#include "tests/store/place_fixture.h"

enum { CLIENTS = 200, WORKERS = 4, STEPS = 40 };

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

/* Largest k with k charges within the capacity at a weighted order. A charge is rounded
 * up to 2^-40, of which k of them stay far from the next whole job here. */
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
    unsigned job;
    bool good;
};

/* A job's life, while others live theirs and everybody looks. */
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
            ledger_authorised(worker->kit->ledger, &id) == step &&
            ledger_balance(worker->kit->ledger, &dataset, &balance, NULL) == ST_OK;
        ledger_head(worker->kit->ledger, &head);
    }
    worker->good = worker->good && kit_settle(worker->kit, worker->job) == ST_OK;
    return NULL;
}

static void jobs_interleave_and_are_charged_their_own_steps(void **state)
{
    (void)state;
    struct kit kit = kit_open(":memory:");
    struct worker workers[WORKERS];
    pthread_t threads[WORKERS];
    assert_int_equal(kit_grant(&kit, "a", 4, 1e-5, 0), ST_OK);
    for (unsigned i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){&kit, i, false};
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
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_are_admitted_as_the_arithmetic_allows),
        cmocka_unit_test(jobs_interleave_and_are_charged_their_own_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
