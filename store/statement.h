/*
 * statement.h - one SQL statement inside a transaction: open, bind in order, run or walk,
 * end. Inside store only. The first failure is kept and answered at the end, so callers
 * bind without looking.
 *
 *   struct statement statement;
 *   statement_open(&statement, tx, "SELECT a, b FROM t WHERE c = ?");
 *   statement_bind_text(&statement, c);
 *   while (statement_next(&statement))
 *       use(statement_int(&statement, 0), statement_text(&statement, 1));
 *   return statement_end(&statement, error);
 *
 * Constraints become statuses: a key used before ST_ALREADY_EXISTS, a missing parent
 * ST_NOT_FOUND, a trigger or CHECK ST_CORRUPT; they leave the transaction as it was.
 * Everything else poisons the store: ST_CORRUPT where SQLite finds its file damaged,
 * otherwise ST_IO.
 */
#ifndef STORE_STATEMENT_H
#define STORE_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "store/store.h"

struct sqlite3_stmt;

struct statement {
    struct store_tx *tx;
    struct sqlite3_stmt *raw;
    int code; /* SQLite's, of the first failure */
    int bound;
};

void statement_open(struct statement *statement, struct store_tx *tx, const char *sql);

/* Values are borrowed until statement_end; numbers below 2^63; a blob may be NULL. */
void statement_bind_text(struct statement *statement, const char *text);
void statement_bind_int(struct statement *statement, uint64_t number);
void statement_bind_time(struct statement *statement, int64_t wall_ms);
void statement_bind_blob(struct statement *statement, const void *data,
                         size_t size); /* NULL: null */

/* Moves to the next row; false at the end or after a failure. */
bool statement_next(struct statement *statement);

/* Columns of the row, from 0; pointers live until the next row. */
const char *statement_text(struct statement *statement, int column);
uint64_t statement_int(struct statement *statement, int column);
int64_t statement_time(struct statement *statement, int column);
const uint8_t *statement_blob(struct statement *statement,
                              int column); /* NULL: null or empty */
size_t statement_blob_size(struct statement *statement, int column);
/* A blob of another size fails the statement as damage. */
void statement_expect_size(struct statement *statement, int column, size_t size);
/* Copies a blob of size bytes; one of another size fails the statement as damage. */
void statement_copy(struct statement *statement, int column, void *out, size_t size);
/* Copies a text of less than size bytes; a longer one fails the statement as damage. */
void statement_copy_text(struct statement *statement, int column, char *out,
                         size_t size);

bool statement_good(const struct statement *statement); /* nothing has failed yet */

enum status statement_end(struct statement *statement, struct error *error);

/* Runs a statement without rows, and ends it. */
enum status statement_run(struct statement *statement, struct error *error);
/* The same; ST_NOT_FOUND if it changed nothing. */
enum status statement_run_one(struct statement *statement, struct error *error);

/* store.c's side of it. */
struct sqlite3 *store_tx_db(struct store_tx *tx);
bool store_tx_usable(const struct store_tx *tx);
void store_tx_poison(struct store_tx *tx);

#endif
