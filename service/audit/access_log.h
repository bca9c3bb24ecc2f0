/*
 * access_log.h - records a request when its answer is about to be sent, in a line of
 * the log and in counters (counters.h).
 *
 *   {"ts":"...","level":"info","event":"request","id":"...","method":"POST",
 *    "route":"...","status":"201","bytes":"934","ms":"","actor":"ana","key":"k7Qd",
 *    "trace_id":"4bf9..."}
 *
 * Nothing that the sender wrote is in the line, except the name of the request and the
 * trace, which are checked: no path, query, header or body. The line identifies the
 * principal by its name and by the id of its key. ms is how long the answer took, if
 * that may be disclosed, which is so for answers that are made from memory without
 * waiting; otherwise ms is empty. Reads that do not fail are logged at level debug.
 *
 * Threads: the HTTP server's.
 */
#ifndef SERVICE_AUDIT_ACCESS_LOG_H
#define SERVICE_AUDIT_ACCESS_LOG_H

struct daemon_state;
struct request;

/* Logs and counts an answer. Precondition: the request's reply is made. The answer to
 * an import whose outcome others must not learn is logged and counted only if the
 * dataset is READY by it. */
void access_log_note(struct daemon_state *context, const struct request *request);

#endif
