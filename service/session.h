/*
 * session.h - a request as the HTTP server drives it, from its first line to the end of
 * its reply.
 *
 *   HEADERS --> BODY --> [work on another thread] --> ANSWER --> sent
 *                                                     |   ^
 *                                                     +---+ waits (long poll)
 *
 * Invariants
 *   (1) A suspended connection is resumed exactly once.
 *   (2) A reply is handed to libmicrohttpd once, whatever it then asks.
 *   (3) What bodies hold in memory together stays below SESSION_BODIES_MAX. A body goes
 *       when its work is done, and the reply that came of it counts in its place: while
 *       replies take more than the limit, no body grows.
 *   (4) A body that is refused midway is read to its end, or for SESSION_DROPPED_MAX
 *       more bytes, so that its sender gets the answer.
 *
 * Threads: the HTTP server's, but for session_run and session_wake, which resume.
 */
#ifndef SERVICE_SESSION_H
#define SERVICE_SESSION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <microhttpd.h>

#include "api/limits.h"
#include "service/connection_deadlines.h"
#include "service/connection_gate.h"
#include "service/context.h"
#include "service/request.h"

enum {
    SESSION_BODIES_MAX = 256 << 20, /* bytes of JSON bodies in memory, all together */
    SESSION_DROPPED_MAX = LIMIT_PREDICT_BODY, /* bytes, read and not kept */
};

/* What all sessions of a server share. */
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

/* One client's connection: what libmicrohttpd keeps as its socket's context. */
struct connection {
    struct connection_deadline *deadline;
    struct connection_gate *gate;
};

struct session; /* opaque */

/* uri is the request target as it came, before decoding. */
struct session *session_create(struct sessions *sessions,
                               struct MHD_Connection *connection, const char *uri);
void session_destroy(struct session *session); /* NULL is allowed */

/* One call of libmicrohttpd's access handler. */
enum MHD_Result session_step(struct session *session, const char *method,
                             const char *data, size_t *size);

/* The run function of the desk and the predictors: argument is the context, item the
 * request. */
void session_run(void *argument, void *item);
/* The late function of the predictors: the request is refused. */
void session_late(void *context, void *item);
/* The resume function of long polls. */
void session_wake(void *waiting);

#endif
