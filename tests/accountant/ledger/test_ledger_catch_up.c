/* Goal: of several ledgers on one store each decides by what all have written. Method:
 * two ledgers on two stores of one database of a real server, and SQL from outside. */
#include "accountant/ledger/ledger_catch_up.h"

#include <inttypes.h>
#include <pthread.h>

#include "store/rows/claim_rows.h"
#include "store/rows/job_rows.h"
#include "tests/expect.h"
#include "accountant/ledger/ledger_freeze.h"
#include "accountant/ledger/ledger_seal.h"
#include "accountant/audit/verify.h"
#include "store/lease.h"
#include "tests/accountant/ledger_fixture.h"
#include "tests/store/place_fixture.h"
#include "tests/store/postgres_store_fixture.h"

static struct postgres_server server;

struct pair {
    struct postgres_database database;
    struct kit a, b;
};

/* Ends the session of a following ledger from outside, before the read of this
 * number. */
enum { EXTENT_READ = 1, MARKS_READ, ENTRIES_READ, CATCH_UP_READS = ENTRIES_READ };
static struct {
    const struct postgres_database *database; /* NULL: not wanted, or already done */
    unsigned before;
} cut;

static void cut_before(unsigned read)
{
    if (cut.database == NULL || cut.before != read)
        return;
    const struct postgres_database *database = cut.database;
    cut.database = NULL;
    assert_int_equal(
        postgres_sql(
            &server, database,
            "SELECT pg_terminate_backend(pid,60000) FROM pg_stat_activity WHERE"
            " state='idle in transaction' AND usename='epsilond'"),
        0);
}

enum status __real_ledger_rows_extent(struct store_tx *, struct ledger_extent *,
                                      struct error *);
enum status __wrap_ledger_rows_extent(struct store_tx *, struct ledger_extent *,
                                      struct error *);
enum status __wrap_ledger_rows_extent(struct store_tx *tx, struct ledger_extent *extent,
                                      struct error *error)
{
    cut_before(EXTENT_READ);
    return __real_ledger_rows_extent(tx, extent, error);
}

typedef bool mark_visitor(void *context, const char *job, uint64_t authorised);
enum status __real_mark_rows_walk_after(struct store_tx *, uint64_t, mark_visitor *,
                                        void *, struct error *);
enum status __wrap_mark_rows_walk_after(struct store_tx *, uint64_t, mark_visitor *,
                                        void *, struct error *);
enum status __wrap_mark_rows_walk_after(struct store_tx *tx, uint64_t after,
                                        mark_visitor *visit, void *context,
                                        struct error *error)
{
    cut_before(MARKS_READ);
    return __real_mark_rows_walk_after(tx, after, visit, context, error);
}

typedef bool entry_visitor(void *context, const struct ledger_row *row);
enum status __real_ledger_rows_walk(struct store_tx *, const struct ledger_range *,
                                    entry_visitor *, void *, struct error *);
enum status __wrap_ledger_rows_walk(struct store_tx *, const struct ledger_range *,
                                    entry_visitor *, void *, struct error *);
enum status __wrap_ledger_rows_walk(struct store_tx *tx,
                                    const struct ledger_range *range,
                                    entry_visitor *visit, void *context,
                                    struct error *error)
{
    cut_before(ENTRIES_READ);
    return __real_ledger_rows_walk(tx, range, visit, context, error);
}

/* Dataset a of epsilon 2, which the second ledger has not read yet. */
static struct pair make_pair(void)
{
    struct pair pair = {.database = postgres_schema(&server)};
    pair.a = kit_take(postgres_shared_store(&pair.database));
    pair.b = kit_take(postgres_shared_store(&pair.database));
    assert_int_equal(kit_grant(&pair.a, "a", 2, 1e-5, 0), ST_OK);
    return pair;
}

static void end_pair(struct pair *pair)
{
    struct verify_report report;
    struct error error = {0};
    if (verify_store(pair->a.store, &report, &error) != ST_OK)
        fail_msg("%s", error.text);
    kit_close(&pair->b);
    kit_close(&pair->a);
}

