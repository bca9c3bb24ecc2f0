/*
 * sealed_rows.h - what a seal of the ledger (accountant/ledger/ledger_seal.h) writes to
 * the database and deletes from it: it writes the sums of each dataset as a row, and
 * deletes entries and marks. Ownership, visitors and ST_IO are as in table_rows.h.
 *
 * Threads: that of the transaction.
 */
#ifndef STORE_ROWS_SEALED_ROWS_H
#define STORE_ROWS_SEALED_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "store/store.h"

struct sealed_row { /* sums of a dataset, as of the newest SEAL */
    const char *dataset;
    const uint8_t *body; /* (size) canonical bytes (accountant/ledger/sealed_sum.h) */
    size_t size;
};

/* ST_ALREADY_EXISTS, ST_NOT_FOUND  the dataset has a row, or does not exist */
enum status sealed_row_insert(struct store_tx *tx, const struct sealed_row *row,
                              struct error *error);
/* Walks all in the order of their names, compared by bytes. */
enum status sealed_rows_walk(struct store_tx *tx,
                             bool (*visit)(void *context, const struct sealed_row *row),
                             void *context, struct error *error);
/* Calls visit with the row of the dataset, or else with the one before it in that
 * order, if there is one. */
enum status sealed_row_up_to(struct store_tx *tx, const char *dataset,
                             bool (*visit)(void *context, const struct sealed_row *row),
                             void *context, struct error *error);
/* Calls visit with the first row after the dataset's, or after the place where that
 * would be. */
enum status sealed_row_after(struct store_tx *tx, const char *dataset,
                             bool (*visit)(void *context, const struct sealed_row *row),
                             void *context, struct error *error);
enum status sealed_rows_delete(struct store_tx *tx, struct error *error);

/* Calls visit with the dataset of each entry of a job whose seq is less than before, in
 * the order of the jobs. Its time is proportional to the entries of jobs. */
enum status ledger_rows_of_jobs(struct store_tx *tx, uint64_t before,
                                bool (*visit)(void *context, const char *dataset),
                                void *context, struct error *error);

/* Deletes the entries with after < seq < before, except GRANTs and RESERVEs that have
 * no COMMIT; before is at most the seq of the newest SEAL.
 *   ST_CORRUPT  a trigger has refused it */
enum status ledger_rows_forget(struct store_tx *tx, uint64_t after, uint64_t before,
                               struct error *error);

/* Deletes marks of jobs that have no entry, at most 10,000; *count = how many.
 *   ST_CORRUPT  a trigger has refused it */
enum status mark_rows_forget(struct store_tx *tx, uint64_t *count, struct error *error);

#endif
