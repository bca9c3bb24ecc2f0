/*
 * policy_proposal_rows.h - wider policies of keys that await the approval of a second
 * person. Ownership, visitors and ST_IO are as in table_rows.h.
 */
#ifndef STORE_ROWS_POLICY_PROPOSAL_ROWS_H
#define STORE_ROWS_POLICY_PROPOSAL_ROWS_H

#include "store/rows/table_rows.h"

struct policy_proposal_row { /* a wider policy of a key that awaits a second person */
    const char *id;          /* the key's */
    const char *policy;      /* JSON */
    const char *proposed_by;
    int64_t propose_ms;
};

/* Inserts the row, or replaces the one that the key has.
 *   ST_NOT_FOUND  there is no such key */
enum status policy_proposal_row_set(struct store_tx *tx,
                                    const struct policy_proposal_row *row,
                                    struct error *error);
/* Deletes the row, if it exists. */
enum status policy_proposal_row_delete(struct store_tx *tx, const char *id,
                                       struct error *error);
enum status policy_proposal_rows_walk(
    struct store_tx *tx,
    bool (*visit)(void *context, const struct policy_proposal_row *row), void *context,
    struct error *error);
/* Calls visit with the row of that key, if there is one. */
enum status policy_proposal_row_find(
    struct store_tx *tx, const char *id,
    bool (*visit)(void *context, const struct policy_proposal_row *row), void *context,
    struct error *error);

#endif
