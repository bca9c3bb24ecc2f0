/*
 * delivery_rows.h - the outbox of the events that webhooks receive. Ownership, visitors
 * and ST_IO are as in table_rows.h.
 */
#ifndef STORE_ROWS_DELIVERY_ROWS_H
#define STORE_ROWS_DELIVERY_ROWS_H

#include "store/rows/table_rows.h"

struct delivery_row { /* an event to be sent to a webhook */
    struct delivery_id id;
    struct webhook_id webhook;
    const char *type;        /* of the event */
    const char *body;        /* as it is sent, at every attempt */
    const char *traceparent; /* sent with it; "": none */
    const char *state;       /* WAITING DELIVERED FAILED */
    const char *result;      /* of the last attempt; "": no attempt yet */
    unsigned http_status;    /* of the answer; 0: none */
    unsigned attempts;       /* so far */
    int64_t next_ms;         /* when the next attempt is due, while it is WAITING */
    int64_t create_ms, update_ms;
};

/*   ST_NOT_FOUND  there is no such webhook */
enum status delivery_row_insert(struct store_tx *tx, const struct delivery_row *row,
                                struct error *error);
/* Replaces state, result, http_status, attempts, next_ms and update_ms.
 *   ST_NOT_FOUND  there is no such id */
enum status delivery_row_update(struct store_tx *tx, const struct delivery_row *row,
                                struct error *error);
/* Sets the state of all WAITING deliveries of the webhook. */
enum status delivery_rows_end(struct store_tx *tx, const struct webhook_id *webhook,
                              const char *state, struct error *error);
/* Deletes deliveries of the webhook that are not WAITING, except its `kept` newest. */
enum status delivery_rows_trim(struct store_tx *tx, const struct webhook_id *webhook,
                               uint64_t kept, struct error *error);
/* *count = how many deliveries of the webhook are WAITING. */
enum status delivery_rows_waiting(struct store_tx *tx, const struct webhook_id *webhook,
                                  uint64_t *count, struct error *error);
/* Calls visit with the WAITING delivery of the webhook that is due first, if there is
 * one. */
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
