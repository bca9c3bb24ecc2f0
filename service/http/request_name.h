/*
 * request_name.h - the names of a request: its id, which identifies it in its answer and
 * in the log, and its trace.
 *
 * Threads: any.
 */
#ifndef SERVICE_HTTP_REQUEST_NAME_H
#define SERVICE_HTTP_REQUEST_NAME_H

#include <stdatomic.h>

struct request;

/* Sets the names under which the request is traced (caller.h). request_id is the
 * sender's X-Request-Id, if that consists of letters, digits and -_. and fits;
 * otherwise it is made of the nonce of this start and the next number. */
void request_name_take(struct request *request, const char *nonce,
                       atomic_uint_fast64_t *numbers);

#endif
