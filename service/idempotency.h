/*
 * idempotency.h - Idempotency-Key: a creation is remembered for ever, in the transaction
 * that made the thing; the same key and body get the same answer again (api.md). Which
 * routes take a key is said by their rows (api/routes.h).
 *
 * Threads: the desk's.
 */
#ifndef SERVICE_IDEMPOTENCY_H
#define SERVICE_IDEMPOTENCY_H

#include "service/context.h"
#include "service/request.h"

/* Makes the reply of an earlier request with this key, if there was one.
 *   ST_IDEMPOTENCY_KEY_REUSED  it had another body
 *   ST_INVALID                 the body is not JSON
 *   ST_IO                      the store is poisoned */
enum status idempotency_find(struct context *context, struct request *request,
                             struct error *error);

/* Remembers, in tx, that the request is answered 201 with location and body. */
enum status idempotency_keep(struct request *request, struct store_tx *tx,
                             const char *location, const char *body,
                             struct error *error);

#endif
