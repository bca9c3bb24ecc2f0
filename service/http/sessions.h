/*
 * sessions.h - the shared state of a server's sessions: how many there are, how many of
 * them are suspended, and the memory that their bodies take.
 *
 * A session is suspended while another thread works on its request, or while it waits
 * for a change: libmicrohttpd then ignores its connection, and the HTTP server's thread
 * serves others.
 *
 * Invariants
 *   (1) A suspended connection is resumed exactly once.
 *   (2) All bodies together take less memory than SESSIONS_BODIES_MAX. A body is freed
 *       when its work is done, and the resulting reply counts in its place: while
 *       replies take more than the limit, no body grows. The parsed form of a body is not
 *       counted: only the requests that are handled now, and those whose price or look is
 *       awaited, have one.
 *
 * Threads: any, except that the owner calls sessions_init first and sessions_fini last.
 */
#ifndef SERVICE_HTTP_SESSIONS_H
#define SERVICE_HTTP_SESSIONS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <microhttpd.h>

enum { SESSIONS_BODIES_MAX = 256 << 20 }; /* bytes of JSON bodies in memory, together */

struct sessions {
    struct daemon_state *context;
    struct connection_deadlines *deadlines;
    atomic_uint_fast64_t named; /* requests that came without an X-Request-Id */
    pthread_mutex_t lock;       /* guards the rest */
    pthread_cond_t fewer;       /* live or suspended has decreased */
    size_t live, suspended;
    uint64_t body_bytes; /* and of the replies made from them */
    bool closing;        /* no session may be suspended any more */
};

void sessions_init(struct sessions *sessions, struct daemon_state *context);
/* Allows no more suspensions, and waits until no session is suspended. */
void sessions_close(struct sessions *sessions);
/* Waits until all sessions have ended, at most timeout_ms. */
void sessions_await_end(struct sessions *sessions, int64_t timeout_ms);
void sessions_fini(struct sessions *sessions);

/* A session begins, or ends and returns the memory that its body still takes. */
void sessions_enter(struct sessions *sessions);
void sessions_leave(struct sessions *sessions, uint64_t body_bytes);

/* Suspends a session's connection. If the server is closing it does nothing and returns
 * false; the caller then replies at once. */
bool sessions_suspend(struct sessions *sessions, struct MHD_Connection *connection);
void sessions_resume(struct sessions *sessions, struct MHD_Connection *connection);

/* Suspends the request's connection until the store poller has looked
 * (store_poller.h). False: the server is closing, and nothing is done. */
struct daemon_state;
struct request;
bool sessions_look(struct sessions *sessions, struct request *request);

/* Takes memory for a body that grows. Returns false if there is too little. */
bool sessions_take(struct sessions *sessions, uint64_t bytes);
/* Takes memory for a reply, even beyond the limit, and returns that of the body that it
 * was made from. */
void sessions_exchange(struct sessions *sessions, uint64_t taken, uint64_t given);

#endif
