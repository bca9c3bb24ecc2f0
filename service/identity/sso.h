/*
 * sso.h - single sign-on: a trusted proxy names the person who makes a request, in
 * the headers X-Forwarded-User, -Email and -Groups. The proxy has logged that person
 * in; the file of --groups says what their groups may do here.
 *
 * Threads: any, except that the owner calls sso_open first and sso_close last.
 */
#ifndef SERVICE_IDENTITY_SSO_H
#define SERVICE_IDENTITY_SSO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "service/config/proxy_trust.h"

struct principal;

struct sso; /* opaque */

/* Reads the file of groups, whose path is borrowed. trust is copied.
 *   ST_IO       the file cannot be read
 *   ST_INVALID  it is not as api/http/group_map.h says */
enum status sso_open(struct sso **out, const struct proxy_trust *trust,
                     const char *groups_path, struct error *error);

/* Reads the file again. If that fails, as above, the earlier contents stay in force. */
enum status sso_reload(struct sso *sso, struct error *error);

void sso_close(struct sso *sso); /* NULL is allowed */

struct sso_headers { /* NULL: the request has no such header */
    const char *user, *email, *groups;
};

/* Returns whether a request has any of the headers. */
bool sso_claimed(const struct sso_headers *headers);

/* Returns whether the headers are believed from this peer. sso NULL trusts no
 * peer. */
bool sso_trusts(const struct sso *sso, const struct sockaddr *peer);

/* The principal that the headers of a trusted peer name: by email if there is one, else
 * by user, with the role and the project of its groups.
 *   ST_INVALID    they contain no valid name
 *   ST_FORBIDDEN  no group has a role here */
enum status sso_read(struct sso *sso, const struct sso_headers *headers,
                     struct principal *principal, struct error *error);

/* Checks whether a person whom the headers of a trusted peer named as principal may
 * still get an answer; to be called after a request has waited. stream_s is the number
 * of seconds for which a stream has been open; 0 if there is no stream. Only the proxy
 * knows whether a person is still logged in, and it checks that at each request: so a
 * stream ends, and its client comes back.
 *   ST_FORBIDDEN      the file of groups now gives them another role or project, or
 *                     none
 *   ST_SESSION_ENDED  the stream has been open for LIMIT_SIGN_ON_STREAM_S */
enum status sso_renew(struct sso *sso, const struct sso_headers *headers,
                      const struct principal *principal, int64_t stream_s,
                      struct error *error);

#endif
