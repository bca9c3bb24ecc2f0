#include "store/rows/sealed_rows.h"

#include "store/rows/row_columns.h"

#define ROW struct sealed_row
static const struct row_column columns[] = {COLUMN(dataset),
                                            BLOB(ROW_BLOB, ROW_FIXED, body, size, 1)};
static const struct row_table table = ROW_TABLE("sealed_sum", columns);

enum status sealed_row_insert(struct store_tx *tx, const struct sealed_row *row,
                              struct error *error)
{
    return row_insert(tx, &table, row, error);
}

static enum status walk(struct statement *statement,
                        bool (*visit)(void *context, const struct sealed_row *row),
                        void *context, struct error *error)
{
    struct sealed_row row = {0};
    while (row_next(statement, &table, &row) && visit(context, &row))
        continue;
    return statement_end(statement, error);
}

enum status sealed_rows_walk(struct store_tx *tx,
                             bool (*visit)(void *context, const struct sealed_row *row),
                             void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table, " ORDER BY dataset");
    return walk(&statement, visit, context, error);
}

enum status sealed_row_up_to(struct store_tx *tx, const char *dataset,
                             bool (*visit)(void *context, const struct sealed_row *row),
                             void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table,
              " WHERE dataset<=?"
              " ORDER BY dataset DESC LIMIT 1");
    statement_bind_text(&statement, dataset);
    return walk(&statement, visit, context, error);
}

enum status sealed_row_after(struct store_tx *tx, const char *dataset,
                             bool (*visit)(void *context, const struct sealed_row *row),
                             void *context, struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table,
              " WHERE dataset>?"
              " ORDER BY dataset LIMIT 1");
    statement_bind_text(&statement, dataset);
    return walk(&statement, visit, context, error);
}

enum status sealed_rows_delete(struct store_tx *tx, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), "DELETE FROM sealed_sum");
    return statement_run(&statement, error);
}

/* Uses the key that begins with the job, which GRANTs and SEALs do not have; seq has a
 * sign so that its own index, which all GRANTs are in, is not walked. */
enum status ledger_rows_of_jobs(struct store_tx *tx, uint64_t before,
                                bool (*visit)(void *context, const char *dataset),
                                void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT dataset FROM ledger WHERE job>'' AND +seq<? ORDER BY job");
    statement_bind_int(&statement, before);
    while (statement_next(&statement)) {
        const char *dataset = statement_text(&statement, 0);
        if (!statement_good(&statement) || !visit(context, dataset))
            break;
    }
    return statement_end(&statement, error);
}

/* A COMMIT comes after its RESERVE, so it still exists when the RESERVE is checked. */
enum status ledger_rows_forget(struct store_tx *tx, uint64_t after, uint64_t before,
                               struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "DELETE FROM ledger WHERE seq>? AND seq<? AND kind<>'GRANT' AND"
                   " NOT(kind='RESERVE' AND NOT EXISTS(SELECT 1 FROM ledger AS ended"
                   " WHERE ended.job=ledger.job AND ended.kind='COMMIT'))");
    statement_bind_int(&statement, after);
    statement_bind_int(&statement, before);
    return statement_run(&statement, error);
}

enum status mark_rows_forget(struct store_tx *tx, uint64_t *count, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "DELETE FROM mark WHERE job IN(SELECT job FROM mark AS m WHERE NOT"
                   " EXISTS(SELECT 1 FROM ledger WHERE ledger.job=m.job) LIMIT 10000)");
    return statement_run_count(&statement, count, error);
}
