/* Goal: a daemon of a shared store that is silent for longer than its lease is fenced
 * and writes nothing more, and one that is alive is never fenced; one daemon claims a
 * job and loses it when fenced, and the same holds for a singleton lease. Method:
 * stores of one database of a real server, one of them in a process that is stopped and
 * resumed; SQL from outside sets back the time at which a writer was last seen. */
#include "store/lease.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/expect.h"
#include "store/daemon.h"
#include "store/singleton_lease.h"
#include "store/heartbeat.h"
#include "store/rows/caption_rows.h"
#include "store/rows/claim_rows.h"
#include "store/rows/job_rows.h"
#include "store/postgres/pg_connection.h"
#include "tests/store/postgres_store_fixture.h"

static struct postgres_server server;

struct two {
    struct postgres_database database;
    struct store *here, *there;
};

static struct two two_open(void)
{
    struct two two = {.database = postgres_schema(&server)};
    two.here = postgres_shared_store(&two.database);
    two.there = postgres_shared_store(&two.database);
    return two;
}

static void two_close(struct two *two)
{
    store_close(two->there);
    store_close(two->here);
}

/* Ages the writers whose number compares by `which` ("=", "<>") with the last
 * writer's. */
static void age(const struct two *two, const char *seconds, const char *which)
{
    char sql[200];
    snprintf(sql, sizeof sql,
             "UPDATE writer SET seen=seen-interval '%s seconds' WHERE lead%s(SELECT "
             "max(lead) FROM writer)",
             seconds, which);
    assert_int_equal(postgres_sql(&server, &two->database, sql), 0);
}

static size_t sweep(struct store *store)
{
    size_t fenced = 99;
    assert_int_equal(lease_sweep(store, &fenced, NULL), ST_OK);
    return fenced;
}

static int asked(const struct two *two, const char *sql)
{
    char answer[64];
    postgres_ask(&server, &two->database, sql, answer, sizeof answer);
    return atoi(answer);
}

/* The daemon `there` writes and is seen, and a second before its lease ends it is not
 * fenced. Returns false if this machine took that second to check. */
static bool lives_for_29_s(struct two *two, unsigned number)
{
    assert_int_equal(postgres_put(two->there, number), ST_OK);
    age(two, "29", "=");
    if (sweep(two->here) == 0)
        return true;
    assert_int_equal(asked(two,
                           "SELECT count(*) FROM writer WHERE fenced AND id=lead AND"
                           " seen>clock_timestamp()-interval '30 seconds'"),
                     0);
    return false;
}

static void a_daemon_that_is_silent_for_longer_than_its_lease_is_fenced(void **state)
{
    (void)state;
    enum { TRIES = 20 };
    struct two two = two_open();
    struct error error = {0};
    for (int tries = 1; !lives_for_29_s(&two, 1) || !lives_for_29_s(&two, 2); tries++) {
        assert_in_range(tries, 1, TRIES);
        two_close(&two);
        two = two_open();
    }
    age(&two, "2", "=");
    assert_int_equal(sweep(two.here), 1);
    assert_int_equal(sweep(two.here), 0);
    assert_int_equal(lease_renew(two.there, &error), ST_IO);
    if (strstr(error.text, "taken over") == NULL)
        fail_msg("%s", error.text);
    assert_true(store_poisoned(two.there));
    assert_int_equal(postgres_put(two.there, 3), ST_IO);
    assert_int_equal(postgres_put(two.here, 4), ST_OK);
    assert_int_equal(postgres_count(&server, &two.database), 3);
    two_close(&two);
}

static void a_daemon_that_says_so_is_alive(void **state)
{
    (void)state;
    struct two two = two_open();
    age(&two, "31", "=");
    assert_int_equal(lease_renew(two.there, NULL), ST_OK);
    assert_int_equal(sweep(two.here), 0);
    assert_int_equal(postgres_put(two.there, 1), ST_OK);
    two_close(&two);
}

/* Breaks the connection after the first answered statement of a sweep, and meanwhile
 * lets the daemon that was silent renew its lease. */
static const struct two *wakes; /* NULL: nothing breaks */

enum pg_connection_end
__real_pg_connection_execute(struct pg_connection *wire, const char *name,
                             const struct pg_connection_values *values,
                             struct pg_result **answer);
