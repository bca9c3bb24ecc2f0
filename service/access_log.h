/*
 * access_log.h - what is told of a request when its answer is about to be sent: a line of the
 * log, and counters (counters.h).
 *
 *   {"ts":"...","level":"info","event":"request","id":"...","method":"POST",
 *    "route":"...","status":"201","bytes":"934","ms":"","actor":"ana","key":"k7Qd",
 *    "trace_id":"4bf9..."}
 *
 * Nothing that the sender wrote is in it but the name of the request and the trace, which are
 * checked: no path, query, header or body. Who asks is told by name and by the id of the key. ms is how long the answer took where that may be
 * told, of what is answered from memory without waiting; else it is empty. What reads and does
 * not fail is told at the level debug.
 *
 * Threads: the HTTP server's.
 */
#ifndef SERVICE_ACCESS_LOG_H
#define SERVICE_ACCESS_LOG_H

#include "service/context.h"
#include "service/request.h"

/* Tells and counts an answer. The request's reply is made. The answer to an import that
 * others may not know of is told and counted only if the dataset is READY by it. */
void access_log_note(struct context *context, const struct request *request);

#endif
