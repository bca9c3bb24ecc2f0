/*
 * delivery_rows.h - the outbox of what webhooks are to be told. As table_rows.h says of
 * ownership, visitors and ST_IO.
 */
#ifndef STORE_DELIVERY_ROWS_H
#define STORE_DELIVERY_ROWS_H

#include "store/table_rows.h"

struct delivery_row { /* something that a webhook is to be told */
    struct delivery_id id;
    struct webhook_id webhook;
    const char *type;        /* of the event */
    const char *body;        /* as it is sent, at every attempt */
    const char *traceparent; /* that is sent with it; "": none */
    const char *state;       /* WAITING DELIVERED FAILED */
    const char *result;      /* of the last attempt; "": there was none */
    unsigned http_status;    /* that it was answered with; 0: none */
    unsigned attempts;       /* so far */
    int64_t next_ms;         /* when the next one is due, while it is WAITING */
    int64_t create_ms, update_ms;
};

/*   ST_NOT_FOUND  there is no such webhook */
enum status delivery_row_insert(struct store_tx *tx, const struct delivery_row *row,
                                struct error *error);
/* Replaces state, result, http_status, attempts, next_ms and update_ms.
 *   ST_NOT_FOUND  there is no such id */
enum status delivery_row_update(struct store_tx *tx, const struct delivery_row *row,
                                struct error *error);
/* Gives that state to all deliveries of the webhook that wait. */
enum status delivery_rows_end(struct store_tx *tx, const struct webhook_id *webhook,
                              const char *state, struct error *error);
/* Deletes those of the webhook that do not wait and are not among its newest. */
enum status delivery_rows_trim(struct store_tx *tx, const struct webhook_id *webhook,
                               uint64_t kept, struct error *error);
/* How many deliveries of the webhook wait. */
enum status delivery_rows_waiting(struct store_tx *tx, const struct webhook_id *webhook,
                                  uint64_t *count, struct error *error);
/* Calls visit with the delivery of the webhook that is due first, if one waits. */
enum status delivery_row_next(struct store_tx *tx, const struct webhook_id *webhook,
                              bool (*visit)(void *context,
                                            const struct delivery_row *row),
                              void *context, struct error *error);
/* Walks the newest deliveries of the webhook, the newest first. */
enum status
delivery_rows_walk(struct store_tx *tx, const struct webhook_id *webhook, uint64_t most,
                   bool (*visit)(void *context, const struct delivery_row *row),
                   void *context, struct error *error);

#endif
