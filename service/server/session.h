/*
 * session.h - a request as the HTTP server drives it, from its first line to the end of
 * its reply.
 *
 *   HEADERS --> BODY --> [work on another thread] --> ANSWER --> sent
 *                                                     |   ^
 *                                                     +---+ waits (long poll, stream)
 *
 * Invariants
 *   (1) A reply is handed to libmicrohttpd once, whatever it calls afterwards.
 *   (2) A body that is refused midway is read to its end, or for SESSION_DROPPED_MAX
 *       more bytes, so that its sender gets the answer. So is a body whose headers are
 *       refused, if they announce at most REFUSED_BODY_MAX bytes.
 *
 * Threads: the HTTP server's, except session_run, session_late and session_wake, which
 * resume.
 */
#ifndef SERVICE_SERVER_SESSION_H
#define SERVICE_SERVER_SESSION_H

#include <stddef.h>
#include <microhttpd.h>

#include "api/limits.h"
#include "service/http/request.h"

struct sessions;

enum {
    SESSION_DROPPED_MAX = LIMIT_PREDICT_BODY, /* bytes, read and not kept */
    REFUSED_BODY_MAX = 64 << 10 /* bytes that are read before their refusal is sent */
};

/* A client's connection: libmicrohttpd keeps it as the socket's context. */
struct connection {
    struct connection_deadline *deadline;
    struct request_guard *gate;
    struct certificate *certificate; /* NULL: plain HTTP */
    struct connection_share *share;
};

struct session; /* opaque */

/* Begins a session. uri is the request's target as it was received, before decoding. */
struct session *session_create(struct sessions *sessions,
                               struct MHD_Connection *connection, const char *uri);
void session_destroy(struct session *session); /* NULL is allowed */

/* Handles one call of libmicrohttpd's access handler. */
enum MHD_Result session_step(struct session *session, const char *method,
                             const char *data, size_t *size);

/* The run function of all pools and queues that handle requests: argument is the
 * context, item the request. */
void session_run(void *argument, void *item);
/* The late function of the cost queue: it refuses the request. */
void session_late(void *context, void *item);
/* The resume function of long polls and streams, and the suspend function of streams.
 * session_suspend returns false if the server is closing, or the client is gone. */
void session_wake(void *waiting);
bool session_suspend(void *waiting);
/* Returns whether the principal that opened a stream may still be sent anything
 * (authentication_renew). */
bool session_may_stay(void *waiting);

#endif
