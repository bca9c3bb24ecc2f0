/*
 * trace_context.h - the traceparent header of W3C Trace Context: the client's trace
 * that a request belongs to.
 *
 *   00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
 *   version, trace id, parent id, flags
 *
 * It is the client's own text and public: it is stored with the job that the request
 * submits, and written to the log. Pure.
 */
#ifndef API_HTTP_TRACE_CONTEXT_H
#define API_HTTP_TRACE_CONTEXT_H

#include <stdbool.h>

enum { TRACE_PARENT_SIZE = 56, TRACE_ID_SIZE = 33 }; /* with their terminators */

struct trace_context {
    /* as it came, in the form of version 00; "": none */
    char parent[TRACE_PARENT_SIZE];
};

/* Reads a header's value; NULL means none. As the recommendation requires, a malformed
 * value is treated as no trace context: the function returns false, and trace is empty.
 * A later version may have more members after the flags, which are ignored. */
bool trace_context_parse(struct trace_context *trace, const char *value);

/* id = the trace id. Returns false, and id is "", if there is none. */
bool trace_context_id(const struct trace_context *trace, char id[TRACE_ID_SIZE]);

#endif