static void assert_both_know_the_same(struct pair *pair)
{
    assert_int_equal(ledger_follow(pair->a.ledger, NULL), ST_OK);
    assert_int_equal(ledger_follow(pair->b.ledger, NULL), ST_OK);
    struct balance a = kit_balance(&pair->a, "a"), b = kit_balance(&pair->b, "a");
    assert_same_balance(&a, &b);
}

static void what_one_has_reserved_the_other_does_not_give_away(void **state)
{
    (void)state;
    enum { JOBS = 40 };
    struct pair pair = make_pair();
    unsigned admitted = 0;
    for (unsigned i = 0; i < JOBS; i++) {
        struct kit *kit = i % 2 == 0 ? &pair.b : &pair.a;
        enum status status = kit_reserve(kit, "a", i, 23.85, 10);
        assert_int_equal(status, i == admitted ? status : ST_BUDGET_HELD);
        admitted += status == ST_OK;
    }
    /* A single ledger admits as many. */
    struct kit alone = kit_open(":memory:");
    assert_int_equal(kit_grant(&alone, "a", 2, 1e-5, 0), ST_OK);
    for (unsigned i = 0; i < JOBS; i++)
        assert_int_equal(kit_reserve(&alone, "a", i, 23.85, 10),
                         i < admitted ? ST_OK : ST_BUDGET_HELD);
    assert_in_range(admitted, 2, JOBS - 1);
    kit_close(&alone);
    assert_both_know_the_same(&pair);
    end_pair(&pair);
}

static void the_same_job_and_the_same_dataset_are_taken_once(void **state)
{
    (void)state;
    struct pair pair = make_pair();
    assert_int_equal(kit_reserve(&pair.a, "a", 1, 23.85, 10), ST_OK);
    assert_int_equal(kit_reserve(&pair.b, "a", 1, 23.85, 10), ST_ALREADY_EXISTS);
    assert_int_equal(kit_grant(&pair.b, "b", 2, 1e-5, 0), ST_OK);
    assert_int_equal(kit_reserve(&pair.a, "b", 2, 23.85, 10), ST_OK);
    assert_both_know_the_same(&pair);
    end_pair(&pair);
}

static void
steps_that_another_has_authorised_are_charged_by_whoever_settles(void **state)
{
    (void)state;
    struct pair pair = make_pair();
    assert_int_equal(kit_reserve(&pair.a, "a", 1, 23.85, 10), ST_OK);
    assert_int_equal(ledger_follow(pair.b.ledger, NULL), ST_OK);
    assert_int_equal(kit_authorise(&pair.a, 1, 4), ST_OK);
    assert_int_equal(kit_settle(&pair.b, 1), ST_OK);
    struct mechanism m = kit_gaussian(23.85, 10);
    struct curve charge;
    assert_int_equal(filter_charge(&charge, &m, 4, NULL), ST_OK);
    struct balance balance = kit_balance(&pair.b, "a");
    assert_memory_equal(&balance.committed, &charge, sizeof charge);
    assert_int_equal(kit_settle(&pair.a, 1), ST_NOT_FOUND);
    assert_int_equal(kit_authorise(&pair.a, 1, 5), ST_NOT_FOUND);
    assert_both_know_the_same(&pair);
    mechanism_fini(&m);
    end_pair(&pair);
}

/* A start reads the ledger and then the rows; entries and marks written in between are
 * read together with the rows. */
static void whoever_compares_rows_knows_every_mark_that_they_go_with(void **state)
{
    (void)state;
    struct pair pair = make_pair();
    struct store_tx *tx = NULL;
    const struct job_id known = kit_job(1), between = kit_job(2);
    assert_int_equal(kit_reserve(&pair.a, "a", 1, 23.85, 10), ST_OK);
    assert_int_equal(ledger_follow(pair.b.ledger, NULL), ST_OK);
    assert_int_equal(kit_authorise(&pair.a, 1, 4), ST_OK);
    assert_int_equal(kit_reserve(&pair.a, "a", 2, 23.85, 10), ST_OK);
    assert_int_equal(store_begin(pair.b.store, STORE_READ, &tx, NULL), ST_OK);
    assert_int_equal(ledger_follow_all_in(pair.b.ledger, tx, NULL), ST_OK);
    store_rollback(tx);
    assert_int_equal(ledger_authorised(pair.b.ledger, &known), 4);
    assert_true(
        ledger_reservation(pair.b.ledger, &between, &(struct ledger_entry_name){0}));
    end_pair(&pair);
}

