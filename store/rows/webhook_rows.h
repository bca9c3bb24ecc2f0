/*
 * webhook_rows.h - the receivers of events. Ownership, visitors and ST_IO are as in
 * table_rows.h.
 */
#ifndef STORE_ROWS_WEBHOOK_ROWS_H
#define STORE_ROWS_WEBHOOK_ROWS_H

#include "store/rows/table_rows.h"

struct webhook_row {
    struct webhook_id id;
    const char *project, *owner; /* of its creator */
    bool everywhere;             /* it receives events of every project */
    const char *url;
    const char *events;        /* their names, a blank between two */
    const char *dataset;       /* "": any */
    const char *state;         /* ACTIVE DISABLED */
    const char *reason;        /* why it is DISABLED; "" */
    const uint8_t *secret;     /* (32) key that signs deliveries */
    const uint8_t *old_secret; /* (32) the secret before, or NULL */
    int64_t old_until_ms;      /* until then the old secret signs too; or 0 */
    int64_t failing_ms;        /* time of the first failure in a row; 0: none */
    int64_t create_ms;
};

/* Inserts the row, or replaces state, reason, secrets and failing_ms of the one with
 * its id. */
enum status webhook_row_put(struct store_tx *tx, const struct webhook_row *row,
                            struct error *error);
/* Deletes it with its deliveries. */
enum status webhook_row_delete(struct store_tx *tx, const struct webhook_id *id,
                               struct error *error);
enum status webhook_rows_walk(struct store_tx *tx,
                              bool (*visit)(void *context,
                                            const struct webhook_row *row),
                              void *context, struct error *error);
/* Calls visit with the row of that id, if there is one. */
enum status webhook_row_find(struct store_tx *tx, const struct webhook_id *id,
                             bool (*visit)(void *context,
                                           const struct webhook_row *row),
                             void *context, struct error *error);

#endif
