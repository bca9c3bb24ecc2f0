#include "store/rows/policy_proposal_rows.h"
#include "store/sql/statement.h"

enum status policy_proposal_row_set(struct store_tx *tx,
                                    const struct policy_proposal_row *row,
                                    struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "INSERT INTO policy_proposal(id,policy,proposed_by,propose_ms)"
                   " VALUES(?,?,?,?) ON CONFLICT(id) DO UPDATE SET"
                   " policy=excluded.policy,proposed_by=excluded.proposed_by,"
                   "propose_ms=excluded.propose_ms");
    statement_bind_text(&statement, row->id);
    statement_bind_text(&statement, row->policy);
    statement_bind_text(&statement, row->proposed_by);
    statement_bind_time(&statement, row->propose_ms);
    return statement_run(&statement, error);
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

#define COLUMNS "SELECT id,policy,proposed_by,propose_ms FROM policy_proposal"

/* Walks the rows that an open statement finds, and ends it. */
static enum status walk(struct statement *statement,
                        bool (*visit)(void *context,
                                      const struct policy_proposal_row *row),
                        void *context, struct error *error)
{
    while (statement_next(statement)) {
        const struct policy_proposal_row row = {
            .id = statement_text(statement, 0),
            .policy = statement_text(statement, 1),
            .proposed_by = statement_text(statement, 2),
            .propose_ms = statement_time(statement, 3)};
        if (!statement_good(statement) || !visit(context, &row))
            break;
    }
    return statement_end(statement, error);
}

enum status policy_proposal_rows_walk(
    struct store_tx *tx,
    bool (*visit)(void *context, const struct policy_proposal_row *row), void *context,
    struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   COLUMNS " ORDER BY propose_ms,id");
    return walk(&statement, visit, context, error);
}

enum status policy_proposal_row_find(
    struct store_tx *tx, const char *id,
    bool (*visit)(void *context, const struct policy_proposal_row *row), void *context,
    struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), COLUMNS " WHERE id=?");
    statement_bind_text(&statement, id);
    return walk(&statement, visit, context, error);
}