/* The connection breaks in each of the reads in turn; before each, another job was
 * authorised. */
static void who_loses_the_connection_while_it_follows_reads_again(void **state)
{
    (void)state;
    struct pair pair = make_pair();
    for (cut.before = 1; cut.before <= CATCH_UP_READS; cut.before++) {
        const struct job_id job = kit_job(cut.before);
        assert_int_equal(kit_reserve(&pair.a, "a", cut.before, 60, 10), ST_OK);
        assert_int_equal(kit_authorise(&pair.a, cut.before, 4), ST_OK);
        cut.database = &pair.database;
        assert_int_equal(ledger_follow(pair.b.ledger, NULL), ST_OK);
        assert_null(cut.database); /* cut once */
        assert_false(store_poisoned(pair.b.store));
        assert_int_equal(ledger_authorised(pair.b.ledger, &job), 4);
    }
    assert_both_know_the_same(&pair);
    end_pair(&pair);
}

/* The ledger's memory does not know that the job has ended; the database does. */
static void no_steps_are_authorised_behind_the_end_of_a_job(void **state)
{
    (void)state;
    struct pair pair = make_pair();
    char answer[64];
    assert_int_equal(kit_reserve(&pair.a, "a", 1, 23.85, 10), ST_OK);
    assert_int_equal(kit_reserve(&pair.a, "a", 2, 23.85, 10), ST_OK);
    assert_int_equal(kit_authorise(&pair.a, 1, 4), ST_OK);
    assert_int_equal(kit_settle(&pair.b, 1), ST_OK);
    assert_int_equal(kit_settle(&pair.b, 2), ST_OK);
    assert_int_equal(kit_authorise(&pair.a, 1, 5), ST_CORRUPT);
    assert_int_equal(kit_authorise(&pair.a, 2, 1), ST_CORRUPT);
    postgres_ask(&server, &pair.database, "SELECT sum(authorised) FROM mark", answer,
                 sizeof answer);
    assert_string_equal(answer, "4");
    assert_false(store_poisoned(pair.a.store));
    assert_both_know_the_same(&pair);
    end_pair(&pair);
}

static int end_with(struct pair *pair, unsigned steps)
{
    char sql[400];
    snprintf(sql, sizeof sql,
             "SELECT set_config('epsilond.daemon','1',true);"
             "INSERT INTO ledger SELECT seq+1,dataset,1,job,'COMMIT',curve,curve,"
             "'{\\\"steps\\\":%u}',actor,time_ms,hash,decode(repeat('0%u',32),'hex')"
             " FROM ledger WHERE seq=2",
             steps, steps);
    return postgres_sql(&server, &pair->database, sql);
}

static void no_job_ends_with_other_steps_than_its_mark_says(void **state)
{
    (void)state;
    struct pair pair = make_pair();
    assert_int_equal(kit_reserve(&pair.a, "a", 1, 23.85, 10), ST_OK);
    assert_int_equal(kit_authorise(&pair.a, 1, 4), ST_OK);
    assert_int_not_equal(end_with(&pair, 3), 0);
    assert_int_not_equal(end_with(&pair, 5), 0);
    assert_int_equal(end_with(&pair, 4), 0);
    kit_close(&pair.b);
    kit_close(&pair.a);
}

