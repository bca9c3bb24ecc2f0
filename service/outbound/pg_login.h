/*
 * pg_login.h - a connection to a foreign PostgreSQL server (pg_query.h, invariants 1, 2
 * and 5), and waiting for it.
 *
 * Threads: one at a time.
 */
#ifndef SERVICE_OUTBOUND_PG_LOGIN_H
#define SERVICE_OUTBOUND_PG_LOGIN_H

#include <stdatomic.h>
#include <stdint.h>

#include "api/requests/query_request.h"
#include "service/outbound/transfer.h"

struct pg_conn; /* libpq's PGconn */

enum pg_end {
    PG_DONE,
    PG_UNREACHABLE,   /* no address that may be called accepted the connection */
    PG_UNTRUSTED,     /* no TLS, or a certificate that is not trusted */
    PG_LOGIN_REFUSED, /* the password, the user, the database */
    PG_REFUSED,       /* before a row was read: it is no SELECT that the role may run */
    PG_COLUMNS,       /* accept returned false */
    PG_WRITES,        /* it tried to change something */
    PG_FAILED,        /* an error while rows were read */
    PG_TOO_SLOW,      /* it took longer than request->seconds */
    PG_TOO_LARGE,     /* a row is larger than PG_ROW_SIZE_MAX */
    PG_BROKEN,        /* the connection broke, or the server shuts down */
    PG_NOT_TAKEN,     /* take returned false */
    PG_CANCELLED,
};

struct pg_server {
    const struct query_request *request; /* how to log in, and for how long */
    const struct transfer_rules *rules;
    const atomic_bool *cancel;
};

struct pg_login {
    struct pg_conn *connection; /* NULL: it is closed */
    const atomic_bool *cancel;
    int64_t deadline_ns; /* of all that is done with it; monotonic */
};

/* Logs in as the request says.
 *   PG_DONE  the connection is open and sends without blocking
 *   UNREACHABLE, UNTRUSTED, LOGIN_REFUSED, TOO_SLOW, CANCELLED  it is closed */
enum pg_end pg_login_open(struct pg_login *login, const struct pg_server *server);

/* Cancels what the server still does for the connection, and closes it. Takes
 * CANCEL_SECONDS at most, even if the server does not answer. */
void pg_login_close(struct pg_login *login);

/* Waits until the socket is ready for events of poll(), briefly: returns
 * PG_DONE too if it is not ready yet.
 *   PG_TOO_SLOW, PG_CANCELLED */
enum pg_end pg_login_wait(const struct pg_login *login, short events);

#endif