enum pg_connection_end
__wrap_pg_connection_execute(struct pg_connection *wire, const char *name,
                             const struct pg_connection_values *values,
                             struct pg_result **answer);
enum pg_connection_end
__wrap_pg_connection_execute(struct pg_connection *wire, const char *name,
                             const struct pg_connection_values *values,
                             struct pg_result **answer)
{
    enum pg_connection_end end =
        __real_pg_connection_execute(wire, name, values, answer);
    const struct two *two = wakes;
    wakes = NULL;
    if (two == NULL)
        return end;
    assert_int_equal(
        postgres_sql(
            &server, &two->database,
            "SELECT pg_terminate_backend(pid,60000) FROM pg_stat_activity WHERE"
            " state='idle in transaction' AND usename='epsilond'"),
        0);
    assert_int_equal(lease_renew(two->there, NULL), ST_OK);
    return end;
}

static void a_daemon_that_wakes_while_the_sweep_loses_its_connection_lives(void **state)
{
    (void)state;
    struct two two = two_open();
    age(&two, "31", "=");
    wakes = &two;
    sweep(two.here);
    assert_null(wakes);
    assert_int_equal(asked(&two, "SELECT count(*) FROM writer WHERE fenced"), 0);
    assert_int_equal(postgres_put(two.there, 1), ST_OK);
    assert_int_equal(sweep(two.here), 0);
    assert_int_equal(postgres_put(two.here, 2), ST_OK);
    two_close(&two);
}

/* The connection that writes marks is fenced with the others, though it was never
 * used. */
static void all_connections_of_a_daemon_are_fenced(void **state)
{
    (void)state;
    struct two two = two_open();
    struct store_tx *tx = NULL;
    age(&two, "31", "=");
    assert_int_equal(sweep(two.here), 1);
    assert_int_equal(asked(&two, "SELECT count(*) FROM writer WHERE NOT fenced"),
                     asked(&two, "SELECT count(*) FROM writer WHERE fenced"));
    assert_int_equal(store_begin(two.there, STORE_MARK, &tx, NULL), ST_IO);
    assert_int_equal(store_begin(two.here, STORE_MARK, &tx, NULL), ST_OK);
    store_rollback(tx);
    two_close(&two);
}

/* Each daemon finds the other silent, and one is first. */
static void a_daemon_that_was_fenced_fences_nobody(void **state)
{
    (void)state;
    struct two two = two_open();
    size_t fenced = 0;
    age(&two, "31", "=");
    assert_int_equal(sweep(two.here), 1);
    age(&two, "31", "<>");
    assert_int_equal(lease_sweep(two.there, &fenced, NULL), ST_IO);
    assert_int_equal(fenced, 0);
    assert_int_equal(postgres_put(two.here, 1), ST_OK);
    two_close(&two);
}

static void a_transaction_that_is_open_keeps_its_daemon(void **state)
{
    (void)state;
    struct two two = two_open();
    struct store_tx *tx = NULL;
    struct caption_row caption = {CAPTIONED_JOB, "job_a", "{}"};
    age(&two, "31", "=");
    assert_int_equal(store_begin(two.there, STORE_ROW, &tx, NULL), ST_OK);
    assert_int_equal(caption_row_set(tx, &caption, NULL), ST_OK);
    assert_int_equal(sweep(two.here), 0);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    assert_int_equal(sweep(two.here), 0);
    assert_int_equal(asked(&two, "SELECT count(*) FROM caption"), 1);
    two_close(&two);
}

/* Starts a process that writes until it is refused. Its exit status says whether it
 * noticed. */
static pid_t start_writing(const struct postgres_database *database)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child != 0)
        return child;
    struct store *store = postgres_shared_store(database);
    unsigned number = 0;
    while (postgres_put(store, number) == ST_OK)
        number++;
    _exit(store_poisoned(store) ? 75 : 1);
}

