#include "store/rows/ledger_rows.h"

#include <stdio.h>

#include "store/sql/statement.h"

enum { STATEMENT_SIZE = 256 };

enum status ledger_row_insert(struct store_tx *tx, const struct ledger_row *row,
                              struct error *error)
{
    struct statement statement;
    statement_open(
        &statement, store_tx_database(tx),
        "INSERT INTO ledger(seq,dataset,epoch,job,kind,curve,released,meta,actor,"
        "time_ms,prev,hash) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)");
    statement_bind_int(&statement, row->seq);
    statement_bind_text(&statement, row->dataset[0] != '\0' ? row->dataset : NULL);
    statement_bind_int(&statement, row->epoch);
    statement_bind_text(&statement, row->job);
    statement_bind_text(&statement, row->kind);
    statement_bind_blob(&statement, row->curve, row->curve_size);
    statement_bind_blob(&statement, row->released, row->curve_size);
    statement_bind_text(&statement, row->meta);
    statement_bind_text(&statement, row->actor);
    statement_bind_time(&statement, row->time_ms);
    statement_bind_blob(&statement, row->prev, SHA256_SIZE);
    statement_bind_blob(&statement, row->hash, SHA256_SIZE);
    return statement_run(&statement, error);
}

static void read_row(struct statement *statement, struct ledger_row *row)
{
    *row = (struct ledger_row){.seq = statement_int(statement, 0),
                               .dataset = statement_text(statement, 1),
                               .epoch = statement_int(statement, 2),
                               .job = statement_text(statement, 3),
                               .kind = statement_text(statement, 4),
                               .curve = statement_blob(statement, 5),
                               .curve_size = statement_blob_size(statement, 5),
                               .released = statement_blob(statement, 6),
                               .meta = statement_text(statement, 7),
                               .actor = statement_text(statement, 8),
                               .time_ms = statement_time(statement, 9)};
    statement_copy(statement, 10, row->prev, sizeof row->prev);
    statement_copy(statement, 11, row->hash, sizeof row->hash);
    if (row->released != NULL)
        statement_expect_size(statement, 6, row->curve_size);
}

enum status ledger_rows_count(struct store_tx *tx, const char *dataset, uint64_t after,
                              uint64_t *count, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT count(*) FROM ledger WHERE dataset=? AND seq>?");
    statement_bind_text(&statement, dataset);
    statement_bind_int(&statement, after);
    if (statement_next(&statement))
        *count = statement_int(&statement, 0);
    return statement_end(&statement, error);
}

enum status ledger_rows_extent(struct store_tx *tx, struct ledger_extent *extent,
                               struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT (SELECT coalesce(max(seq),0) FROM ledger),"
                   "(SELECT count(*) FROM \"freeze\")+"
                   "(SELECT count(*) FROM timeline)");
    if (statement_next(&statement)) {
        extent->entries = statement_int(&statement, 0);
        extent->freezes = statement_int(&statement, 1);
    }
    return statement_end(&statement, error);
}

/* Walks the entries that an open statement finds, and ends it. */
static enum status walk_entries(struct statement *statement,
                                bool (*visit)(void *context,
                                              const struct ledger_row *row),
                                void *context, struct error *error)
{
    struct ledger_row row;
    while (statement_next(statement)) {
        read_row(statement, &row);
        if (!statement_good(statement) || !visit(context, &row))
            break;
    }
    return statement_end(statement, error);
}

enum status ledger_row_seal(struct store_tx *tx,
                            bool (*visit)(void *context, const struct ledger_row *row),
                            void *context, struct error *error)
{
    struct statement statement;
    statement_open(
        &statement, store_tx_database(tx),
        "SELECT seq,'',epoch,job,kind,curve,released,meta,actor,time_ms,prev,"
        "hash FROM ledger WHERE kind='SEAL' ORDER BY seq DESC LIMIT 1");
    return walk_entries(&statement, visit, context, error);
}

enum status ledger_rows_walk(struct store_tx *tx, const struct ledger_range *range,
                             bool (*visit)(void *context, const struct ledger_row *row),
                             void *context, struct error *error)
{
    char sql[STATEMENT_SIZE];
    struct statement statement;
    snprintf(sql, sizeof sql,
             "SELECT seq,coalesce(dataset,''),epoch,job,kind,curve,released,meta,actor,"
             "time_ms,prev,hash FROM ledger WHERE seq>? AND seq<?%s%s ORDER BY seq%s",
             range->dataset != NULL ? " AND dataset=?" : "",
             range->since_ms > 0 ? " AND time_ms>=?" : "",
             range->newest_first ? " DESC" : "");
    statement_open(&statement, store_tx_database(tx), sql);
    statement_bind_int(&statement, range->after);
    statement_bind_int(&statement, range->before > 0 ? range->before : INT64_MAX);
    if (range->dataset != NULL)
        statement_bind_text(&statement, range->dataset);
    if (range->since_ms > 0)
        statement_bind_time(&statement, range->since_ms);
    return walk_entries(&statement, visit, context, error);
}

