/*
 * table_copy.h - copies all that one database holds into another, of either kind.
 *
 * The tables and their columns are read from both databases, so a new table is copied
 * without a change here, and a table that only one of the two has stops the copy. What
 * belongs to a database itself, or to the daemons that have it open, is not copied: the
 * tables `migration`, `schema_step`, `head`, `writer`, `claim`, `change`, `duty`,
 * `daemon` and `hold` (store/copy/README.md).
 *
 * Invariants
 *   (1) Rows keep their numbers, and the order in which they were inserted if the table
 *       has one: the next row that is inserted has a greater number.
 *   (2) The triggers of the target see every row. Entries of the ledger and acts of the
 *       audit trail are inserted by seq, so each must continue its chain there.
 *
 * Memory: a server's rows come a whole table at a time, and what is written to a server
 * is kept until the transaction ends (postgres.h): some 1 KB an entry of the ledger.
 *
 * Threads: those of the transactions.
 */
#ifndef STORE_COPY_TABLE_COPY_H
#define STORE_COPY_TABLE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "store/store.h"

struct table_copy { /* what was copied, or compared */
    size_t tables;
    uint64_t rows;
};

/* *empty = whether no table holds a row. */
enum status table_copy_is_empty(struct store_tx *tx, bool *empty, struct error *error);

/* Inserts every row of from into to, whose tables are empty; to is open to write.
 *   ST_CORRUPT  the two do not have the same tables, or a row is refused: the error
 *               names it
 *   ST_IO       one of them failed */
enum status table_copy_run(struct table_copy *copy, struct store_tx *to,
                           struct store_tx *from, struct error *error);

/* Reads all rows of both, and compares each value.
 *   ST_CORRUPT  the error names the table and the row that differs
 *   ST_IO       one of them failed */
enum status table_copy_compare(struct table_copy *copy, struct store_tx *one,
                               struct store_tx *other, struct error *error);

#endif
