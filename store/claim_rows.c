#include "store/table_rows.h"

#include "store/statement.h"

enum status claim_row_take(struct store_tx *tx, uint64_t daemon, struct job_id *job,
                           bool *taken, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "INSERT INTO claim(job,daemon) SELECT id,? FROM job"
                   " WHERE state='QUEUED' AND NOT EXISTS"
                   "(SELECT 1 FROM claim WHERE claim.job=job.id)"
                   " ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED RETURNING job");
    statement_bind_int(&statement, daemon);
    *taken = statement_next(&statement);
    if (*taken)
        statement_copy_text(&statement, 0, job->text, sizeof job->text);
    return statement_end(&statement, error);
}

enum status claim_row_end(struct store_tx *tx, const struct job_id *job,
                          struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), "DELETE FROM claim WHERE job=?");
    statement_bind_text(&statement, job->text);
    return statement_run_one(&statement, error);
}

enum status claim_rows_walk(struct store_tx *tx,
                            bool (*visit)(void *context, const struct claim_row *row),
                            void *context, struct error *error)
{
    struct statement statement;
    statement_open(
        &statement, store_tx_database(tx),
        "SELECT claim.job,claim.daemon,job.version,writer.fenced::int FROM claim"
        " JOIN job ON job.id=claim.job JOIN writer ON writer.id=claim.daemon"
        " ORDER BY job.number");
    while (statement_next(&statement)) {
        struct claim_row row = {.daemon = statement_int(&statement, 1),
                                .version = statement_int(&statement, 2),
                                .lost = statement_int(&statement, 3) != 0};
        statement_copy_text(&statement, 0, row.job.text, sizeof row.job.text);
        if (!statement_good(&statement) || !visit(context, &row))
            break;
    }
    return statement_end(&statement, error);
}