/* Several jobs end in one transaction, as when a dead daemon's jobs are settled. */
static void each_of_several_ends_charges_what_another_has_authorised(void **state)
{
    (void)state;
    struct pair pair = make_pair();
    struct job_id first = kit_job(1), second = kit_job(2);
    assert_int_equal(kit_reserve(&pair.a, "a", 1, 23.85, 5), ST_OK);
    assert_int_equal(kit_reserve(&pair.a, "a", 2, 23.85, 5), ST_OK);
    assert_int_equal(kit_authorise(&pair.a, 1, 2), ST_OK);
    struct store_tx *tx = kit_begin(&pair.b);
    assert_int_equal(ledger_settle(pair.b.ledger, tx, &first, NULL, NULL), ST_OK);
    store_rollback(tx);
    assert_int_equal(kit_authorise(&pair.a, 1, 3), ST_OK);
    assert_int_equal(kit_authorise(&pair.a, 2, 4), ST_OK);
    tx = kit_begin(&pair.b);
    assert_int_equal(ledger_settle(pair.b.ledger, tx, &first, NULL, NULL), ST_OK);
    assert_int_equal(ledger_settle(pair.b.ledger, tx, &second, NULL, NULL), ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    assert_int_equal(ledger_authorised(pair.b.ledger, &first), 3);
    assert_int_equal(ledger_authorised(pair.b.ledger, &second), 4);
    assert_both_know_the_same(&pair);
    end_pair(&pair); /* a COMMIT whose steps differ from its mark fails to verify */
}

static void an_epoch_that_another_has_frozen_is_closed_for_all(void **state)
{
    (void)state;
    struct pair pair = make_pair();
    struct place place = place_make();
    char path[80];
    bool frozen = false;
    snprintf(path, sizeof path, "%s/head", place.folder);
    assert_int_equal(kit_reserve(&pair.b, "a", 1, 23.85, 10), ST_OK);
    struct head lost = {.entry.seq = 7};
    assert_int_equal(head_file_write(path, &lost, NULL), ST_OK);
    assert_int_equal(ledger_head_file(pair.a.ledger, path, &frozen, NULL), ST_OK);
    assert_true(frozen);
    assert_int_equal(kit_reserve(&pair.b, "a", 2, 23.85, 1), ST_DATASET_FROZEN);
    assert_int_equal(kit_authorise(&pair.b, 1, 3), ST_DATASET_FROZEN);
    assert_int_equal(kit_settle(&pair.b, 1), ST_OK);
    assert_true(kit_balance(&pair.b, "a").frozen);
    assert_both_know_the_same(&pair);
    end_pair(&pair);
    place_remove(&place);
}

/* Steps that another daemon authorised since this ledger was opened count in the
 * comparison with the head file. */
static void a_head_that_another_has_moved_is_not_taken_for_a_lost_one(void **state)
{
    (void)state;
    struct pair pair = make_pair();
    struct place place = place_make();
    char path[80];
    bool frozen = true;
    snprintf(path, sizeof path, "%s/head", place.folder);
    assert_int_equal(kit_reserve(&pair.a, "a", 1, 23.85, 10), ST_OK);
    assert_int_equal(ledger_head_file(pair.a.ledger, path, &frozen, NULL), ST_OK);
    kit_reopen_ledger(&pair.b);
    assert_int_equal(kit_authorise(&pair.a, 1, 4), ST_OK);
    assert_int_equal(ledger_head_file(pair.b.ledger, path, &frozen, NULL), ST_OK);
    assert_false(frozen);
    end_pair(&pair);
    place_remove(&place);
}

/* The total that the first daemon knows would still be there. */
static void
what_another_has_authorised_is_missed_when_the_server_was_set_back(void **state)
{
    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        struct pair pair = make_pair();
        struct place place = place_make();
        bool frozen = true;
        assert_int_equal(kit_reserve(&pair.a, "a", 1, 23.85, 10), ST_OK);
        assert_int_equal(kit_reserve(&pair.a, "a", 2, 23.85, 10), ST_OK);
        assert_int_equal(ledger_follow(pair.b.ledger, NULL), ST_OK);
        assert_int_equal(ledger_head_file(pair.a.ledger, place.path, &frozen, NULL),
                         ST_OK);
        assert_int_equal(ledger_head_file(pair.b.ledger, place.path, &frozen, NULL),
                         ST_OK);
        assert_int_equal(kit_authorise(&pair.a, 1, 8), ST_OK);
        assert_int_equal(kit_authorise(&pair.b, 2, 1), ST_OK);
        assert_int_equal(kit_authorise(&pair.b, 2, 3), ST_OK);
        kit_close(&pair.b);
        kit_close(&pair.a);
        if (lost == 1)
            assert_int_equal(
                postgres_sql(&server, &pair.database,
                             "ALTER TABLE mark DISABLE TRIGGER mark_grows;"
                             "UPDATE mark SET authorised=1 WHERE authorised=3;"
                             "ALTER TABLE mark ENABLE TRIGGER mark_grows;"
                             "UPDATE writer SET n=n-1 WHERE n>0 AND"
                             " lead=(SELECT max(lead) FROM writer)"),
                0);
        pair.a = kit_take(postgres_shared_store(&pair.database));
        assert_int_equal(ledger_head_file(pair.a.ledger, place.path, &frozen, NULL),
                         ST_OK);
        assert_int_equal(frozen, lost == 1);
        kit_close(&pair.a);
        place_remove(&place);
    }
}

