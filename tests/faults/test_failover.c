/* Goal: after a failover nothing is lost that was acknowledged, if COMMITs wait for the
 * standby; if they do not, the first transaction notices the loss, and the promised
 * budgets are frozen. Method: a primary and a standby of PostgreSQL; the primary ends
 * with all its processes, and the standby is promoted. */
#include <pthread.h>

#include "tests/expect.h"
#include "accountant/ledger/head_file.h"
#include "accountant/ledger/ledger_freeze.h"
#include "tests/accountant/ledger_fixture.h"
#include "tests/store/postgres_store_fixture.h"
#include "tests/store/proxy_fixture.h"
#include "tests/store/place_fixture.h"
#include "tests/store/table_dump_fixture.h"
#include "tests/faults/standby_fixture.h"
#include "tests/faults/load_fixture.h"

static struct scene {
    struct postgres_server primary, standby;
    struct postgres_database database; /* URL of the server that takes writes */
} scene;

static void begin(bool synchronous)
{
    char hosts[96];
    assert_true(postgres_make_for_stores(&scene.primary, true));
    scene.database = postgres_schema(&scene.primary);
    standby_make(&scene.standby, &scene.primary, synchronous);
    snprintf(hosts, sizeof hosts, "%s,%s", scene.primary.folder, scene.standby.folder);
    postgres_lead(&scene.database, "epsilond", hosts);
}

static int end(void **state)
{
    (void)state;
    postgres_remove(&scene.standby);
    postgres_remove(&scene.primary);
    return 0;
}

static void grant(struct kit *kit)
{
    assert_int_equal(kit_grant(kit, "a", 8, 1e-5, 8), ST_OK);
}

static void a_synchronous_standby_has_all_that_was_acknowledged(void **state)
{
    (void)state;
    enum { BEFORE = 150, AFTER = 40 };
    begin(true);
    const struct store_server place = postgres_place(&scene.database);
    struct load *load = load_create(3000);
    struct kit kit = kit_take(postgres_store(&scene.database));
    grant(&kit);
    kit_close(&kit);
    pid_t child = load_start(load, &scene.database, NULL);
    load_await(load, BEFORE);
    server_end(&scene.primary);
    standby_promote(&scene.standby);
    load_await(load, AFTER);
    assert_int_equal(load_stop(load, child), 0);
    load_check(load, &scene.standby, &scene.database, &place);
    load_destroy(load);
}

static void a_standby_is_read_and_not_written(void **state)
{
    (void)state;
    struct store *store = NULL;
    struct error error = {0};
    begin(true);
    struct kit kit = kit_take(postgres_store(&scene.database));
    grant(&kit);
    postgres_lead(&scene.database, "epsilond", scene.standby.folder);
    const struct store_server place = postgres_place(&scene.database);
    assert_int_equal(store_open_server(&store, &place, &error), ST_IO);
    if (strstr(error.text, "needs the primary, not a replica") == NULL)
        fail_msg("%s", error.text);
    char sql[96];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s.ledger", scene.database.name);
    standby_await(&scene.standby, sql, "1");
    struct load *nothing = load_create(3000);
    load_check(nothing, &scene.standby, &scene.database, &place);
    load_destroy(nothing);
    kit_close(&kit);
}

static enum status write_more(struct kit *kit, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status = store_begin(kit->store, STORE_LEDGER, &tx, error);
    if (status == ST_OK)
        store_rollback(tx);
    return status;
}

