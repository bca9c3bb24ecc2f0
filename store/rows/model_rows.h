/*
 * model_rows.h - trained models. Ownership, visitors and ST_IO are as in table_rows.h.
 */
#ifndef STORE_ROWS_MODEL_ROWS_H
#define STORE_ROWS_MODEL_ROWS_H

#include "base/id.h"
#include "store/rows/table_rows.h"

struct model_row {
    struct model_id id;
    uint64_t number; /* drawn like a job's */
    struct job_id job;
    uint8_t sha256[SHA256_SIZE]; /* the file's */
    uint64_t size;               /* the file's, bytes */
    const char *card;            /* certificate and description, JSON */
    int64_t create_ms;
};

enum status model_row_insert(struct store_tx *tx, const struct model_row *row,
                             struct error *error);
/*   ST_NOT_FOUND  there is no such id */
enum status model_row_delete(struct store_tx *tx, const struct model_id *id,
                             struct error *error);
enum status model_rows_walk(struct store_tx *tx,
                            bool (*visit)(void *context, const struct model_row *row),
                            void *context, struct error *error);
/* Calls visit with the row of that id, if there is one. */
enum status model_row_find(struct store_tx *tx, const struct model_id *id,
                           bool (*visit)(void *context, const struct model_row *row),
                           void *context, struct error *error);

#endif
