/*
 * request_name.h - the name of a request, which identifies it in its answer and in the
 * log.
 *
 * Threads: any.
 */
#ifndef SERVICE_HTTP_REQUEST_NAME_H
#define SERVICE_HTTP_REQUEST_NAME_H

#include <stdatomic.h>

struct request;

/* Sets request->id to the sender's X-Request-Id, if that consists of letters, digits
 * and -_. and fits; otherwise to the nonce of this start and the next number. */
void request_name_take(struct request *request, const char *nonce,
                       atomic_uint_fast64_t *numbers);

#endif
