/*
 * authentication.h - who makes a request, found out before anything else of it is looked
 * at but its path. Where there are keys, Authorization: Bearer KEY says it; where there are
 * none, everybody is the local principal.
 *
 * Threads: any; a request belongs to one at a time.
 */
#ifndef SERVICE_AUTHENTICATION_H
#define SERVICE_AUTHENTICATION_H

#include "service/context.h"
#include "service/request.h"

/* Fills in request->principal, which is the local one where there are no keys, and else
 * nobody so far. A route that asks for no scope is served without a key, to
 * nobody, but a key that is shown must be good.
 *   ST_KEY_MISSING    there are keys, and none was shown
 *   ST_KEY_MALFORMED, ST_KEY_UNKNOWN, ST_KEY_EXPIRED, ST_KEY_REVOKED
 *   ST_WRONG_KEYS     the key is wrong, and too many from this address were */
enum status authentication_run(struct context *context, struct request *request,
                               struct error *error);

/* Whether the request's principal may still be answered: to be asked where it has waited.
 * The statuses are those above. */
enum status authentication_renew(struct context *context, const struct request *request,
                                 struct error *error);

#endif
