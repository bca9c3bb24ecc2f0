/*
 * job_rows.h - jobs. Ownership, visitors and ST_IO are as in table_rows.h.
 */
#ifndef STORE_ROWS_JOB_ROWS_H
#define STORE_ROWS_JOB_ROWS_H

#include "store/rows/table_rows.h"

struct job_row {
    uint64_t number; /* their order in walks; 0: the insertion draws it */
    struct job_id id;
    uint64_t version;  /* grows at every update */
    uint64_t replaces; /* an update was made of this version */
    const char *state; /* QUEUED RUNNING CANCELLING SUCCEEDED FAILED CANCELLED */
    uint32_t attempt;
    const char *spec;   /* the request with every default written in, JSON */
    const char *detail; /* figures of its plan, progress, metrics, times, JSON */
    int64_t create_ms, update_ms;
    const char *created_by; /* never changes; the owner's name */
};

enum status job_row_insert(struct store_tx *tx, const struct job_row *row,
                           struct error *error);
/* Replaces state, attempt, detail, update_ms and version.
 *   ST_NOT_FOUND  there is no such id
 *   ST_CONFLICT   the row has another version than the one the update was made of */
enum status job_row_update(struct store_tx *tx, const struct job_row *row,
                           struct error *error);
/* Walks jobs in the order in which they were inserted. */
enum status job_rows_walk(struct store_tx *tx,
                          bool (*visit)(void *context, const struct job_row *row),
                          void *context, struct error *error);

/* Calls visit with the row of that id, if there is one. */
enum status job_row_find(struct store_tx *tx, const struct job_id *id,
                         bool (*visit)(void *context, const struct job_row *row),
                         void *context, struct error *error);

/* Deletes a job that has no model. Its ledger entries and its mark stay.
 *   ST_NOT_FOUND  there is no such id, or a model's row names it */
enum status job_row_delete(struct store_tx *tx, const struct job_id *id,
                           struct error *error);

#endif
