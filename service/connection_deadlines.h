/*
 * connection_deadlines.h - the moment by which each connection must have come further.
 * libmicrohttpd's own time-out counts inactivity only: a byte now and then keeps a
 * connection for ever (api.md 7). Here headers must be complete within
 * DEADLINE_HEADERS_S of the connection, or of the idle time-out after an earlier
 * request; and a body within DEADLINE_BODY_S plus what its size needs at
 * DEADLINE_BODY_RATE. A connection that is late is shut down; the server then closes it.
 *
 * Threads: any. A thread of its own looks at all deadlines once a second.
 */
#ifndef SERVICE_CONNECTION_DEADLINES_H
#define SERVICE_CONNECTION_DEADLINES_H

#include <stdint.h>

enum {
    DEADLINE_IDLE_S = 30,          /* libmicrohttpd's time-out of an idle connection */
    DEADLINE_HEADERS_S = 10,       /* from connection to the end of the first headers */
    DEADLINE_BODY_S = 120,         /* for a body, beside its size */
    DEADLINE_BODY_RATE = 64 << 10, /* bytes a second that a large body must keep up */
};

struct connection_deadlines; /* opaque: those of all connections */
struct connection_deadline;  /* opaque: that of one */

struct connection_deadlines *connection_deadlines_create(void);
/* Ends the thread. No connection may be left. */
void connection_deadlines_destroy(struct connection_deadlines *deadlines);

struct connection_deadline *
connection_deadline_add(struct connection_deadlines *deadlines, int socket);
/* Must be called before the socket is closed. */
void connection_deadline_remove(struct connection_deadline *deadline);

/* Each of these says how far the connection has come, and moves its deadline. While the
 * server works on an answer there is none. */
void connection_deadline_headers_done(struct connection_deadline *deadline);
void connection_deadline_body_received(struct connection_deadline *deadline,
                                       uint64_t size);
void connection_deadline_body_done(struct connection_deadline *deadline);
void connection_deadline_reply_starts(struct connection_deadline *deadline,
                                      uint64_t size);
/* A stream has nothing to send for now. It is sent the next thing from reply_starts on. */
void connection_deadline_reply_waits(struct connection_deadline *deadline);
void connection_deadline_request_done(struct connection_deadline *deadline);

#endif
