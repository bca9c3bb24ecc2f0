/*
 * policy_proposal_rows.h - wider policies of keys, that wait for a second person. As
 * table_rows.h says of ownership, visitors and ST_IO.
 */
#ifndef STORE_POLICY_PROPOSAL_ROWS_H
#define STORE_POLICY_PROPOSAL_ROWS_H

#include "store/table_rows.h"

struct policy_proposal_row { /* a wider policy of a key, that waits for a second person */
    const char *id;          /* the key's */
    const char *policy;      /* JSON */
    const char *proposed_by;
    int64_t propose_ms;
};

/* Puts the row in the place of the key's before, if there was one.
 *   ST_NOT_FOUND  there is no such key */
enum status policy_proposal_row_set(struct store_tx *tx,
                                    const struct policy_proposal_row *row,
                                    struct error *error);
/* It is there no more, and need not have been. */
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
