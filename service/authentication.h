/*
 * authentication.h - who makes a request, found out before anything else of it is looked
 * at but its path. A key says it (Authorization: Bearer KEY), or a trusted proxy does
 * (service/sign_on.h), or the cookie of a browser that has shown a key (service/logins.h),
 * in this order. Where there are neither keys nor a trusted proxy, everybody is the local
 * principal.
 *
 * Threads: any; a request belongs to one at a time.
 */
#ifndef SERVICE_AUTHENTICATION_H
#define SERVICE_AUTHENTICATION_H

#include "service/context.h"
#include "service/request.h"

/* Whether anybody is asked who they are. */
bool authentication_asks(const struct context *context);

/* Fills in request->principal, which is the local one where nobody was asked when the request
 * began, and else nobody so far. A route that asks for no scope is served without a key, to
 * nobody, but a key that is shown must be good.
 *   ST_KEY_MISSING    there are keys, and none was shown
 *   ST_KEY_MALFORMED, ST_KEY_UNKNOWN, ST_KEY_EXPIRED, ST_KEY_REVOKED
 *   ST_WRONG_KEYS     the key is wrong, and too many from this address were
 *   ST_SESSION_ENDED  the cookie is of no session, or no longer
 *   ST_UNTRUSTED_PROXY  headers of single sign-on from elsewhere than a trusted proxy
 *   ST_INVALID        such headers from there that name nobody
 *   ST_FORBIDDEN      a trusted proxy names groups that have no role
 *   ST_FORBIDDEN_ORIGIN, ST_UNSUPPORTED_MEDIA_TYPE
 *                     a change that is asked for by a browser's cookie, and not by our own
 *                     page */
enum status authentication_run(struct context *context, struct request *request,
                               struct error *error);

/* Finds whose a key is, and counts it where it is wrong: the statuses are those of keys
 * above. A key of NULL is malformed. */
enum status authentication_show(struct context *context, const struct request *request,
                                const char *key, struct principal *principal,
                                struct error *error);

/* Whether the request's principal may still be answered: to be asked where it has waited, or
 * follows a stream (sign_on_renew). The statuses are those above. */
enum status authentication_renew(struct context *context, const struct request *request,
                                 struct error *error);

#endif
