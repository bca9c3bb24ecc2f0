/*
 * header_check.h - checks everything that the headers of a request say before its body is
 * read: that they can be read in only one way, route, host and origin, who makes the
 * request and whether its role may, and each field; then begins the digest and the
 * upload that the body will need.
 *
 * Threads: the HTTP server's.
 */
#ifndef SERVICE_SERVER_HEADER_CHECK_H
#define SERVICE_SERVER_HEADER_CHECK_H

#include <stdint.h>

#include "base/status.h"

struct body_digest;
struct daemon_state;
struct request;
struct request_guard;

struct header_check {
    struct request *request;
    struct request_guard *gate;  /* of its connection */
    uint64_t number;             /* among the requests of its connection, from 1 */
    struct body_digest **digest; /* replaced; NULL if the sender gave none */
};

/* May be called again for the same request after the store was read.
 *   ST_NEEDS_REFRESH  a key or login may exist that this daemon does not know yet
 *   else              the statuses of request_guard_verdict, admission_find,
 *                     authentication_run, access_check_scope, admission_check,
 *                     body_digest_begin and upload_begin */
enum status header_check_run(struct daemon_state *context,
                             const struct header_check *check, struct error *error);

#endif
