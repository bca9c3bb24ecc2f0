/*
 * table_rows.h - what holds for the headers of all tables (dataset_rows.h,
 * ledger_rows.h, ...): each has a struct for a row, and functions that insert, change
 * and walk its rows. They do not interpret the values: texts that are JSON are made and
 * read by api, curves by accountant.
 *
 * Ownership: pointers in a struct passed in are borrowed for the call; pointers in a
 * struct passed to a visitor live until it returns. A visitor that returns false stops
 * the walk. Every function may answer ST_IO, and has then poisoned the store.
 */
#ifndef STORE_ROWS_TABLE_ROWS_H
#define STORE_ROWS_TABLE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/id.h"
#include "base/status.h"
#include "store/store.h"

/* Tables whose rows are listed in the order in which they were inserted. Rows of jobs,
 * models and weights may be deleted; these tables are ordered by their numbers. */
enum numbered {
    NUMBERED_DATASET,
    NUMBERED_JOB,
    NUMBERED_MODEL,
    NUMBERED_WEIGHTS,
    NUMBERED_CHARGE,
    NUMBERED_ACCESS_KEY,
};

/* Draws the number of a job, a model or weights that tx inserts next, before it draws
 * another. It is greater than any before, and no other row has had it or will have
 * it. */
enum status row_number_draw(struct store_tx *tx, enum numbered table, uint64_t *number,
                            struct error *error);
/* *number = the number of the row of this id, or 0 if there is none. */
enum status row_number_find(struct store_tx *tx, enum numbered table, const char *id,
                            uint64_t *number, struct error *error);

#endif
