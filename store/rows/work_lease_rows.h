/*
 * work_lease_rows.h - which daemon of a shared store imports which dataset, and
 * computes which survey. Ownership, visitors and ST_IO are as in table_rows.h.
 */
#ifndef STORE_ROWS_WORK_LEASE_ROWS_H
#define STORE_ROWS_WORK_LEASE_ROWS_H

#include "store/rows/table_rows.h"

enum held_kind { HELD_DATASET, HELD_SURVEY };

struct work_lease_row { /* a daemon imports this dataset, or computes this survey */
    uint64_t daemon;    /* its store_daemon; 0: no daemon does */
    bool lost;          /* that daemon is fenced */
};

/*   ST_ALREADY_EXISTS  a daemon holds it */
enum status work_lease_row_take(struct store_tx *tx, enum held_kind kind,
                                const char *id, uint64_t daemon, struct error *error);
/* Deletes the hold of work that ends in tx; a no-op if no daemon holds it. */
enum status work_lease_row_end(struct store_tx *tx, enum held_kind kind, const char *id,
                               struct error *error);
enum status work_lease_row_find(struct store_tx *tx, enum held_kind kind,
                                const char *id, struct work_lease_row *row,
                                struct error *error);
/* Walks the surveys that have not ended and that no live daemon holds. */
enum status work_lease_rows_walk_lost(struct store_tx *tx,
                                      bool (*visit)(void *context, const char *survey),
                                      void *context, struct error *error);

#endif