static void what_an_asynchronous_standby_lacks_is_noticed_and_frozen(void **state)
{
    (void)state;
    struct error error = {0};
    bool frozen = false;
    struct place place = place_make();
    begin(false);
    struct kit kit = kit_take(postgres_store(&scene.database));
    assert_int_equal(ledger_head_file(kit.ledger, place.path, &frozen, NULL), ST_OK);
    grant(&kit);
    assert_int_equal(kit_reserve(&kit, "a", 1, 3000, 9), ST_OK);
    char sql[96];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s.ledger", scene.database.name);
    standby_await(&scene.standby, sql, "2");
    standby_cut_off(&scene.standby);
    assert_int_equal(kit_reserve(&kit, "a", 2, 3000, 9), ST_OK);
    assert_int_equal(kit_authorise(&kit, 2, 9), ST_OK);
    server_end(&scene.primary);
    standby_promote(&scene.standby);
    assert_int_equal(write_more(&kit, &error), ST_IO);
    if (strstr(error.text, "lost history") == NULL)
        fail_msg("%s", error.text);
    assert_true(store_poisoned(kit.store));
    kit_close(&kit);
    /* The next start of the ledger. */
    kit = kit_take(postgres_store(&scene.database));
    assert_int_equal(ledger_head_file(kit.ledger, place.path, &frozen, NULL), ST_OK);
    assert_true(frozen);
    assert_int_equal(kit_reserve(&kit, "a", 3, 3000, 9), ST_DATASET_FROZEN);
    kit_close(&kit);
    place_remove(&place);
}

/* --- a COMMIT that is cancelled --- */

struct waiter {
    struct kit *kit;
    atomic_bool done;
    enum status status;
};

static void *reserve_once(void *context)
{
    struct waiter *waiter = context;
    waiter->status = kit_reserve(waiter->kit, "a", 1, 3000, 9);
    atomic_store(&waiter->done, true);
    return NULL;
}

/* Stores in pid a process, not `other`, that waits for the standby; "" once the COMMIT
 * is answered. */
static void await_waiting(const struct postgres_server *server,
                          const struct waiter *waiter, char pid[16], const char *other)
{
    char sql[160];
    snprintf(sql, sizeof sql,
             "SELECT pid FROM pg_stat_activity WHERE wait_event='SyncRep' AND pid<>%s",
             other);
    for (pid[0] = '\0'; pid[0] == '\0' && !atomic_load(&waiter->done); standby_rest())
        postgres_ask(server, NULL, sql, pid, 16);
}

static void a_commit_that_is_cancelled_is_not_acknowledged(void **state)
{
    (void)state;
    pthread_t thread;
    char first[16], second[16], sql[96], answer[64];
    begin(true);
    struct kit kit = kit_take(postgres_store(&scene.database));
    struct waiter waiter = {.kit = &kit};
    grant(&kit);
    standby_cut_off(&scene.standby);
    assert_int_equal(pthread_create(&thread, NULL, reserve_once, &waiter), 0);
    await_waiting(&scene.primary, &waiter, first, "0");
    snprintf(sql, sizeof sql, "SELECT pg_cancel_backend(%s)", first);
    assert_int_equal(postgres_sql(&scene.primary, NULL, sql), 0);
    /* The writer asks whether the COMMIT holds, and waits for that. */
    await_waiting(&scene.primary, &waiter, second, first);
    assert_false(atomic_load(&waiter.done));
    /* The row is on the primary only, and will be lost with it. */
    postgres_ask(&scene.primary, &scene.database,
                 "SELECT count(*) FROM ledger WHERE kind='RESERVE'", answer,
                 sizeof answer);
    assert_string_equal(answer, "1");
    server_end(&scene.primary);
    standby_promote(&scene.standby);
    pthread_join(thread, NULL);
    assert_int_equal(waiter.status, ST_OK);
    postgres_ask(&scene.standby, &scene.database,
                 "SELECT count(*) FROM ledger WHERE kind='RESERVE'", answer,
                 sizeof answer);
    assert_string_equal(answer, "1");
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_synchronous_standby_has_all_that_was_acknowledged,
                                  end),
        cmocka_unit_test_teardown(a_standby_is_read_and_not_written, end),
        cmocka_unit_test_teardown(
            what_an_asynchronous_standby_lacks_is_noticed_and_frozen, end),
        cmocka_unit_test_teardown(a_commit_that_is_cancelled_is_not_acknowledged, end),
    };
    struct postgres_server any;
    if (!postgres_make_for_stores(&any, true))
        return 0;
    postgres_remove(&any);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
