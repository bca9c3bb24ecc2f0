/*
 * watch.h - deadlines of connections. libmicrohttpd's own time-out counts inactivity
 * only: a byte now and then keeps a connection for ever (api.md 7). Here headers
 * must be complete within WATCH_HEADERS_S of the connection, or of the idle time-out
 * after an earlier request; and a body within WATCH_BODY_S plus what its size needs at
 * WATCH_BODY_RATE. A connection that is late is shut down; the server then closes it.
 *
 * Threads: any; a thread of its own looks once a second.
 */
#ifndef SERVICE_WATCH_H
#define SERVICE_WATCH_H

#include <stdint.h>

enum {
    WATCH_IDLE_S = 30,          /* libmicrohttpd's time-out of an idle connection */
    WATCH_HEADERS_S = 10,       /* from connection to the end of the first headers */
    WATCH_BODY_S = 120,         /* for a body, beside its size */
    WATCH_BODY_RATE = 64 << 10, /* bytes a second that a large body must keep up */
};

struct watch;   /* opaque */
struct watched; /* one connection */

struct watch *watch_create(void);
void watch_destroy(struct watch *watch); /* no connection may be left */

struct watched *watch_add(struct watch *watch, int socket);
void watch_remove(struct watch *watch,
                  struct watched *watched); /* before it is closed */

void watch_headers_done(struct watch *watch, struct watched *watched);
void watch_body_received(struct watch *watch, struct watched *watched, uint64_t size);
void watch_body_done(struct watch *watch, struct watched *watched);
void watch_reply_starts(struct watch *watch, struct watched *watched, uint64_t size);
void watch_request_done(struct watch *watch, struct watched *watched);

#endif
