/* Goal: verification finds every kind of forged or damaged entry and names it. Method:
 * a store on disk is altered with its triggers bypassed, once leaving the chain broken
 * and once with every hash recomputed, so that only prices and balances can show the
 * change. */
#include "accountant/audit/verify.h"

#include <sqlite3.h>

#include "tests/expect.h"
#include "accountant/ledger/entry.h"
#include "accountant/ledger/ledger_view.h"
#include "tests/accountant/ledger_fixture.h"
#include "tests/store/place_fixture.h"

/* seq: 1 GRANT a, 2 GRANT b, 3-5 RESERVE jobs 1-3 on a, 6 RESERVE job 4 on b, 7 COMMIT
 * job 2 with 4 of 10 steps. */
static struct place make_store(void)
{
    struct place place = place_make();
    struct kit kit = kit_open(place.path);
    assert_int_equal(kit_grant(&kit, "a", 2, 1e-5, 0), ST_OK);
    assert_int_equal(kit_grant(&kit, "b", 4, 1e-6, 5), ST_OK);
    for (unsigned job = 1; job <= 3; job++)
        assert_int_equal(kit_reserve(&kit, "a", job, 23.85, 10), ST_OK);
    assert_int_equal(kit_reserve(&kit, "b", 4, 31.7, 3), ST_OK);
    assert_int_equal(kit_authorise(&kit, 2, 4), ST_OK);
    assert_int_equal(kit_authorise(&kit, 4, 1), ST_OK);
    assert_int_equal(kit_settle(&kit, 2), ST_OK);
    kit_close(&kit);
    return place;
}

static sqlite3 *open_behind(const struct place *place)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(place->path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL),
        SQLITE_OK);
    return db;
}

/* Recomputes prev and hash of every entry from its present contents. */
static void make_hashes(sqlite3 *db)
{
    sqlite3_stmt *all, *set;
    uint8_t head[SHA256_SIZE] = {0};
    sqlite3_prepare_v2(db,
                       "SELECT seq,dataset,epoch,job,kind,curve,released,meta,actor,"
                       "time_ms FROM ledger ORDER BY seq",
                       -1, &all, NULL);
    sqlite3_prepare_v2(db, "UPDATE ledger SET prev=?,hash=? WHERE seq=?", -1, &set,
                       NULL);
    while (sqlite3_step(all) == SQLITE_ROW) {
        struct ledger_row row = {
            .seq = (uint64_t)sqlite3_column_int64(all, 0),
            .dataset = (const char *)sqlite3_column_text(all, 1),
            .epoch = (uint64_t)sqlite3_column_int64(all, 2),
            .job = (const char *)sqlite3_column_text(all, 3),
            .kind = (const char *)sqlite3_column_text(all, 4),
            .curve = sqlite3_column_blob(all, 5),
            .curve_size = (size_t)sqlite3_column_bytes(all, 5),
            .released = sqlite3_column_blob(all, 6),
            .meta = (const char *)sqlite3_column_text(all, 7),
            .actor = (const char *)sqlite3_column_text(all, 8),
            .time_ms = sqlite3_column_int64(all, 9),
        };
        memcpy(row.prev, head, sizeof head);
        entry_hash(row.hash, &row);
        memcpy(head, row.hash, sizeof head);
        sqlite3_bind_blob(set, 1, row.prev, SHA256_SIZE, SQLITE_TRANSIENT);
        sqlite3_bind_blob(set, 2, row.hash, SHA256_SIZE, SQLITE_TRANSIENT);
        sqlite3_bind_int64(set, 3, (sqlite3_int64)row.seq);
        assert_int_equal(sqlite3_step(set), SQLITE_DONE);
        sqlite3_reset(set);
    }
    sqlite3_finalize(all);
    sqlite3_finalize(set);
}

