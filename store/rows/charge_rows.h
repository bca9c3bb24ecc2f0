/*
 * charge_rows.h - work that runs elsewhere: what was declared, and how far it was
 * granted. Ownership, visitors and ST_IO are as in table_rows.h.
 */
#ifndef STORE_ROWS_CHARGE_ROWS_H
#define STORE_ROWS_CHARGE_ROWS_H

#include "store/rows/table_rows.h"

struct charge_row { /* work that runs elsewhere, as a lease of part of a budget */
    struct charge_id id;
    const char *dataset, *project, *created_by; /* never change */
    const char *spec;     /* what was declared, JSON; never changes */
    const char *state;    /* OPEN SETTLED LAPSED */
    const char *figures;  /* its costs, JSON */
    uint64_t blocks;      /* granted so far */
    const char *process;  /* of the newest grant; "" before the first */
    int64_t lease_end_ms; /* when its lease ends, a whole second */
    int64_t end_ms;       /* when it ended; 0 while it is OPEN */
    int64_t create_ms;
};

enum status charge_row_insert(struct store_tx *tx, const struct charge_row *row,
                              struct error *error);
/* Replaces state, figures, blocks, process, lease_end_ms and end_ms. Triggers refuse
 * fewer blocks and any change of a charge that has ended.
 *   ST_NOT_FOUND  there is no such id
 *   ST_CORRUPT    a trigger refused it */
enum status charge_row_update(struct store_tx *tx, const struct charge_row *row,
                              struct error *error);
/* Walks charges in the order in which they were inserted. */
enum status charge_rows_walk(struct store_tx *tx,
                             bool (*visit)(void *context, const struct charge_row *row),
                             void *context, struct error *error);
/* Calls visit with the row of that id, if there is one. */
enum status charge_row_find(struct store_tx *tx, const struct charge_id *id,
                            bool (*visit)(void *context, const struct charge_row *row),
                            void *context, struct error *error);

#endif
