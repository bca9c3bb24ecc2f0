/* Goal: what discoveries of words have used of delta outlives the process that used it
 * and the server that it was written to: nothing of it can be used again. Method: a
 * process with discoveries on a real PostgreSQL is killed; in one test the server, which
 * has a synchronous standby, ends with it, and the standby is promoted. */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/expect.h"
#include "accountant/audit/verify.h"
#include "tests/accountant/ledger_fixture.h"
#include "tests/accountant/discovery_fixture.h"
#include "tests/store/postgres_store_fixture.h"
#include "tests/faults/standby_fixture.h"

enum { OPEN_TRIES = 300 };

static const double sigma = 100;

static struct scene {
    struct postgres_server primary, standby;
    struct postgres_database database; /* URL of the server that takes writes */
} scene;

static void begin(bool has_standby)
{
    char hosts[96];
    assert_true(postgres_make_for_stores(&scene.primary, true));
    scene.database = postgres_schema(&scene.primary);
    scene.standby = (struct postgres_server){0};
    if (!has_standby)
        return;
    standby_make(&scene.standby, &scene.primary, true);
    snprintf(hosts, sizeof hosts, "%s,%s", scene.primary.folder, scene.standby.folder);
    postgres_lead(&scene.database, "epsilond", hosts);
}

static int end(void **state)
{
    (void)state;
    if (scene.standby.folder[0] != '\0')
        postgres_remove(&scene.standby);
    postgres_remove(&scene.primary);
    return 0;
}

/* After a kill, the server may notice late that the process's connections are gone. */
static struct kit take_ledger(void)
{
    const struct store_server place = postgres_place(&scene.database);
    struct store *store = NULL;
    struct error error = {0};
    for (int tries = 0; store_open_server(&store, &place, &error) != ST_OK; tries++) {
        if (tries == OPEN_TRIES)
            fail_msg("%s", error.text);
        standby_rest();
    }
    return kit_take(store);
}

/* The main of the process: of three discoveries of 5e-7 the first is settled, the second
 * has begun, and the third is only reserved. */
static int discover(int ready)
{
    struct kit kit = take_ledger();
    bool good = discovery_grant(&kit, "a", &discovery_granted) == ST_OK;
    for (unsigned job = 1; job <= 3; job++)
        good = good && discovery_reserve(&kit, "a", job, sigma, 5e-7) == ST_OK;
    good = good && kit_authorise(&kit, 1, 1) == ST_OK && kit_settle(&kit, 1) == ST_OK &&
           kit_authorise(&kit, 2, 1) == ST_OK;
    if (!good || write(ready, "", 1) != 1)
        return 1;
    for (;;)
        pause();
}

/* Returns once the process has had all of its acknowledgements, and was killed. */
static void discover_and_be_killed(void)
{
    int ready[2], code;
    char byte;
    assert_int_equal(pipe(ready), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ready[0]);
        _exit(discover(ready[1]));
    }
    close(ready[1]);
    ssize_t got = read(ready[0], &byte, 1);
    close(ready[0]);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(got, 1);
}

static void expect_verified(const struct kit *kit)
{
    struct verify_report report;
    struct error error = {0};
    if (verify_store(kit->store, &report, &error) != ST_OK)
        fail_msg("%s", error.text);
}

/* The next process knows what was used, and gives away the rest only. */
static void expect_the_rest_only(void)
{
    struct kit kit = take_ledger();
    const struct job_id begun = kit_job(2), waiting = kit_job(3);
    discovery_expect(&kit, "a", 5e-7, 1e-6);
    assert_int_equal(ledger_authorised(kit.ledger, &begun), 1);
    assert_int_equal(ledger_authorised(kit.ledger, &waiting), 0);
    assert_int_equal(discovery_reserve(&kit, "a", 4, sigma, 1.6e-6), ST_BUDGET_HELD);
    assert_int_equal(kit_settle(&kit, 2), ST_OK);
    assert_int_equal(kit_settle(&kit, 3), ST_OK);
    discovery_expect(&kit, "a", 1e-6, 0);
    assert_int_equal(discovery_reserve(&kit, "a", 5, sigma, 2.1e-6),
                     ST_BUDGET_EXHAUSTED);
    assert_int_equal(discovery_reserve(&kit, "a", 6, sigma, 2e-6), ST_OK);
    assert_int_equal(kit_authorise(&kit, 6, 1), ST_OK);
    assert_int_equal(kit_settle(&kit, 6), ST_OK);
    discovery_expect(&kit, "a", 3e-6, 0);
    assert_int_equal(discovery_reserve(&kit, "a", 7, sigma, 1e-9), ST_BUDGET_EXHAUSTED);
    /* Everything else has its own share of delta, and still fits. */
    assert_int_equal(kit_reserve(&kit, "a", 8, 23.85, 10), ST_OK);
    expect_verified(&kit);
    kit_close(&kit);
}

static void a_killed_process_leaves_what_it_used(void **state)
{
    (void)state;
    begin(false);
    discover_and_be_killed();
    expect_the_rest_only();
}

static void a_lost_server_leaves_what_was_used(void **state)
{
    (void)state;
    begin(true);
    discover_and_be_killed();
    server_end(&scene.primary);
    standby_promote(&scene.standby);
    expect_the_rest_only();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_killed_process_leaves_what_it_used, end),
        cmocka_unit_test_teardown(a_lost_server_leaves_what_was_used, end),
    };
    struct postgres_server any;
    if (!postgres_make_for_stores(&any, true))
        return 0;
    postgres_remove(&any);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
