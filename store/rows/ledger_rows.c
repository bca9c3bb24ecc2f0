#include "store/rows/ledger_rows.h"

#include <stdio.h>

#include "store/rows/row_columns.h"

enum { REST_SIZE = 128 };

#define ROW struct ledger_row
static const struct row_column entry_columns[] = {
    COLUMN(seq),
    TEXT_OR_NULL(dataset),
    COLUMN(epoch),
    COLUMN(job),
    COLUMN(kind),
    BLOB(ROW_BLOB, ROW_FIXED, curve, curve_size, 1),
    BLOB(ROW_BLOB_OR_NULL, ROW_FIXED, released, curve_size, 1),
    COLUMN(meta),
    COLUMN(actor),
    COLUMN(time_ms),
    COLUMN(prev),
    COLUMN(hash)};
#undef ROW
#define ROW struct freeze_row
static const struct row_column freeze_columns[] = {
    COLUMN(dataset), COLUMN(epoch), COLUMN(seq), COLUMN(hash), COLUMN(time_ms)};
#undef ROW
#define ROW struct timeline_row
static const struct row_column timeline_columns[] = {
    COLUMN(dataset),
    COLUMN(epoch),
    COLUMN(seq),
    COLUMN(hash),
    COLUMN(shared),
    COLUMN(seen),
    BLOB(ROW_BLOB, ROW_FIXED, most, most_size, 1),
    COLUMN(time_ms)};

static const struct row_table entries = ROW_TABLE("ledger", entry_columns),
                              freezes = ROW_TABLE("freeze", freeze_columns),
                              timelines = ROW_TABLE("timeline", timeline_columns);

enum status ledger_row_insert(struct store_tx *tx, const struct ledger_row *row,
                              struct error *error)
{
    return row_insert(tx, &entries, row, error);
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
    struct ledger_row row = {0};
    while (row_next(statement, &entries, &row) && visit(context, &row))
        continue;
    return statement_end(statement, error);
}

enum status ledger_row_seal(struct store_tx *tx,
                            bool (*visit)(void *context, const struct ledger_row *row),
                            void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &entries, " WHERE kind='SEAL' ORDER BY seq DESC LIMIT 1");
    return walk_entries(&statement, visit, context, error);
}

enum status ledger_rows_walk(struct store_tx *tx, const struct ledger_range *range,
                             bool (*visit)(void *context, const struct ledger_row *row),
                             void *context, struct error *error)
{
    char rest[REST_SIZE];
    struct statement statement;
    snprintf(rest, sizeof rest, " WHERE seq>? AND seq<?%s%s ORDER BY seq%s",
             range->dataset != NULL ? " AND dataset=?" : "",
             range->since_ms > 0 ? " AND time_ms>=?" : "",
             range->newest_first ? " DESC" : "");
    rows_open(&statement, tx, &entries, rest);
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
    return row_insert(tx, &freezes, row, error);
}

enum status freeze_rows_walk(struct store_tx *tx,
                             bool (*visit)(void *context, const struct freeze_row *row),
                             void *context, struct error *error)
{
    struct statement statement;
    struct freeze_row row = {0};
    rows_open(&statement, tx, &freezes, " ORDER BY dataset,epoch");
    while (row_next(&statement, &freezes, &row) && visit(context, &row))
        continue;
    return statement_end(&statement, error);
}

enum status timeline_row_insert(struct store_tx *tx, const struct timeline_row *row,
                                struct error *error)
{
    return row_insert(tx, &timelines, row, error);
}

enum status timeline_rows_walk(struct store_tx *tx,
                               bool (*visit)(void *context,
                                             const struct timeline_row *row),
                               void *context, struct error *error)
{
    struct statement statement;
    struct timeline_row row = {0};
    rows_open(&statement, tx, &timelines, " ORDER BY time_ms,hash,dataset,epoch");
    while (row_next(&statement, &timelines, &row) && visit(context, &row))
        continue;
    return statement_end(&statement, error);
}