/* Each start forgets the receipts of daemons that it has seen fenced, because its own
 * receipt covers theirs; the receipt of a living daemon stays. */
static void a_start_forgets_the_receipts_of_daemons_that_were_fenced(void **state)
{
    (void)state;
    struct pair pair = make_pair();
    struct place place = place_make();
    struct head head;
    bool frozen = true, found = false;
    uint64_t a = store_daemon(pair.a.store), b = store_daemon(pair.b.store);
    assert_int_equal(ledger_head_file(pair.a.ledger, place.path, &frozen, NULL), ST_OK);
    assert_int_equal(ledger_head_file(pair.b.ledger, place.path, &frozen, NULL), ST_OK);
    assert_int_equal(head_file_read(place.path, &head, &found, NULL), ST_OK);
    assert_int_equal(head.receipts.count, 2);
    kit_close(&pair.b);
    char sql[200];
    snprintf(sql, sizeof sql, "UPDATE writer SET fenced=true WHERE lead=%" PRIu64, b);
    assert_int_equal(postgres_sql(&server, &pair.database, sql), 0);
    struct kit c = kit_take(postgres_shared_store(&pair.database));
    assert_int_equal(ledger_head_file(c.ledger, place.path, &frozen, NULL), ST_OK);
    assert_false(frozen);
    assert_int_equal(head_file_read(place.path, &head, &found, NULL), ST_OK);
    assert_int_equal(head.receipts.count, 2);
    assert_int_equal(head.receipts.all[0].daemon, store_daemon(c.store));
    assert_int_equal(head.receipts.all[1].daemon, a);
    kit_close(&c);
    kit_close(&pair.a);
    place_remove(&place);
}

static void an_entry_that_no_program_wrote_ends_the_daemon_that_reads_it(void **state)
{
    (void)state;
    struct pair pair = make_pair();
    struct error error = {0};
    assert_int_equal(
        postgres_sql(
            &server, &pair.database,
            "INSERT INTO ledger SELECT 2,dataset,1,'job_x','RESERVE',curve,NULL,"
            "'{}',actor,time_ms,hash,prev FROM ledger"),
        0);
    assert_int_equal(ledger_follow(pair.b.ledger, &error), ST_CORRUPT);
    if (strstr(error.text, "entry 2") == NULL)
        fail_msg("%s", error.text);
    assert_true(store_poisoned(pair.b.store));
    kit_close(&pair.b);
    kit_close(&pair.a);
}

/* A daemon dies in the middle of a job: from its claim to the settlement by another
 * daemon. */