/* Multiplies the double at index of seq's curve by factor. */
static void scale_curve(sqlite3 *db, int seq, size_t index, double factor)
{
    sqlite3_stmt *get, *set;
    double curve[CURVE_ORDERS];
    sqlite3_prepare_v2(db, "SELECT curve FROM ledger WHERE seq=?", -1, &get, NULL);
    sqlite3_bind_int(get, 1, seq);
    assert_int_equal(sqlite3_step(get), SQLITE_ROW);
    memcpy(curve, sqlite3_column_blob(get, 0), sizeof curve);
    sqlite3_finalize(get);
    curve[index] *= factor;
    sqlite3_prepare_v2(db, "UPDATE ledger SET curve=? WHERE seq=?", -1, &set, NULL);
    sqlite3_bind_blob(set, 1, curve, sizeof curve, SQLITE_TRANSIENT);
    sqlite3_bind_int(set, 2, seq);
    assert_int_equal(sqlite3_step(set), SQLITE_DONE);
    sqlite3_finalize(set);
}

static void run(sqlite3 *db, const char *sql)
{
    char *text = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &text) != SQLITE_OK)
        fail_msg("%s: %s", sql, text);
}

static enum status verify(const struct place *place, struct verify_report *report,
                          struct error *error)
{
    struct store *store;
    enum status status = store_open_read(&store, place->path, error);
    if (status != ST_OK)
        return status;
    status = verify_store(store, report, error);
    store_close(store);
    return status;
}

static void expect_wrong(const struct place *place, uint64_t seq, const char *what)
{
    struct verify_report report;
    struct error error = {0};
    assert_int_equal(verify(place, &report, &error), ST_CORRUPT);
    if (report.seq != seq || strstr(error.text, what) == NULL)
        fail_msg("expected entry %d: %s; got %d: %s", (int)seq, what, (int)report.seq,
                 error.text);
}

/* The daemon does not start on it either. */
static void expect_refused(const struct place *place)
{
    struct store *store;
    struct ledger *ledger;
    struct error error = {0};
    assert_int_equal(store_open(&store, place->path, &error), ST_OK);
    assert_int_equal(ledger_open(&ledger, store, &error), ST_CORRUPT);
    store_close(store);
}

static void a_true_store_verifies_beside_its_writer_too(void **state)
{
    (void)state;
    struct place place = make_store();
    struct verify_report report;
    struct error error = {0};
    assert_int_equal(verify(&place, &report, &error), ST_OK);
    assert_int_equal(report.entries, 7);
    assert_int_equal(report.datasets, 2);
    assert_int_equal(report.seq, 0);
    struct kit kit = kit_open(place.path);
    struct ledger_entry_name head;
    ledger_head(kit.ledger, &head);
    assert_memory_equal(&head, &report.head, sizeof head);
    assert_int_equal(kit_reserve(&kit, "b", 9, 100, 1), ST_OK);
    assert_int_equal(verify(&place, &report, &error), ST_OK);
    assert_int_equal(report.entries, 8);
    assert_int_equal(verify_store(kit.store, &report, &error), ST_OK);
    kit_close(&kit);
    place_remove(&place);
}

