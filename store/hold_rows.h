/*
 * hold_rows.h - which daemon of a shared store imports which dataset, and measures for which
 * survey. As table_rows.h says of ownership, visitors and ST_IO.
 */
#ifndef STORE_HOLD_ROWS_H
#define STORE_HOLD_ROWS_H

#include "store/table_rows.h"

enum held_kind { HELD_DATASET, HELD_SURVEY };

struct hold_row {    /* that a daemon of a shared store imports a dataset or measures one */
    uint64_t daemon; /* store_daemon of it; 0: none does */
    bool lost;       /* it is fenced */
};

/*   ST_ALREADY_EXISTS  a daemon holds it */
enum status hold_row_take(struct store_tx *tx, enum held_kind kind, const char *id,
                          uint64_t daemon, struct error *error);
/* It has ended, in tx; nothing where none holds it. */
enum status hold_row_end(struct store_tx *tx, enum held_kind kind, const char *id,
                         struct error *error);
enum status hold_row_find(struct store_tx *tx, enum held_kind kind, const char *id,
                          struct hold_row *row, struct error *error);
/* Walks the surveys that have not ended and that no daemon which is alive holds. */
enum status hold_rows_walk_lost(struct store_tx *tx,
                                bool (*visit)(void *context, const char *survey),
                                void *context, struct error *error);

#endif
