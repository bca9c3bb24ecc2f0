/*
 * statement.h - one SQL statement: opened, its parameters bound in order, run or
 * walked, ended. Inside store only. The first failure is kept and returned at the end,
 * so callers bind without checking.
 *
 *   struct statement statement;
 *   statement_open(&statement, store_tx_database(tx), "SELECT a, b FROM t WHERE c=?");
 *   statement_bind_text(&statement, c);
 *   while (statement_next(&statement))
 *       use(statement_int(&statement, 0), statement_text(&statement, 1));
 *   return statement_end(&statement, error);
 *
 * The class of the first failure (database.h) decides the status that the end returns:
 *
 *   DB_KEY_USED   ST_ALREADY_EXISTS   the transaction can only be rolled back
 *   DB_NO_PARENT  ST_NOT_FOUND        the transaction can only be rolled back
 *   DB_REFUSED    ST_CORRUPT          the transaction can only be rolled back
 *   DB_LOST       ST_IO               the transaction is repeated whole (store_again)
 *   DB_DAMAGED    ST_CORRUPT          the database is poisoned
 *   the others    ST_IO               the database is poisoned
 *
 * After a constraint has refused a statement, every further statement of the
 * transaction fails with the same class, and store_commit rolls it back. PostgreSQL
 * behaves like this, so SQLite is made to. A statement that changed no row has not
 * failed in this sense (statement_run_one).
 *
 * Threads: that of the transaction.
 */
#ifndef STORE_SQL_STATEMENT_H
#define STORE_SQL_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "store/sql/database.h"

struct statement {
    struct database *database;
    struct prepared *prepared; /* NULL: it failed before it was prepared */
    enum database_class class; /* of the first failure */
    int bound;                 /* parameters so far */
};

/* Prepares the SQL, whose parameters are all written as ?. On a poisoned database the
 * statement fails with ST_IO. */
void statement_open(struct statement *statement, struct database *database,
                    const char *sql);

/* Bind the next parameter. Texts and blobs are borrowed until statement_end; numbers
 * are below 2^63. A NULL binds null. */
void statement_bind_text(struct statement *statement, const char *text);
void statement_bind_int(struct statement *statement, uint64_t number);
void statement_bind_time(struct statement *statement, int64_t wall_ms);
void statement_bind_blob(struct statement *statement, const void *data, size_t size);

/* Moves to the next row; false at the end or after a failure. */
bool statement_next(struct statement *statement);

/* Columns of the row, from 0; pointers live until the next row. A null text fails the
 * statement, as a failed allocation, and a null or empty blob is NULL. */
const char *statement_text(struct statement *statement, int column);
uint64_t statement_int(struct statement *statement, int column);
int64_t statement_time(struct statement *statement, int column);
const uint8_t *statement_blob(struct statement *statement, int column);
size_t statement_blob_size(struct statement *statement, int column);
bool statement_is_null(struct statement *statement, int column);

/* Fails the statement, as damage, if the blob has another size. */
void statement_expect_size(struct statement *statement, int column, size_t size);
/* Copies a blob of size bytes; one of another size fails the statement as damage. */
void statement_copy(struct statement *statement, int column, void *out, size_t size);
/* Copies a text of less than size bytes; a longer one fails the statement as damage. */
void statement_copy_text(struct statement *statement, int column, char *out,
                         size_t size);

bool statement_good(const struct statement *statement); /* nothing has failed yet */

/* Ends the statement, which must not be used again. The statuses are those above. */
enum status statement_end(struct statement *statement, struct error *error);

/* Runs a statement without rows, and ends it. */
enum status statement_run(struct statement *statement, struct error *error);
/* Like statement_run; on ST_OK *changed is the number of rows that it changed. */
enum status statement_run_count(struct statement *statement, uint64_t *changed,
                                struct error *error);
/* Like statement_run; ST_NOT_FOUND if it changed no row. */
enum status statement_run_one(struct statement *statement, struct error *error);

/* Like statement_run_one, for an update of one row WHERE id=? AND version=?. If it
 * changed no row, find, SQL with the id as its one parameter, finds the reason.
 *   ST_NOT_FOUND  there is no such row
 *   ST_CONFLICT   it has another version than the caller has read */
enum status statement_run_version(struct statement *statement, const char *find,
                                  const char *id, struct error *error);

#endif
