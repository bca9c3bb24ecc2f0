/*
 * authentication.h - finds out who makes a request, before anything else of the request
 * is read except its path. The principal is shown by a key (Authorization: Bearer KEY),
 * by a trusted proxy (service/identity/sso.h), or by the cookie of a browser that has
 * shown a key (service/identity/logins.h), in this order. If there are neither keys nor
 * a trusted proxy, everyone is the local principal.
 *
 * Threads: any; a request belongs to one thread at a time.
 */
#ifndef SERVICE_IDENTITY_AUTHENTICATION_H
#define SERVICE_IDENTITY_AUTHENTICATION_H

#include "service/http/request.h"

struct daemon_state;

/* Returns whether requests must identify their principal. */
bool authentication_asks(const struct daemon_state *context);

/* Fills in request->caller.principal. On entry it is the local principal if requests did not
 * have to identify themselves when this one began, and otherwise ROLE_NOBODY. A route
 * without a scope is served without a key, but a key that is shown must be valid.
 *   ST_NEEDS_REFRESH  the store is shared, and must be read before the request can be
 *                     accepted or refused (stale_read_retry.h): it shows a cookie, or a
 *                     key that is not known here
 *   ST_KEY_MISSING    there are keys, and none was shown
 *   ST_KEY_MALFORMED, ST_KEY_UNKNOWN, ST_KEY_EXPIRED, ST_KEY_REVOKED
 *   ST_WRONG_KEYS     the key is wrong, and this address has shown too many wrong keys
 *   ST_SESSION_ENDED  the cookie belongs to no session, or to one that has ended
 *   ST_UNTRUSTED_PROXY  headers of single sign-on that do not come from a trusted proxy
 *   ST_INVALID        such headers from a trusted proxy that name no user
 *   ST_FORBIDDEN      a trusted proxy names groups that have no role
 *   ST_FORBIDDEN_ORIGIN, ST_UNSUPPORTED_MEDIA_TYPE
 *                     a change that a browser's cookie asks for, but not from our own
 *                     page */
enum status authentication_run(struct daemon_state *context, struct request *request,
                               struct error *error);

/* Finds the principal whose key it is, and counts the key if it is wrong. The statuses
 * are those of keys above. A key of NULL is malformed. */
enum status authentication_show(struct daemon_state *context,
                                const struct request *request, const char *key,
                                struct principal *principal, struct error *error);

/* Checks that the request's principal may still be answered. Call this when the request
 * has waited, or follows a stream (sso_renew). The statuses are those above. */
enum status authentication_renew(struct daemon_state *context,
                                 const struct request *request, struct error *error);

#endif
