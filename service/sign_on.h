/*
 * sign_on.h - single sign-on: who a trusted proxy says that a request is made by, in the
 * headers X-Forwarded-User, -Email and -Groups. The proxy has logged that person in; what
 * they may do here is what the file of --groups says of their groups.
 *
 * Threads: any, but sign_on_open and sign_on_close, which their owner calls first and last.
 */
#ifndef SERVICE_SIGN_ON_H
#define SERVICE_SIGN_ON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/principal.h"
#include "base/status.h"
#include "service/proxy_trust.h"

struct sign_on; /* opaque */

/* Reads the file of groups, whose path is borrowed. trust is copied.
 *   ST_IO       the file cannot be read
 *   ST_INVALID  it is not as api/group_map.h says */
enum status sign_on_open(struct sign_on **out, const struct proxy_trust *trust,
                         const char *groups_path, struct error *error);

/* Reads the file again. Where that fails, as above, what was read before stays in force. */
enum status sign_on_reload(struct sign_on *sign_on, struct error *error);

void sign_on_close(struct sign_on *sign_on); /* NULL is allowed */

struct sign_on_headers { /* NULL: the request does not have it */
    const char *user, *email, *groups;
};

/* Whether a request has any of them. */
bool sign_on_claimed(const struct sign_on_headers *headers);

/* Whether the headers are believed from this peer. sign_on NULL trusts nobody. */
bool sign_on_trusts(const struct sign_on *sign_on, const struct sockaddr *peer);

/* The principal that the headers of a trusted peer name: by email where there is one, else
 * by user, with the role and the project of its groups.
 *   ST_INVALID    what they say is no name
 *   ST_FORBIDDEN  no group has a role here */
enum status sign_on_read(struct sign_on *sign_on, const struct sign_on_headers *headers,
                         struct principal *principal, struct error *error);

/* Whether somebody whom the headers of a trusted peer named as principal may still be
 * answered: to be asked where a request has waited. stream_s: for so many seconds a stream
 * has been open; 0 of what is no stream. The proxy alone knows whether a person is still
 * logged in, and is asked when a request comes: so a stream ends, and its client comes back.
 *   ST_FORBIDDEN      the file of groups gives them another role or project by now, or none
 *   ST_SESSION_ENDED  the stream has been open for LIMIT_SIGN_ON_STREAM_S */
enum status sign_on_renew(struct sign_on *sign_on,
                          const struct sign_on_headers *headers,
                          const struct principal *principal, int64_t stream_s,
                          struct error *error);

#endif
