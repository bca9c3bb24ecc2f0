/*
 * sealed_rows.h - what a seal of the ledger leaves in the database and takes out of it
 * (accountant/ledger_seal.h): the sums of each dataset as a row, and the entries and marks
 * that are gone. As table_rows.h says of ownership, visitors and ST_IO.
 *
 * Threads: that of the transaction.
 */
#ifndef STORE_SEALED_ROWS_H
#define STORE_SEALED_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "store/store.h"

struct sealed_row { /* of a dataset, as of the newest SEAL */
    const char *dataset;
    const uint8_t *body; /* (size) canonical bytes (accountant/sealed_sum.h) */
    size_t size;
};

/*   ST_ALREADY_EXISTS, ST_NOT_FOUND  the dataset has a row, or is none */
enum status sealed_row_insert(struct store_tx *tx, const struct sealed_row *row,
                              struct error *error);
/* Walks all in the order of their names, which is that of bytes. */
enum status sealed_rows_walk(struct store_tx *tx,
                             bool (*visit)(void *context, const struct sealed_row *row),
                             void *context, struct error *error);
/* Calls visit with the row of the dataset, or else with the one before it in that order, if
 * there is one. */
enum status sealed_row_up_to(struct store_tx *tx, const char *dataset,
                             bool (*visit)(void *context, const struct sealed_row *row),
                             void *context, struct error *error);
/* Calls visit with the next row behind the dataset's, or behind where that would be. */
enum status sealed_row_after(struct store_tx *tx, const char *dataset,
                             bool (*visit)(void *context, const struct sealed_row *row),
                             void *context, struct error *error);
enum status sealed_rows_delete(struct store_tx *tx, struct error *error);

/* Calls visit with the dataset of each entry of a job whose seq is less than before, in the
 * order of the jobs. It takes no longer than there are entries of jobs. */
enum status ledger_rows_of_jobs(struct store_tx *tx, uint64_t before,
                                bool (*visit)(void *context, const char *dataset),
                                void *context, struct error *error);

/* Deletes the entries with after < seq < before but GRANTs, and RESERVEs of which there is
 * no COMMIT; before is at most the seq of the newest SEAL.
 *   ST_CORRUPT  a trigger has refused it */
enum status ledger_rows_forget(struct store_tx *tx, uint64_t after, uint64_t before,
                               struct error *error);

/* Deletes marks of jobs of which there is no entry, at most 10,000; *count of them.
 *   ST_CORRUPT  a trigger has refused it */
enum status mark_rows_forget(struct store_tx *tx, uint64_t *count, struct error *error);

#endif
