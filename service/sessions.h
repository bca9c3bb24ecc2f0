/*
 * sessions.h - what all sessions of a server share: how many there are, how many of them
 * are suspended, and the memory that their bodies take.
 *
 * A session is suspended while another thread works on its request, or while it waits for
 * a change: libmicrohttpd then leaves its connection alone, and the HTTP server's thread
 * serves others.
 *
 * Invariants
 *   (1) A suspended connection is resumed exactly once.
 *   (2) What bodies hold in memory together stays below SESSIONS_BODIES_MAX. A body goes
 *       when its work is done, and the reply that came of it counts in its place: while
 *       replies take more than the limit, no body grows.
 *
 * Threads: any, but sessions_init and sessions_fini, which their owner calls first and
 * last.
 */
#ifndef SERVICE_SESSIONS_H
#define SERVICE_SESSIONS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <microhttpd.h>

#include "service/connection_deadlines.h"
#include "service/context.h"

enum { SESSIONS_BODIES_MAX = 256 << 20 }; /* bytes of JSON bodies in memory, together */

struct sessions {
    struct context *context;
    struct connection_deadlines *deadlines;
    atomic_uint_fast64_t named; /* requests that came without an X-Request-Id */
    pthread_mutex_t lock;       /* guards the rest */
    pthread_cond_t fewer;       /* live or suspended has fallen */
    size_t live, suspended;
    uint64_t body_bytes; /* and of the replies made from them */
    bool closing;        /* nothing is suspended any more */
};

void sessions_init(struct sessions *sessions, struct context *context);
/* Suspends nothing from now on and waits until nothing is suspended. */
void sessions_close(struct sessions *sessions);
/* Waits until all have ended, at most timeout_ms. */
void sessions_await_end(struct sessions *sessions, int64_t timeout_ms);
void sessions_fini(struct sessions *sessions);

/* A session begins, or ends and gives back the memory that its bodies still take. */
void sessions_enter(struct sessions *sessions);
void sessions_leave(struct sessions *sessions, uint64_t body_bytes);

/* Suspends a session's connection. Where the server is closing it does nothing and
 * answers false; the caller then replies at once. */
bool sessions_suspend(struct sessions *sessions, struct MHD_Connection *connection);
void sessions_resume(struct sessions *sessions, struct MHD_Connection *connection);

/* Suspends the request's connection until the lookout has looked (lookout.h). False: the
 * server is closing, and nothing is done. */
struct request;
bool sessions_look(struct sessions *sessions, struct request *request);

/* Takes memory for a body that grows. Answers false if there is too little. */
bool sessions_take(struct sessions *sessions, uint64_t bytes);
/* Takes memory for what has been made of a body, however much is taken already, and
 * gives back the body's. */
void sessions_exchange(struct sessions *sessions, uint64_t taken, uint64_t given);

#endif