static void verifying_changes_no_byte(void **state)
{
    (void)state;
    struct place place = make_store();
    struct stat before, after;
    struct verify_report report;
    char path[80];
    assert_int_equal(stat(place.path, &before), 0);
    assert_int_equal(verify(&place, &report, NULL), ST_OK);
    assert_int_equal(stat(place.path, &after), 0);
    assert_true(before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
    assert_true(before.st_size == after.st_size);
    snprintf(path, sizeof path, "%s-wal", place.path);
    assert_int_not_equal(access(path, F_OK), 0);
    snprintf(path, sizeof path, "%s-shm", place.path);
    assert_int_not_equal(access(path, F_OK), 0);
    place_remove(&place);
}

struct forgery {
    const char *sql;
    uint64_t seq;     /* of the entry at fault */
    const char *what; /* the fault that is reported */
};

static void a_broken_chain_is_found_where_it_breaks(void **state)
{
    (void)state;
    static const struct forgery all[] = {
        {"UPDATE ledger SET time_ms=time_ms+1 WHERE seq=3", 3, "its hash"},
        {"UPDATE ledger SET actor='nobody' WHERE seq=7", 7, "its hash"},
        {"UPDATE ledger SET meta=replace(meta,'23.85','93.85') WHERE seq=4", 4,
         "its hash"},
        {"UPDATE ledger SET dataset='b' WHERE seq=5", 5, "its hash"},
        {"UPDATE ledger SET prev=zeroblob(32) WHERE seq=6", 6, "continue the chain"},
        {"DELETE FROM ledger WHERE seq=5", 5, "is missing"},
        {"DELETE FROM ledger WHERE seq=1", 1, "is missing"},
        {"UPDATE ledger SET seq=70 WHERE seq=7", 7, "is missing"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct place place = make_store();
        sqlite3 *db = open_behind(&place);
        run(db, "PRAGMA foreign_keys=OFF");
        run(db, all[i].sql);
        sqlite3_close(db);
        expect_wrong(&place, all[i].seq, all[i].what);
        expect_refused(&place);
        place_remove(&place);
    }
}

static void a_forged_entry_with_true_hashes_is_found(void **state)
{
    (void)state;
    static const struct forgery all[] = {
        /* More budget than the grant's epsilon gives. */
        {"UPDATE ledger SET meta=replace(meta,'\"epsilon\":2,','\"epsilon\":1,')"
         " WHERE seq=1",
         1, "capacities"},
        {"UPDATE ledger SET meta=replace(meta,'[0.75,0.25]','[0.75,0.5]') WHERE seq=1",
         1, "capacities"},
        {"UPDATE ledger SET meta=replace(meta,'\"order\":5','\"order\":6') WHERE seq=2",
         2, "capacities"},
        {"UPDATE ledger SET epoch=2 WHERE seq=2", 2, "out of turn"},
        {"UPDATE ledger SET epoch=2 WHERE seq=6", 6, "epoch"},
        /* A more expensive mechanism under the old price. */
        {"UPDATE ledger SET meta=replace(meta,'23.85','13.85') WHERE seq=4", 4,
         "price"},
        {"UPDATE ledger SET meta=replace(meta,'10]','11]') WHERE seq=4", 4, "form"},
        {"UPDATE ledger SET meta=meta||' ' WHERE seq=4", 4, "form"},
        {"UPDATE ledger SET curve=zeroblob(392) WHERE seq=4", 4, "form"},
        {"UPDATE ledger SET job='job_00000000000000000000000001' WHERE seq=6", 6,
         "another reservation"},
        /* A COMMIT of fewer steps, of another job's reservation, with another rest. */
        {"UPDATE ledger SET meta=replace(meta,'\"steps\":4','\"steps\":3') WHERE seq=7",
         7, "price of its steps"},
        {"UPDATE ledger SET meta=replace(meta,'\"reserve\":4','\"reserve\":3') WHERE "
         "seq=7",
         7, "holds nothing"},
        {"UPDATE ledger SET meta=replace(meta,'\"reserve\":4','\"reserve\":7') WHERE "
         "seq=7",
         7, "no earlier"},
        {"UPDATE ledger SET meta=replace(meta,'\"reserve\":4','\"reserve\":0') WHERE "
         "seq=7",
         7, "no earlier"},
        {"UPDATE ledger SET released=zeroblob(400) WHERE seq=7", 7, "the rest"},
        {"UPDATE mark SET authorised=3 WHERE job LIKE '%2'", 7, "other steps"},
        {"UPDATE mark SET authorised=5 WHERE job LIKE '%2'", 7, "other steps"},
        {"DELETE FROM mark WHERE job LIKE '%2'", 7, "other steps"},
        {"UPDATE mark SET authorised=5 WHERE job LIKE '%4'", 6, "not reserved"},
        {"UPDATE mark SET job='job_0000000000000000000000000X' WHERE job LIKE '%4'", 0,
         "no reservation"},
        {"INSERT INTO freeze VALUES('a',3,1,zeroblob(32),0)", 0,
         "table freeze, row a: a freeze of an unknown epoch"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct place place = make_store();
        sqlite3 *db = open_behind(&place);
        run(db, all[i].sql);
        make_hashes(db);
        sqlite3_close(db);
        expect_wrong(&place, all[i].seq, all[i].what);
        place_remove(&place);
    }
}

static void a_curve_that_is_not_its_price_is_found(void **state)
{
    (void)state;
    static const struct {
        int seq;
        size_t index;
        double factor;
        const char *what;
    } all[] = {
        {1, 21, 1.0001, "capacities"}, /* order 10, the main one of epsilon 2 */
        {3, 0, 0.999999, "price"},     {3, 49, 0.999999, "price"},
        {6, 12, 1.5, "price"},         {6, 12, -1, "form"},
        {6, 12, NAN, "form"},          {7, 30, 0.5, "price"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct place place = make_store();
        sqlite3 *db = open_behind(&place);
        scale_curve(db, all[i].seq, all[i].index, all[i].factor);
        make_hashes(db);
        sqlite3_close(db);
        expect_wrong(&place, (uint64_t)all[i].seq, all[i].what);
        place_remove(&place);
    }
}

/* Appends a RESERVE of m on dataset a, with its true price, but not admitted by the
 * filter. */
static void append_reserve(struct kit *kit, unsigned job, const struct mechanism *m,
                           int64_t time_ms)
{
    struct curve charge = {0};
    uint8_t bytes[ENTRY_CURVE_SIZE];
    struct ledger_entry_name head;
    struct job_id id = kit_job(job);
    char *meta = entry_reserve_render(m, PARTS_UNNAMED, NULL);
    assert_int_equal(filter_charge(&charge, m, mechanism_steps(m), NULL), ST_OK);
    entry_curve_encode(bytes, &charge);
    ledger_head(kit->ledger, &head);
    struct ledger_row row = {.seq = head.seq + 1,
                             .dataset = "a",
                             .epoch = 1,
                             .job = id.text,
                             .kind = "RESERVE",
                             .curve = bytes,
                             .curve_size = sizeof bytes,
                             .meta = meta,
                             .actor = "local",
                             .time_ms = time_ms};
    memcpy(row.prev, head.hash, SHA256_SIZE);
    entry_hash(row.hash, &row);
    struct store_tx *tx = kit_begin(kit);
    assert_int_equal(ledger_row_insert(tx, &row, NULL), ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    free(meta);
}

/* Both orders pass the capacity, and every price is true: only the sum shows it. */
static void an_overspent_budget_is_found(void **state)
{
    (void)state;
    struct place place = make_store();
    struct kit kit = kit_open(place.path);
    struct mechanism m = kit_gaussian(1.1, 1);
    append_reserve(&kit, 50, &m, 0);
    kit_close(&kit);
    expect_wrong(&place, 8, "passes the capacity");
    expect_refused(&place);
    mechanism_fini(&m);
    place_remove(&place);
}

/* The spent sum and the held sum would each fit by itself. */
static void a_budget_that_both_overspend_is_found(void **state)
{
    (void)state;
    struct place place = place_make();
    struct kit kit = kit_open(place.path);
    struct mechanism m = kit_gaussian(2.9, 1);
    assert_int_equal(kit_grant(&kit, "a", 2, 1e-5, 0), ST_OK);
    assert_int_equal(kit_reserve_m(&kit, "a", 1, &m), ST_OK);
    assert_int_equal(kit_authorise(&kit, 1, 1), ST_OK);
    assert_int_equal(kit_settle(&kit, 1), ST_OK);
    assert_int_equal(kit_reserve_m(&kit, "a", 2, &m), ST_BUDGET_EXHAUSTED);
    append_reserve(&kit, 2, &m, 0);
    kit_close(&kit);
    expect_wrong(&place, 4, "passes the capacity");
    expect_refused(&place);
    mechanism_fini(&m);
    place_remove(&place);
}

/* Appends a GRANT of this epoch to dataset a, as large as the first. */
static void append_grant(struct kit *kit, uint64_t epoch)
{
    const struct grant grant = {RELATION_ZERO_OUT,   2, 1e-5, 0, {0, 0},
                                PRIVACY_UNIT_RECORD, 0};
    struct filter filter;
    struct curve capacity = {0};
    uint8_t bytes[ENTRY_CURVE_SIZE];
    struct ledger_entry_name head;
    assert_int_equal(filter_of(&filter, &grant, NULL), ST_OK);
    entry_capacity(&capacity, &filter);
    entry_curve_encode(bytes, &capacity);
    char *meta = entry_grant_render(&grant, &filter, NULL, 0);
    ledger_head(kit->ledger, &head);
    struct ledger_row row = {.seq = head.seq + 1,
                             .dataset = "a",
                             .epoch = epoch,
                             .job = "",
                             .kind = "GRANT",
                             .curve = bytes,
                             .curve_size = sizeof bytes,
                             .meta = meta,
                             .actor = "local"};
    memcpy(row.prev, head.hash, SHA256_SIZE);
    entry_hash(row.hash, &row);
    struct store_tx *tx = kit_begin(kit);
    assert_int_equal(ledger_row_insert(tx, &row, NULL), ST_OK);
    assert_int_equal(store_commit(tx, NULL), ST_OK);
    free(meta);
}

/* A further epoch is valid only if every earlier one was frozen: no one can grant
 * themselves another budget. */
static void a_budget_granted_anew_at_will_is_found(void **state)
{
    (void)state;
    for (uint64_t frozen = 0; frozen <= 2; frozen++) {
        struct place place = place_make();
        struct kit kit = kit_open(place.path);
        assert_int_equal(kit_grant(&kit, "a", 2, 1e-5, 0), ST_OK);
        for (uint64_t epoch = 2; epoch <= 3; epoch++) {
            append_grant(&kit, epoch);
            kit_reopen_ledger(&kit);
        }
        for (uint64_t epoch = 1; epoch <= frozen; epoch++) {
            const struct freeze_row row = {.dataset = "a", .epoch = epoch, .seq = 1};
            struct store_tx *tx = kit_begin(&kit);
            assert_int_equal(freeze_row_insert(tx, &row, NULL), ST_OK);
            assert_int_equal(store_commit(tx, NULL), ST_OK);
        }
        kit_close(&kit);
        if (frozen < 2) {
            expect_wrong(&place, 0, "without a freeze");
        } else {
            struct verify_report report;
            assert_int_equal(verify(&place, &report, NULL), ST_OK);
        }
        place_remove(&place);
    }
}

/* Times are informative: entries are ordered by seq, and no decision depends on a
 * clock. A ledger of an earlier version has times that are not whole seconds. */
static void a_clock_that_jumps_changes_nothing(void **state)
{
    (void)state;
    static const int64_t times[] = {-1, INT64_MAX, 0, INT64_MIN, 4102444800123};
    struct place place = make_store();
    struct kit kit = kit_open(place.path);
    struct mechanism m = kit_gaussian(80.3, 2);
    for (unsigned i = 0; i < 5; i++) {
        append_reserve(&kit, 60 + i, &m, times[i]);
        kit_reopen_ledger(&kit);
        assert_int_equal(kit_authorise(&kit, 60 + i, 1), ST_OK);
        assert_int_equal(kit_settle(&kit, 60 + i), ST_OK);
    }
    struct verify_report report;
    assert_int_equal(verify_store(kit.store, &report, NULL), ST_OK);
    assert_int_equal(report.entries, 17);
    mechanism_fini(&m);
    kit_close(&kit);
    place_remove(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_true_store_verifies_beside_its_writer_too),
        cmocka_unit_test(verifying_changes_no_byte),
        cmocka_unit_test(a_broken_chain_is_found_where_it_breaks),
        cmocka_unit_test(a_forged_entry_with_true_hashes_is_found),
        cmocka_unit_test(a_curve_that_is_not_its_price_is_found),
        cmocka_unit_test(an_overspent_budget_is_found),
        cmocka_unit_test(a_budget_that_both_overspend_is_found),
        cmocka_unit_test(a_budget_granted_anew_at_will_is_found),
        cmocka_unit_test(a_clock_that_jumps_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