static void a_daemon_that_is_stopped_and_woken_writes_nothing(void **state)
{
    (void)state;
    struct two two = {.database = postgres_schema(&server)};
    two.here = postgres_shared_store(&two.database);
    pid_t child = start_writing(&two.database);
    while (postgres_count(&server, &two.database) < 20)
        continue;
    assert_int_equal(kill(child, SIGSTOP), 0);
    /* If it has a transaction open, the server ends the transaction before the row can
     * be set back. */
    age(&two, "31", "=");
    assert_int_equal(sweep(two.here), 1);
    int before = postgres_count(&server, &two.database), ended = 0;
    assert_int_equal(kill(child, SIGCONT), 0);
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 75);
    assert_int_equal(postgres_count(&server, &two.database), before);
    store_close(two.here);
}

enum { JOBS = 12 };

static struct job_row job_of(unsigned number, const char *state)
{
    struct job_row row = {.state = state,
                          .version = 1,
                          .spec = "{}",
                          .detail = "{}",
                          .created_by = "ana"};
    snprintf(row.id.text, sizeof row.id.text, "job_%026u", number);
    return row;
}

static void queue(struct store *store, unsigned number)
{
    struct store_tx *tx = NULL;
    const struct job_row row = job_of(number, "QUEUED");
    assert_int_equal(store_begin(store, STORE_JOB, &tx, NULL), ST_OK);
    assert_int_equal(store_end(tx, job_row_insert(tx, &row, NULL), NULL), ST_OK);
}

struct claimer {
    struct store *store;
    unsigned claims;
    bool failed;
};

/* Claims all queued jobs, each in a transaction that changes its state. */
static void *claim_all(void *context)
{
    struct claimer *claimer = context;
    bool taken = true;
    while (taken) {
        struct store_tx *tx = NULL;
        struct job_row row = job_of(0, "RUNNING");
        row.version = 2;
        row.replaces = 1;
        enum status status = store_begin(claimer->store, STORE_JOB, &tx, NULL);
        if (status == ST_OK)
            status =
                claim_row_take(tx, store_daemon(claimer->store), &row.id, &taken, NULL);
        if (status == ST_OK && taken)
            status = job_row_update(tx, &row, NULL);
        claimer->claims += taken ? 1 : 0;
        if (tx == NULL || store_end(tx, status, NULL) != ST_OK) {
            claimer->failed = true;
            break;
        }
    }
    return NULL;
}

static bool count_claim(void *context, const struct claim_row *row)
{
    unsigned *counts = context;
    counts[row->lost ? 1 : 0]++;
    return row->version == 2;
}

/* counts: first the claims that are not lost, then those that are. */
static void count_claims(struct store *store, unsigned counts[2])
{
    struct store_tx *tx = NULL;
    counts[0] = counts[1] = 0;
    assert_int_equal(store_begin(store, STORE_READ, &tx, NULL), ST_OK);
    assert_int_equal(claim_rows_walk(tx, count_claim, counts, NULL), ST_OK);
    store_rollback(tx);
}

static void each_job_is_claimed_once(void **state)
{
    (void)state;
    struct two two = two_open();
    struct claimer claimers[2] = {{.store = two.here}, {.store = two.there}};
    pthread_t threads[2];
    unsigned counts[2];
    assert_true(store_daemon(two.here) != store_daemon(two.there));
    for (unsigned i = 0; i < JOBS; i++)
        queue(two.here, i);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, claim_all, &claimers[i]), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_false(claimers[i].failed);
    }
    assert_int_equal(claimers[0].claims + claimers[1].claims, JOBS);
    count_claims(two.here, counts);
    assert_int_equal(counts[0], JOBS);
    two_close(&two);
}

