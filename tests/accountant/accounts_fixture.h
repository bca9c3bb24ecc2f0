/*
 * accounts_fixture.h - a ledger of many datasets with five entries each: a GRANT, and
 * two jobs that were charged. Statements that are prepared once write the rows and
 * bypass the triggers. Include after tests/expect.h.
 */
#ifndef TESTS_ACCOUNTANT_ACCOUNTS_FIXTURE_H
#define TESTS_ACCOUNTANT_ACCOUNTS_FIXTURE_H

#include <sqlite3.h>

#include "accountant/pricing/filter.h"
#include "tests/accountant/ledger_fixture.h"

enum {
    OPEN_EVERY = 500, /* one in this many datasets has an open reservation */
    KINDS = 7,        /* of jobs, by cost */
    STEPS = 10,
};

struct filling { /* of a database, by statements that are prepared once */
    sqlite3 *db;
    sqlite3_stmt *dataset, *entry, *mark;
    struct ledger_entry_name head;
    uint8_t capacity[ENTRY_CURVE_SIZE], none[ENTRY_CURVE_SIZE],
        curves[KINDS][ENTRY_CURVE_SIZE];
    char *grant, *reserves[KINDS];
    unsigned jobs;
};

static inline sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    return statement;
}

static inline void run_bound(sqlite3_stmt *statement)
{
    assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
    sqlite3_reset(statement);
}

static inline struct filling begin_filling(const char *path)
{
    struct filling filling = {0};
    struct filter filter;
    struct curve curve = {0};
    const struct grant grant = {RELATION_ZERO_OUT,   8, 1e-5, 0, {0, 0},
                                PRIVACY_UNIT_RECORD, 0};
    assert_int_equal(filter_of(&filter, &grant, NULL), ST_OK);
    entry_capacity(&curve, &filter);
    entry_curve_encode(filling.capacity, &curve);
    filling.grant = entry_grant_render(&grant, &filter, NULL, 0);
    for (unsigned i = 0; i < KINDS; i++) {
        struct mechanism m = kit_gaussian(40 + i, STEPS);
        assert_int_equal(filter_charge(&curve, &m, STEPS, NULL), ST_OK);
        entry_curve_encode(filling.curves[i], &curve);
        filling.reserves[i] = entry_reserve_render(&m, PARTS_UNNAMED, NULL);
        mechanism_fini(&m);
    }
    assert_int_equal(sqlite3_open(path, &filling.db), SQLITE_OK);
    sqlite3_db_config(filling.db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
    assert_int_equal(
        sqlite3_exec(filling.db, "PRAGMA cache_size=-300000;BEGIN", NULL, NULL, NULL),
        SQLITE_OK);
    filling.dataset =
        prepare(filling.db,
                "INSERT INTO dataset(id,project,created_by,version,state,spec,detail,"
                "create_ms) VALUES(?,'default','local',1,'CREATED','{}','{}',0)");
    filling.entry = prepare(
        filling.db, "INSERT INTO ledger VALUES(?,?,1,?,?,?,?,?,'local',86400000,?,?)");
    filling.mark = prepare(filling.db, "INSERT INTO mark VALUES(?,10)");
    return filling;
}

static inline void put(struct filling *filling, struct ledger_row *row)
{
    sqlite3_stmt *to = filling->entry;
    row->seq = filling->head.seq + 1;
    row->epoch = 1;
    row->curve_size = ENTRY_CURVE_SIZE;
    row->actor = "local";
    row->time_ms = 86400000;
    memcpy(row->prev, filling->head.hash, SHA256_SIZE);
    entry_hash(row->hash, row);
    sqlite3_bind_int64(to, 1, (sqlite3_int64)row->seq);
    sqlite3_bind_text(to, 2, row->dataset, -1, SQLITE_STATIC);
    sqlite3_bind_text(to, 3, row->job, -1, SQLITE_STATIC);
    sqlite3_bind_text(to, 4, row->kind, -1, SQLITE_STATIC);
    sqlite3_bind_blob(to, 5, row->curve, ENTRY_CURVE_SIZE, SQLITE_STATIC);
    sqlite3_bind_blob(to, 6, row->released,
                      row->released != NULL ? ENTRY_CURVE_SIZE : 0, SQLITE_STATIC);
    sqlite3_bind_text(to, 7, row->meta, -1, SQLITE_STATIC);
    sqlite3_bind_blob(to, 8, row->prev, SHA256_SIZE, SQLITE_STATIC);
    sqlite3_bind_blob(to, 9, row->hash, SHA256_SIZE, SQLITE_STATIC);
    run_bound(to);
    filling->head.seq = row->seq;
    memcpy(filling->head.hash, row->hash, SHA256_SIZE);
}

/* Adds a job of a kind, which ends or stays open. */
static inline void put_job(struct filling *filling, const char *dataset, unsigned kind,
                           bool ends)
{
    const struct job_id job = kit_job(++filling->jobs);
    struct ledger_row row = {.dataset = dataset,
                             .job = job.text,
                             .kind = "RESERVE",
                             .meta = filling->reserves[kind],
                             .curve = filling->curves[kind]};
    put(filling, &row);
    if (!ends)
        return;
    const struct entry_commit commit = {.reserve_seq = row.seq, .steps = STEPS};
    char *meta = entry_commit_render(&commit);
    row.kind = "COMMIT";
    row.meta = meta;
    row.released = filling->none;
    put(filling, &row);
    sqlite3_bind_text(filling->mark, 1, job.text, -1, SQLITE_STATIC);
    run_bound(filling->mark);
    free(meta);
}

static inline void name_dataset(char name[16], unsigned number)
{
    snprintf(name, 16, "d%06u", number);
}

/* Adds five entries for each dataset, and a sixth for some, to an empty database that
 * is closed. */
static inline void accounts_fill(const char *path, unsigned datasets)
{
    struct filling filling = begin_filling(path);
    for (unsigned i = 0; i < datasets; i++) {
        char name[16];
        name_dataset(name, i);
        sqlite3_bind_text(filling.dataset, 1, name, -1, SQLITE_STATIC);
        run_bound(filling.dataset);
        struct ledger_row row = {.dataset = name,
                                 .job = "",
                                 .kind = "GRANT",
                                 .meta = filling.grant,
                                 .curve = filling.capacity};
        put(&filling, &row);
        put_job(&filling, name, i % KINDS, true);
        put_job(&filling, name, i / KINDS % KINDS, true);
        if (i % OPEN_EVERY == OPEN_EVERY - 1)
            put_job(&filling, name, 0, false);
    }
    sqlite3_finalize(filling.dataset);
    sqlite3_finalize(filling.entry);
    sqlite3_finalize(filling.mark);
    assert_int_equal(sqlite3_exec(filling.db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(filling.db);
    free(filling.grant);
    for (unsigned i = 0; i < KINDS; i++)
        free(filling.reserves[i]);
}

#endif