static void a_dead_daemons_job_is_charged_what_it_was_allowed(void **state)
{
    (void)state;
    struct pair pair = make_pair();
    struct store_tx *tx = kit_begin(&pair.a);
    struct job_row row = {.id = kit_job(1),
                          .state = "QUEUED",
                          .version = 1,
                          .spec = "{}",
                          .detail = "{}",
                          .created_by = "ana"};
    assert_int_equal(kit_end(tx, job_row_insert(tx, &row, NULL)), ST_OK);
    assert_int_equal(kit_reserve(&pair.a, "a", 1, 23.85, 10), ST_OK);
    struct job_id claimed;
    bool taken = false;
    tx = kit_begin(&pair.b);
    assert_int_equal(
        claim_row_take(tx, store_daemon(pair.b.store), &claimed, &taken, NULL), ST_OK);
    assert_true(taken);
    assert_string_equal(claimed.text, row.id.text);
    row.replaces = row.version++;
    row.state = "RUNNING";
    assert_int_equal(kit_end(tx, job_row_update(tx, &row, NULL)), ST_OK);
    assert_int_equal(ledger_follow(pair.b.ledger, NULL), ST_OK);
    assert_int_equal(kit_authorise(&pair.b, 1, 4), ST_OK);

    size_t fenced = 0;
    assert_int_equal(postgres_sql(&server, &pair.database,
                                  "UPDATE writer SET seen=seen-interval '31 seconds' "
                                  "WHERE lead=(SELECT max(lead) FROM writer)"),
                     0);
    assert_int_equal(lease_sweep(pair.a.store, &fenced, NULL), ST_OK);
    assert_int_equal(fenced, 1);
    assert_int_equal(kit_authorise(&pair.b, 1, 5), ST_IO);
    assert_true(store_poisoned(pair.b.store));
    tx = kit_begin(&pair.a);
    row.replaces = row.version++;
    row.state = "FAILED";
    assert_int_equal(ledger_settle(pair.a.ledger, tx, &row.id, NULL, NULL), ST_OK);
    assert_int_equal(claim_row_end(tx, &row.id, NULL), ST_OK);
    assert_int_equal(kit_end(tx, job_row_update(tx, &row, NULL)), ST_OK);

    struct mechanism m = kit_gaussian(23.85, 10);
    struct curve charge;
    assert_int_equal(filter_charge(&charge, &m, 4, NULL), ST_OK);
    struct balance balance = kit_balance(&pair.a, "a");
    assert_memory_equal(&balance.committed, &charge, sizeof charge);
    mechanism_fini(&m);
    end_pair(&pair);
}

struct client {
    struct kit *kit;
    unsigned first, admitted;
};

enum { RACED = 24 };

static void *reserve_many(void *context)
{
    struct client *client = context;
    for (unsigned i = 0; i < RACED; i++)
        client->admitted +=
            kit_reserve(client->kit, "a", client->first + i, 40, 10) == ST_OK;
    return NULL;
}

static void ledgers_that_race_admit_as_much_as_one(void **state)
{
    (void)state;
    struct pair pair = make_pair();
    struct client clients[2] = {{&pair.a, 1000, 0}, {&pair.b, 2000, 0}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, reserve_many, &clients[i]),
                         0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    struct kit alone = kit_open(":memory:");
    unsigned most = 0;
    assert_int_equal(kit_grant(&alone, "a", 2, 1e-5, 0), ST_OK);
    while (kit_reserve(&alone, "a", most, 40, 10) == ST_OK)
        most++;
    kit_close(&alone);
    assert_true(most < 2 * RACED);
    assert_int_equal(clients[0].admitted + clients[1].admitted, most);
    assert_both_know_the_same(&pair);
    end_pair(&pair);
}

static void a_store_that_is_not_shared_is_had_alone(void **state)
{
    (void)state;
    struct pair pair = make_pair();
    struct store_server place = postgres_place(&pair.database);
    struct store *store = NULL;
    assert_true(store_shared(pair.a.store));
    assert_int_equal(store_open_server(&store, &place, NULL), ST_IO);
    end_pair(&pair);
    store = postgres_store(&pair.database);
    assert_false(store_shared(store));
    place.shared = true;
    struct store *second = NULL;
    assert_int_equal(store_open_server(&second, &place, NULL), ST_IO);
    store_close(store);
}

