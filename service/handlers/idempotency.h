/*
 * idempotency.h - the header Idempotency-Key: a creation is recorded for ever, in the
 * transaction that made the thing, and a request with the same key and body gets the
 * same answer again (api.md). A route's row says whether it takes a key
 * (api/http/routes.h).
 *
 * Threads: the write queue's.
 */
#ifndef SERVICE_HANDLERS_IDEMPOTENCY_H
#define SERVICE_HANDLERS_IDEMPOTENCY_H

#include "service/http/request.h"

struct daemon_state;
struct store_tx;

/* Makes the reply of an earlier request with this key, if there was one.
 *   ST_IDEMPOTENCY_KEY_REUSED  that request had another body
 *   ST_GONE                    what it made was deleted, and is not made again
 *   ST_INVALID                 the body is not JSON
 *   ST_IO                      the store is poisoned */
enum status idempotency_find(struct daemon_state *context, struct request *request,
                             struct error *error);

/* Records, in tx, that the request is answered 201 with location and body.
 *   ST_CONFLICT        another daemon of a shared store has answered a request with
 *                      this key on this route, or has changed data that this request
 *                      was decided by: handle it again
 *   ST_INVALID         the request's body is not JSON
 *   ST_IO              the store is poisoned */
enum status idempotency_keep(const struct daemon_state *context,
                             struct request *request, struct store_tx *tx,
                             const char *location, const char *body,
                             struct error *error);

#endif
