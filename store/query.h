/*
 * query.h - one SQL statement inside a transaction: open, bind in order, run or walk,
 * end. Inside store only. The first failure is kept and answered at the end, so callers
 * bind without looking.
 *
 *   struct query query;
 *   query_open(&query, tx, "SELECT a, b FROM t WHERE c = ?");
 *   query_bind_text(&query, c);
 *   while (query_next(&query))
 *       use(query_int(&query, 0), query_text(&query, 1));
 *   return query_end(&query, error);
 *
 * Constraints become statuses: a key used before ST_ALREADY_EXISTS, a missing parent
 * ST_NOT_FOUND, a trigger or CHECK ST_CORRUPT; they leave the transaction as it was.
 * Everything else poisons the store: ST_CORRUPT where SQLite finds its file damaged,
 * otherwise ST_IO.
 */
#ifndef STORE_QUERY_H
#define STORE_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "store/db.h"

struct sqlite3_stmt;

struct query {
    struct store_tx *tx;
    struct sqlite3_stmt *statement;
    int code; /* SQLite's, of the first failure */
    int bound;
};

void query_open(struct query *query, struct store_tx *tx, const char *sql);

/* Values are borrowed until query_end. Numbers must be below 2^63. */
void query_bind_text(struct query *query, const char *text);
void query_bind_int(struct query *query, uint64_t number);
void query_bind_time(struct query *query, int64_t wall_ms);
void query_bind_blob(struct query *query, const void *data,
                     size_t size); /* NULL: null */

/* Moves to the next row; false at the end or after a failure. */
bool query_next(struct query *query);

/* Columns of the row, from 0; pointers live until the next row. */
const char *query_text(struct query *query, int column);
uint64_t query_int(struct query *query, int column);
int64_t query_time(struct query *query, int column);
const uint8_t *query_blob(struct query *query, int column); /* NULL: null or empty */
size_t query_blob_size(struct query *query, int column);
/* A blob of another size fails the query as damage. */
void query_expect_size(struct query *query, int column, size_t size);
/* Copies a blob of size bytes; one of another size fails the query as damage. */
void query_copy(struct query *query, int column, void *out, size_t size);
/* Copies a text of less than size bytes; a longer one fails the query as damage. */
void query_copy_text(struct query *query, int column, char *out, size_t size);

bool query_good(const struct query *query); /* nothing has failed yet */

enum status query_end(struct query *query, struct error *error);

/* Runs a statement without rows, and ends it. */
enum status query_run(struct query *query, struct error *error);
/* The same; ST_NOT_FOUND if it changed nothing. */
enum status query_run_one(struct query *query, struct error *error);

/* db.c's side of it. */
struct sqlite3 *store_tx_db(struct store_tx *tx);
bool store_tx_usable(const struct store_tx *tx);
void store_tx_poison(struct store_tx *tx);

#endif