/* --- accounts that are closed by a seal --- */

/* Creates datasets a to d of epsilon 2, of which all but d were charged for a job of
 * ten steps, closed by a seal; and two ledgers that have none of them in memory. */
static struct pair make_sealed_pair(struct place *archive)
{
    struct pair pair = {.database = postgres_schema(&server)};
    struct kit alone = kit_take(postgres_store(&pair.database));
    struct seal seal;
    struct error error = {0};
    bool any = false;
    for (unsigned i = 0; i < 4; i++) {
        char name[2] = {(char)('a' + (int)i), 0};
        assert_int_equal(kit_grant(&alone, name, 2, 1e-5, 0), ST_OK);
        if (i == 3)
            break;
        assert_int_equal(kit_reserve(&alone, name, 500 + i, 23.85, 10), ST_OK);
        assert_int_equal(kit_authorise(&alone, 500 + i, 10), ST_OK);
        assert_int_equal(kit_settle(&alone, 500 + i), ST_OK);
    }
    *archive = place_make();
    if (ledger_seal(alone.ledger, archive->folder, &seal, &any, &error) != ST_OK)
        fail_msg("%s", error.text);
    kit_close(&alone);
    pair.a = kit_take(postgres_shared_store(&pair.database));
    pair.b = kit_take(postgres_shared_store(&pair.database));
    assert_int_equal(ledger_accounts_in_memory(pair.a.ledger), 0);
    assert_int_equal(ledger_accounts_in_memory(pair.b.ledger), 0);
    return pair;
}

static void an_account_is_loaded_in_the_turn_of_whoever_needs_it(void **state)
{
    (void)state;
    enum { TRIES = 40 };
    struct place archive;
    struct pair pair = make_sealed_pair(&archive);
    unsigned admitted = 0;
    for (unsigned i = 0; i < TRIES; i++) {
        struct kit *kit = i % 2 == 0 ? &pair.a : &pair.b;
        enum status status = kit_reserve(kit, "a", i, 23.85, 10);
        assert_int_equal(status, i == admitted ? status : ST_BUDGET_HELD);
        admitted += status == ST_OK;
        assert_int_equal(ledger_accounts_in_memory(kit->ledger), 1);
    }
    /* A single ledger that knows the earlier job admits as many. */
    struct kit alone = kit_open(":memory:");
    assert_int_equal(kit_grant(&alone, "a", 2, 1e-5, 0), ST_OK);
    for (unsigned i = 0; i < TRIES; i++)
        assert_int_equal(kit_reserve(&alone, "a", i, 23.85, 10),
                         i < admitted + 1 ? ST_OK : ST_BUDGET_HELD);
    kit_close(&alone);
    assert_both_know_the_same(&pair);
    /* Another ledger writes about an account that this one has not loaded. */
    assert_int_equal(kit_reserve(&pair.a, "b", 90, 23.85, 10), ST_OK);
    assert_int_equal(ledger_follow(pair.b.ledger, NULL), ST_OK);
    assert_int_equal(ledger_accounts_in_memory(pair.b.ledger), 2);
    struct balance a = kit_balance(&pair.a, "b"), b = kit_balance(&pair.b, "b");
    assert_same_balance(&a, &b);
    /* An account that is only in the store cannot be granted again. */
    const struct dataset_id d = kit_dataset("d"), c = kit_dataset("c");
    const struct grant grant = {RELATION_ZERO_OUT,   2, 1e-5, 0, {0, 0},
                                PRIVACY_UNIT_RECORD, 0};
    const struct ledger_promise promise = {&c, &grant, &principal_local, NULL};
    struct store_tx *tx = kit_begin(&pair.b);
    assert_int_equal(ledger_grant(pair.b.ledger, tx, &promise, NULL),
                     ST_ALREADY_EXISTS);
    assert_int_equal(kit_end(tx, ST_INVALID), ST_INVALID);
    assert_int_equal(kit_grant(&pair.b, "e", 2, 1e-5, 0), ST_OK);
    assert_false(ledger_in_memory(pair.b.ledger, &d));
    end_pair(&pair);
    place_remove(&archive);
}

