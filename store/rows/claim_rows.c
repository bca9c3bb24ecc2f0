#include "store/rows/claim_rows.h"

#include "store/sql/statement.h"

static enum status insert(struct store_tx *tx, uint64_t daemon,
                          const struct job_id *job, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "INSERT INTO claim(job,daemon) VALUES(?,?)");
    statement_bind_text(&statement, job->text);
    statement_bind_int(&statement, daemon);
    return statement_run(&statement, error);
}

/* These are two statements because an INSERT is repeated if the connection breaks, and
 * a SELECT is not. */
enum status claim_row_take(struct store_tx *tx, uint64_t daemon, struct job_id *job,
                           bool *taken, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT id FROM job WHERE state='QUEUED' AND NOT EXISTS"
                   "(SELECT 1 FROM claim WHERE claim.job=job.id)"
                   " ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED");
    *taken = statement_next(&statement);
    if (*taken)
        statement_copy_text(&statement, 0, job->text, sizeof job->text);
    enum status status = statement_end(&statement, error);
    return status == ST_OK && *taken ? insert(tx, daemon, job, error) : status;
}

enum status claim_row_end(struct store_tx *tx, const struct job_id *job,
                          struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx), "DELETE FROM claim WHERE job=?");
    statement_bind_text(&statement, job->text);
    return statement_run_one(&statement, error);
}

static void read_row(struct statement *statement, struct claim_row *row)
{
    *row = (struct claim_row){.daemon = statement_int(statement, 1),
                              .version = statement_int(statement, 2),
                              .lost = statement_int(statement, 3) != 0};
    statement_copy_text(statement, 0, row->job.text, sizeof row->job.text);
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
        struct claim_row row;
        read_row(&statement, &row);
        if (!statement_good(&statement) || !visit(context, &row))
            break;
    }
    return statement_end(&statement, error);
}

enum status claim_row_find(struct store_tx *tx, const struct job_id *job,
                           struct claim_row *row, bool *claimed, struct error *error)
{
    struct statement statement;
    statement_open(
        &statement, store_tx_database(tx),
        "SELECT claim.job,claim.daemon,job.version,writer.fenced::int FROM claim"
        " JOIN job ON job.id=claim.job JOIN writer ON writer.id=claim.daemon"
        " WHERE claim.job=?");
    statement_bind_text(&statement, job->text);
    *claimed = statement_next(&statement);
    if (*claimed)
        read_row(&statement, row);
    return statement_end(&statement, error);
}

enum status claim_rows_walk_lost(struct store_tx *tx,
                                 bool (*visit)(void *context, const struct job_id *job),
                                 void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT id FROM job WHERE state IN('RUNNING','CANCELLING')"
                   " AND NOT EXISTS(SELECT 1 FROM claim JOIN writer ON"
                   " writer.id=claim.daemon WHERE claim.job=job.id AND NOT fenced)"
                   " ORDER BY number");
    while (statement_next(&statement)) {
        struct job_id job;
        statement_copy_text(&statement, 0, job.text, sizeof job.text);
        if (!statement_good(&statement) || !visit(context, &job))
            break;
    }
    return statement_end(&statement, error);
}

enum status claim_row_say(struct store_tx *tx, uint64_t daemon,
                          const struct job_id *job, uint64_t step, uint64_t authorised,
                          struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "UPDATE claim SET step=?,authorised=? WHERE job=? AND daemon=?");
    statement_bind_int(&statement, step);
    statement_bind_int(&statement, authorised);
    statement_bind_text(&statement, job->text);
    statement_bind_int(&statement, daemon);
    return statement_run(&statement, error);
}

enum status claim_rows_walk_said(struct store_tx *tx, uint64_t daemon,
                                 bool (*visit)(void *context,
                                               const struct claim_progress *said),
                                 void *context, struct error *error)
{
    struct statement statement;
    statement_open(&statement, store_tx_database(tx),
                   "SELECT job,step,authorised FROM claim WHERE daemon<>? AND "
                   "(step>0 OR authorised>0)");
    statement_bind_int(&statement, daemon);
    while (statement_next(&statement)) {
        struct claim_progress said = {.step = statement_int(&statement, 1),
                                      .authorised = statement_int(&statement, 2)};
        statement_copy_text(&statement, 0, said.job.text, sizeof said.job.text);
        if (!statement_good(&statement) || !visit(context, &said))
            break;
    }
    return statement_end(&statement, error);
}
