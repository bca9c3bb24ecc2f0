/* Goal: a ledger on a server loses nothing that was acknowledged and has nothing twice,
 * and its budget admits as much as it does without any kill. Method: a process under
 * load whose COMMITs a proxy cuts off; the process and its server are killed in turn
 * until the budget is used up; acknowledgements are noted outside both, and SQL counts
 * what is there. */
#include "tests/expect.h"
#include "tests/accountant/ledger_fixture.h"
#include "tests/store/postgres_store_fixture.h"
#include "tests/store/proxy_fixture.h"
#include "tests/store/table_dump_fixture.h"
#include "tests/faults/standby_fixture.h"
#include "tests/faults/load_fixture.h"

static struct postgres_server server;

#define NOISE_MULTIPLIER 28.0

static void grant(struct kit *kit)
{
    assert_int_equal(kit_grant(kit, "a", 8, 1e-5, 8), ST_OK);
}

/* Returns the number of jobs that fit without any failure. */
static unsigned most_jobs(void)
{
    struct kit kit = kit_open(":memory:");
    unsigned jobs = 0;
    grant(&kit);
    while (kit_reserve(&kit, "a", jobs, NOISE_MULTIPLIER, LOAD_STEPS) == ST_OK)
        jobs++;
    kit_close(&kit);
    return jobs;
}

/* Reservations whose acknowledgement did not reach the killed process count, too. */
static void expect_full_and_no_more(const struct postgres_database *database)
{
    char reserved[32], fit[32];
    postgres_ask(&server, database, "SELECT count(*) FROM ledger WHERE kind='RESERVE'",
                 reserved, sizeof reserved);
    snprintf(fit, sizeof fit, "%u", most_jobs());
    assert_string_equal(reserved, fit);
}

static void nothing_is_lost_or_overspent_whoever_is_killed(void **state)
{
    (void)state;
    enum { ROUNDS = 4, BETWEEN = 60 };
    struct postgres_database database = postgres_schema(&server);
    const struct store_server place = postgres_place(&database);
    struct load *load = load_create(NOISE_MULTIPLIER);
    struct kit kit = kit_take(postgres_store(&database));
    grant(&kit);
    kit_close(&kit);
    pid_t child = load_start(load, &database, &server);
    for (int round = 0; round < ROUNDS; round++) {
        load_await(load, BETWEEN);
        postgres_kill(&server);
        load_await(load, BETWEEN);
        if (atomic_load(&load->used_up))
            break;
        load_kill(load, child);
        child = load_start(load, &database, &server);
    }
    assert_int_equal(load_wait(child), 0);
    assert_true(load->used_up);
    load_check(load, &server, &database, &place);
    expect_full_and_no_more(&database);
    load_destroy(load);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_or_overspent_whoever_is_killed),
    };
    if (!postgres_make_for_stores(&server, true))
        return 0;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
