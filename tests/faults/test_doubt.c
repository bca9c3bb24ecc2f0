/* Goal: of a ledger on a server nothing is lost that was acknowledged, and nothing is
 * there twice, whoever is killed. Method: a process under load whose COMMITs a proxy cuts;
 * it and its server are killed in turn; what was acknowledged is noted outside both. */
#include "tests/expect.h"
#include "tests/accountant/ledger_fixture.h"
#include "tests/store/postgres_store_fixture.h"
#include "tests/store/proxy_fixture.h"
#include "tests/store/table_dump_fixture.h"
#include "tests/faults/standby_fixture.h"
#include "tests/faults/load_fixture.h"

static struct postgres_server server;

static void grant(const struct postgres_database *database)
{
    struct kit kit = kit_take(postgres_store(database));
    assert_int_equal(kit_grant(&kit, "a", 8, 1e-5, 8), ST_OK);
    kit_close(&kit);
}

static void nothing_acknowledged_is_lost_whoever_is_killed(void **state)
{
    (void)state;
    enum { ROUNDS = 4, BETWEEN = 60 };
    struct postgres_database database = postgres_schema(&server);
    const struct store_server place = postgres_place(&database);
    struct load *load = load_create();
    grant(&database);
    pid_t child = load_start(load, &database, &server);
    for (int round = 0; round < ROUNDS; round++) {
        load_await(load, BETWEEN);
        postgres_kill(&server);
        load_await(load, BETWEEN);
        load_kill(load, child);
        child = load_start(load, &database, &server);
    }
    load_await(load, BETWEEN);
    assert_int_equal(load_stop(load, child), 0);
    load_check(load, &server, &database, &place);
    load_destroy(load);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_acknowledged_is_lost_whoever_is_killed),
    };
    if (!postgres_make_for_stores(&server, true))
        return 0;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