/* The daemon that settles lost jobs finds them by this, and no other claims them. */
static void what_a_fenced_daemon_has_claimed_is_lost(void **state)
{
    (void)state;
    struct two two = two_open();
    struct claimer there = {.store = two.there}, here = {.store = two.here};
    struct store_tx *tx = NULL;
    unsigned counts[2];
    queue(two.here, 0);
    queue(two.here, 1);
    claim_all(&there);
    assert_int_equal(there.claims, 2);
    age(&two, "31", "=");
    assert_int_equal(sweep(two.here), 1);
    claim_all(&here);
    assert_int_equal(here.claims, 0);
    count_claims(two.here, counts);
    assert_true(counts[0] == 0 && counts[1] == 2);
    const struct job_row ended = job_of(1, "FAILED");
    assert_int_equal(store_begin(two.here, STORE_JOB, &tx, NULL), ST_OK);
    assert_int_equal(claim_row_end(tx, &ended.id, NULL), ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    claim_all(&here);
    assert_int_equal(here.claims, 0);
    count_claims(two.here, counts);
    assert_true(counts[0] == 0 && counts[1] == 1);
    two_close(&two);
}

static bool note_lost(void *context, const struct job_id *job)
{
    strcat(context, job->text + strlen(job->text) - 1);
    return true;
}

static void move_to(struct store *store, unsigned number, const char *state,
                    uint64_t version)
{
    struct store_tx *tx = NULL;
    struct job_row row = job_of(number, state);
    row.replaces = version;
    row.version = version + 1;
    assert_int_equal(store_begin(store, STORE_JOB, &tx, NULL), ST_OK);
    assert_int_equal(store_end(tx, job_row_update(tx, &row, NULL), NULL), ST_OK);
}

static void expect_lost(struct store *store, const char *jobs)
{
    struct store_tx *tx = NULL;
    char lost[16] = "";
    assert_int_equal(store_begin(store, STORE_READ, &tx, NULL), ST_OK);
    assert_int_equal(claim_rows_walk_lost(tx, note_lost, lost, NULL), ST_OK);
    store_rollback(tx);
    assert_string_equal(lost, jobs);
}

/* Jobs 1 and 2 are claimed by `there`, job 3 by `here`. Job 4 began without a claim, as
 * with a single daemon, and job 5 is queued. */
static void a_job_that_has_begun_is_lost_without_a_daemon_that_is_alive(void **state)
{
    (void)state;
    struct two two = two_open();
    struct claimer there = {.store = two.there}, here = {.store = two.here};
    struct store_tx *tx = NULL;
    struct claim_row found;
    bool claimed = false;
    queue(two.here, 1);
    queue(two.here, 2);
    claim_all(&there);
    queue(two.here, 3);
    claim_all(&here);
    queue(two.here, 4);
    queue(two.here, 5);
    move_to(two.here, 1, "CANCELLING", 2);
    move_to(two.here, 4, "RUNNING", 1);
    expect_lost(two.here, "4");
    age(&two, "31", "=");
    assert_int_equal(sweep(two.here), 1);
    expect_lost(two.here, "124");
    assert_int_equal(store_begin(two.here, STORE_READ, &tx, NULL), ST_OK);
    const struct job_id one = job_of(1, "").id, three = job_of(3, "").id,
                        five = job_of(5, "").id;
    assert_int_equal(claim_row_find(tx, &one, &found, &claimed, NULL), ST_OK);
    assert_true(claimed && found.lost && found.daemon == store_daemon(two.there));
    assert_int_equal(claim_row_find(tx, &three, &found, &claimed, NULL), ST_OK);
    assert_true(claimed && !found.lost && found.daemon == store_daemon(two.here));
    assert_int_equal(claim_row_find(tx, &five, &found, &claimed, NULL), ST_OK);
    assert_false(claimed);
    store_rollback(tx);
    two_close(&two);
}

/* Simulates a start that reads for long: a read transaction renews no lease. */
static void a_daemon_with_a_pulse_lives_while_it_only_reads(void **state)
{
    (void)state;
    struct two two = two_open();
    struct store_tx *tx = NULL;
    assert_int_equal(store_begin(two.there, STORE_READ, &tx, NULL), ST_OK);
    struct heartbeat *pulse = heartbeat_start(two.there, 10);
    age(&two, "31", "=");
    while (asked(&two, "SELECT count(*) FROM writer WHERE id=lead AND"
                       " seen<clock_timestamp()-interval '30 seconds'") != 0)
        continue;
    assert_int_equal(sweep(two.here), 0);
    heartbeat_stop(pulse);
    store_rollback(tx);
    age(&two, "31", "=");
    assert_int_equal(sweep(two.here), 1);
    pulse = heartbeat_start(two.there, 10);
    while (!store_poisoned(two.there))
        continue;
    heartbeat_stop(pulse);
    two_close(&two);
}

static bool takes(struct store *store)
{
    bool mine = false;
    assert_int_equal(singleton_lease_take(store, "garbage", &mine, NULL), ST_OK);
    return mine;
}

static bool holds(struct store *store)
{
    bool held = false;
    struct store_tx *tx = NULL;
    assert_int_equal(store_begin(store, STORE_ROW, &tx, NULL), ST_OK);
    assert_int_equal(singleton_lease_held(tx, "garbage", &held, NULL), ST_OK);
    store_rollback(tx);
    return held;
}

static void a_duty_is_of_one_daemon_until_it_is_silent_or_dead(void **state)
{
    (void)state;
    struct two two = two_open();
    assert_true(takes(two.there) && !takes(two.here) && takes(two.there));
    assert_true(holds(two.there) && !holds(two.here));
    assert_int_equal(postgres_sql(&server, &two.database,
                                  "UPDATE duty SET until=until-interval '31 seconds'"),
                     0);
    assert_false(holds(two.there));
    assert_true(takes(two.here) && !takes(two.there));
    assert_true(takes(two.here));
    age(&two, "31", "<>");
    assert_int_equal(sweep(two.there), 1);
    assert_true(takes(two.there));
    two_close(&two);
}

static bool count_daemon(void *context, const struct daemon_row *row)
{
    unsigned *count = context;
    ++*count;
    return strncmp(row->process, "process ", 8) == 0 && row->silent_s < LEASE_S &&
           strcmp(row->role, *count == 1 ? "api" : "worker") == 0 &&
           strcmp(row->address, *count == 1 ? "10.0.0.1:80" : "") == 0;
}

static void daemons_say_what_they_are_as_long_as_they_live(void **state)
{
    (void)state;
    struct two two = two_open();
    struct store_tx *tx = NULL;
    assert_int_equal(daemon_say(two.there, "worker", "", NULL), ST_OK);
    assert_int_equal(daemon_say(two.here, "both", "10.0.0.1:80", NULL), ST_OK);
    assert_int_equal(daemon_say(two.here, "api", "10.0.0.1:80", NULL), ST_OK);
    for (unsigned left = 2; left > 0; left--) {
        unsigned count = 0;
        assert_int_equal(store_begin(two.here, STORE_READ, &tx, NULL), ST_OK);
        assert_int_equal(daemons_walk(tx, count_daemon, &count, NULL), ST_OK);
        store_rollback(tx);
        assert_int_equal(count, left);
        age(&two, "31", "=");
        assert_int_equal(sweep(two.here), left == 2 ? 1 : 0);
    }
    two_close(&two);
}

static void a_store_that_is_not_shared_has_no_lease(void **state)
{
    (void)state;
    struct two two = {.database = postgres_schema(&server)};
    two.here = postgres_store(&two.database);
    age(&two, "31", "=");
    assert_int_equal(sweep(two.here), 0);
    assert_int_equal(lease_renew(two.here, NULL), ST_OK);
    assert_true(takes(two.here) && holds(two.here));
    assert_null(heartbeat_start(two.here, 1));
    assert_int_equal(postgres_put(two.here, 1), ST_OK);
    store_close(two.here);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_daemon_that_is_silent_for_longer_than_its_lease_is_fenced),
        cmocka_unit_test(a_daemon_that_says_so_is_alive),
        cmocka_unit_test(
            a_daemon_that_wakes_while_the_sweep_loses_its_connection_lives),
        cmocka_unit_test(all_connections_of_a_daemon_are_fenced),
        cmocka_unit_test(a_daemon_that_was_fenced_fences_nobody),
        cmocka_unit_test(a_transaction_that_is_open_keeps_its_daemon),
        cmocka_unit_test(a_daemon_that_is_stopped_and_woken_writes_nothing),
        cmocka_unit_test(each_job_is_claimed_once),
        cmocka_unit_test(what_a_fenced_daemon_has_claimed_is_lost),
        cmocka_unit_test(a_job_that_has_begun_is_lost_without_a_daemon_that_is_alive),
        cmocka_unit_test(a_daemon_with_a_pulse_lives_while_it_only_reads),
        cmocka_unit_test(a_duty_is_of_one_daemon_until_it_is_silent_or_dead),
        cmocka_unit_test(daemons_say_what_they_are_as_long_as_they_live),
        cmocka_unit_test(a_store_that_is_not_shared_has_no_lease),
    };
    if (!postgres_make_for_stores(&server, true))
        return 0;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
