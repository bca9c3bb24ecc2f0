/*
 * trace_context.h - the traceparent header of W3C Trace Context: which trace of the
 * client's a request belongs to.
 *
 *   00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
 *   version, trace id, parent id, flags
 *
 * It is the client's own text and public: it is kept with the job that the request
 * submits, and told in the log. Pure.
 */
#ifndef API_TRACE_CONTEXT_H
#define API_TRACE_CONTEXT_H

#include <stdbool.h>

enum { TRACE_PARENT_SIZE = 56, TRACE_ID_SIZE = 33 }; /* with their ends */

struct trace_context {
    char
        parent[TRACE_PARENT_SIZE]; /* as it came, in the form of version 00; "": none */
};

/* Reads a header's value; NULL is none. What is not of the form is no trace context, as
 * the recommendation has it: false, and trace is none. A later version may have more
 * members behind the flags, which are left out. */
bool trace_context_parse(struct trace_context *trace, const char *value);

/* id = the trace id; false, and id is "", where there is none. */
bool trace_context_id(const struct trace_context *trace, char id[TRACE_ID_SIZE]);

#endif
