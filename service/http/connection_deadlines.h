/*
 * connection_deadlines.h - the time by which each connection must have made progress.
 * libmicrohttpd's own time-out counts inactivity only: a byte now and then keeps a
 * connection for ever (api.md 7). Here headers must be complete within
 * DEADLINE_HEADERS_S of the connection, or of the idle time-out after an earlier
 * request; and a body within DEADLINE_BODY_S plus what its size needs at
 * DEADLINE_BODY_RATE. A connection that is late is shut down; the server then closes
 * it.
 *
 * Threads: any. A thread of its own checks all deadlines once a second.
 */
#ifndef SERVICE_HTTP_CONNECTION_DEADLINES_H
#define SERVICE_HTTP_CONNECTION_DEADLINES_H

#include <stdint.h>

enum {
    DEADLINE_IDLE_S = 30,          /* libmicrohttpd's time-out of an idle connection */
    DEADLINE_HEADERS_S = 10,       /* from connection to the end of the first headers */
    DEADLINE_BODY_S = 120,         /* for a body, in addition to its size */
    DEADLINE_BODY_RATE = 64 << 10, /* minimum bytes a second of a large body */
};

struct connection_deadlines; /* opaque: the deadlines of all connections */
struct connection_deadline;  /* opaque: the deadline of one */

struct connection_deadlines *connection_deadlines_create(void);
/* Ends the thread. Precondition: no connection is left. */
void connection_deadlines_destroy(struct connection_deadlines *deadlines);

struct connection_deadline *
connection_deadline_add(struct connection_deadlines *deadlines, int socket);
/* Call it before the socket is closed. */
void connection_deadline_remove(struct connection_deadline *deadline);

/* Each of these reports how far the connection has come, and moves its deadline. There
 * is no deadline while the server works on an answer. */
void connection_deadline_headers_done(struct connection_deadline *deadline);
void connection_deadline_body_received(struct connection_deadline *deadline,
                                       uint64_t size);
/* The server works on what it has of the body, and does not read on. Afterwards as much
 * time is left as before; without a wait before it, goes_on does nothing. */
void connection_deadline_body_waits(struct connection_deadline *deadline);
void connection_deadline_body_goes_on(struct connection_deadline *deadline);
void connection_deadline_body_done(struct connection_deadline *deadline);
void connection_deadline_reply_starts(struct connection_deadline *deadline,
                                      uint64_t size);
/* A stream has nothing to send for now. Sending continues with reply_starts. */
void connection_deadline_reply_waits(struct connection_deadline *deadline);
void connection_deadline_request_done(struct connection_deadline *deadline);

#endif