/* A view has no transaction: it uses its own connection while another transaction is
 * open, and after the server has ended every connection. */
static void a_view_loads_an_account_by_a_connection_of_its_own(void **state)
{
    (void)state;
    struct place archive;
    struct pair pair = make_sealed_pair(&archive);
    struct store_tx *tx = kit_begin(&pair.a);
    assert_false(kit_balance(&pair.a, "c").frozen);
    store_rollback(tx);
    assert_int_equal(
        postgres_sql(&server, &pair.database,
                     "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE"
                     " pid<>pg_backend_pid() AND backend_type='client backend'"),
        0);
    assert_false(kit_balance(&pair.a, "d").frozen);
    assert_int_equal(ledger_accounts_in_memory(pair.a.ledger), 2);
    end_pair(&pair);
    place_remove(&archive);
}

static void an_altered_sum_ends_whoever_asks_for_it(void **state)
{
    (void)state;
    static const char *const all[] = {
        "UPDATE sealed_sum SET body=substr(body,1,40)||decode(repeat('00',400),'hex')||"
        "substr(body,441) WHERE dataset='c'",
        "DELETE FROM sealed_sum WHERE dataset='c'",
    };
    for (unsigned i = 0; i < 4; i++) {
        struct place archive;
        struct balance balance;
        struct verify_report report;
        const struct dataset_id c = kit_dataset("c");
        struct pair pair = make_sealed_pair(&archive);
        assert_int_equal(postgres_sql(&server, &pair.database, all[i % 2]), 0);
        if (i < 2)
            assert_int_equal(kit_reserve(&pair.b, "c", 90, 200, 1), ST_CORRUPT);
        else
            assert_int_equal(ledger_balance(pair.b.ledger, &c, &balance, NULL),
                             ST_CORRUPT);
        assert_true(store_poisoned(pair.b.store));
        assert_int_equal(verify_store(pair.a.store, &report, NULL), ST_CORRUPT);
        kit_close(&pair.b);
        kit_close(&pair.a);
        place_remove(&archive);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_one_has_reserved_the_other_does_not_give_away),
        cmocka_unit_test(an_account_is_loaded_in_the_turn_of_whoever_needs_it),
        cmocka_unit_test(a_view_loads_an_account_by_a_connection_of_its_own),
        cmocka_unit_test(an_altered_sum_ends_whoever_asks_for_it),
        cmocka_unit_test(the_same_job_and_the_same_dataset_are_taken_once),
        cmocka_unit_test(
            steps_that_another_has_authorised_are_charged_by_whoever_settles),
        cmocka_unit_test(whoever_compares_rows_knows_every_mark_that_they_go_with),
        cmocka_unit_test(who_loses_the_connection_while_it_follows_reads_again),
        cmocka_unit_test(no_steps_are_authorised_behind_the_end_of_a_job),
        cmocka_unit_test(no_job_ends_with_other_steps_than_its_mark_says),
        cmocka_unit_test(each_of_several_ends_charges_what_another_has_authorised),
        cmocka_unit_test(an_epoch_that_another_has_frozen_is_closed_for_all),
        cmocka_unit_test(a_start_forgets_the_receipts_of_daemons_that_were_fenced),
        cmocka_unit_test(a_head_that_another_has_moved_is_not_taken_for_a_lost_one),
        cmocka_unit_test(
            what_another_has_authorised_is_missed_when_the_server_was_set_back),
        cmocka_unit_test(an_entry_that_no_program_wrote_ends_the_daemon_that_reads_it),
        cmocka_unit_test(a_dead_daemons_job_is_charged_what_it_was_allowed),
        cmocka_unit_test(ledgers_that_race_admit_as_much_as_one),
        cmocka_unit_test(a_store_that_is_not_shared_is_had_alone),
    };
    if (!postgres_make_for_stores(&server, true))
        return 0;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_remove(&server);
    return failed;
}
