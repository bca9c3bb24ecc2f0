/*
 * idempotency_rows.h - idempotency keys of requests, and their answers; the table is
 * called `replay` on disk. Ownership, visitors and ST_IO are as in table_rows.h.
 */
#ifndef STORE_ROWS_IDEMPOTENCY_ROWS_H
#define STORE_ROWS_IDEMPOTENCY_ROWS_H

#include "store/rows/table_rows.h"

struct idempotency_name {        /* a client's name for a request, to repeat it */
    const char *project, *owner; /* whose request it is */
    const char *route;           /* "POST /v1/jobs" */
    const char *key;             /* the Idempotency-Key */
};

struct idempotency_row {
    struct idempotency_name name;
    uint8_t fingerprint[SHA256_SIZE]; /* method, path and canonical body */
    const char *location;             /* of the answer */
    const char *body;                 /* of the answer; "": the object was deleted */
    int64_t time_ms;
};

/*   ST_ALREADY_EXISTS  the name was used before */
enum status idempotency_row_insert(struct store_tx *tx,
                                   const struct idempotency_row *row,
                                   struct error *error);
/* Clears the bodies of the answers with this location. Their names stay used. */
enum status idempotency_rows_empty(struct store_tx *tx, const char *location,
                                   struct error *error);
/* Calls visit with the row of that name, if there is one. */
enum status
idempotency_row_find(struct store_tx *tx, const struct idempotency_name *name,
                     bool (*visit)(void *context, const struct idempotency_row *row),
                     void *context, struct error *error);

#endif