enum status mark_row_raise(struct store_tx *tx, const char *job, uint64_t authorised,
                           struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "INSERT INTO mark(job,authorised) VALUES(?,?)"
                   " ON CONFLICT(job) DO UPDATE SET authorised=excluded.authorised");
    statement_bind_text(&statement, job);
    statement_bind_int(&statement, authorised);
    return statement_run(&statement, error);
}

/* Walks the marks that an open statement finds, and ends it. */
static enum status walk_marks(struct statement *statement,
                              bool (*visit)(void *context, const char *job,
                                            uint64_t authorised),
                              void *context, struct error *error)
{
    while (statement_next(statement)) {
        const char *job = statement_text(statement, 0);
        if (!statement_good(statement) ||
            !visit(context, job, statement_int(statement, 1)))
            break;
    }
    return statement_end(statement, error);
}

enum status mark_rows_walk(struct store_tx *tx,
                           bool (*visit)(void *context, const char *job,
                                         uint64_t authorised),
                           void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT job,authorised FROM mark ORDER BY job");
    return walk_marks(&statement, visit, context, error);
}

enum status mark_rows_walk_after(struct store_tx *tx, uint64_t after,
                                 bool (*visit)(void *context, const char *job,
                                               uint64_t authorised),
                                 void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT job,authorised FROM mark WHERE job IN"
                   "(SELECT job FROM ledger WHERE seq>?) ORDER BY job");
    statement_bind_int(&statement, after);
    return walk_marks(&statement, visit, context, error);
}

enum status mark_row_find(struct store_tx *tx, const char *job, uint64_t *authorised,
                          struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT authorised FROM mark WHERE job=?");
    statement_bind_text(&statement, job);
    *authorised = statement_next(&statement) ? statement_int(&statement, 0) : 0;
    return statement_end(&statement, error);
}

enum status freeze_row_insert(struct store_tx *tx, const struct freeze_row *row,
                              struct error *error)
{
    struct statement statement;
    statement_open(
        &statement, store_tx_database(tx),
        "INSERT INTO \"freeze\"(dataset,epoch,seq,hash,time_ms) VALUES(?,?,?,?,?)");
    statement_bind_text(&statement, row->dataset);
    statement_bind_int(&statement, row->epoch);
    statement_bind_int(&statement, row->seq);
    statement_bind_blob(&statement, row->hash, SHA256_SIZE);
    statement_bind_time(&statement, row->time_ms);
    return statement_run(&statement, error);
}

enum status freeze_rows_walk(struct store_tx *tx,
                             bool (*visit)(void *context, const struct freeze_row *row),
                             void *context, struct error *error)
{
    struct statement statement;
    statement_open(
        &statement, store_tx_database(tx),
        "SELECT dataset,epoch,seq,hash,time_ms FROM \"freeze\" ORDER BY dataset,epoch");
    while (statement_next(&statement)) {
        struct freeze_row row = {.dataset = statement_text(&statement, 0),
                                 .epoch = statement_int(&statement, 1),
                                 .seq = statement_int(&statement, 2),
                                 .time_ms = statement_time(&statement, 4)};
        statement_copy(&statement, 3, row.hash, sizeof row.hash);
        if (!statement_good(&statement) || !visit(context, &row))
            break;
    }
    return statement_end(&statement, error);
}

enum status timeline_row_insert(struct store_tx *tx, const struct timeline_row *row,
                                struct error *error)
{
    struct statement statement;
    statement_open(
        &statement, store_tx_database(tx),
        "INSERT INTO timeline(dataset,epoch,seq,hash,shared,seen,most,time_ms)"
        " VALUES(?,?,?,?,?,?,?,?)");
    statement_bind_text(&statement, row->dataset);
    statement_bind_int(&statement, row->epoch);
    statement_bind_int(&statement, row->seq);
    statement_bind_blob(&statement, row->hash, SHA256_SIZE);
    statement_bind_int(&statement, row->shared);
    statement_bind_int(&statement, row->seen);
    statement_bind_blob(&statement, row->most, row->most_size);
    statement_bind_time(&statement, row->time_ms);
    return statement_run(&statement, error);
}

enum status timeline_rows_walk(struct store_tx *tx,
                               bool (*visit)(void *context,
                                             const struct timeline_row *row),
                               void *context, struct error *error)
{
    struct statement statement;
    statement_open(
        &statement, store_tx_database(tx),
        "SELECT dataset,epoch,seq,hash,shared,seen,most,time_ms FROM timeline"
        " ORDER BY time_ms,hash,dataset,epoch");
    while (statement_next(&statement)) {
        struct timeline_row row = {.dataset = statement_text(&statement, 0),
                                   .epoch = statement_int(&statement, 1),
                                   .seq = statement_int(&statement, 2),
                                   .shared = statement_int(&statement, 4),
                                   .seen = statement_int(&statement, 5) != 0,
                                   .most = statement_blob(&statement, 6),
                                   .most_size = statement_blob_size(&statement, 6),
                                   .time_ms = statement_time(&statement, 7)};
        statement_copy(&statement, 3, row.hash, sizeof row.hash);
        if (!statement_good(&statement) || !visit(context, &row))
            break;
    }
    return statement_end(&statement, error);
}
