#include "store/rows/policy_proposal_rows.h"

#include "store/rows/row_columns.h"

#define ROW struct policy_proposal_row
static const struct row_column columns[] = {
    COLUMN(id), CHANGING(policy), CHANGING(proposed_by), CHANGING(propose_ms)};
static const struct row_table table = ROW_TABLE("policy_proposal", columns);

enum status policy_proposal_row_set(struct store_tx *tx,
                                    const struct policy_proposal_row *row,
                                    struct error *error)
{
    return row_put(tx, &table, row, error);
}

enum status policy_proposal_row_delete(struct store_tx *tx, const char *id,
                                       struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "DELETE FROM policy_proposal WHERE id=?");
    statement_bind_text(&statement, id);
    return statement_run(&statement, error);
}

/* Walks the rows that an open statement finds, and ends it. */
static enum status walk(struct statement *statement,
                        bool (*visit)(void *context,
                                      const struct policy_proposal_row *row),
                        void *context, struct error *error)
{
    struct policy_proposal_row row = {0};
    while (row_next(statement, &table, &row) && visit(context, &row))
        continue;
    return statement_end(statement, error);
}

enum status policy_proposal_rows_walk(
    struct store_tx *tx,
    bool (*visit)(void *context, const struct policy_proposal_row *row), void *context,
    struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table, " ORDER BY propose_ms,id");
    return walk(&statement, visit, context, error);
}

enum status policy_proposal_row_find(
    struct store_tx *tx, const char *id,
    bool (*visit)(void *context, const struct policy_proposal_row *row), void *context,
    struct error *error)
{
    struct statement statement;
    rows_open(&statement, tx, &table, " WHERE id=?");
    statement_bind_text(&statement, id);
    return walk(&statement, visit, context, error);
}
