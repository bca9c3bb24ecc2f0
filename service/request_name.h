/*
 * request_name.h - the name of a request, by which its answer and the log tell it apart.
 *
 * Threads: any.
 */
#ifndef SERVICE_REQUEST_NAME_H
#define SERVICE_REQUEST_NAME_H

#include <stdatomic.h>

#include "service/request.h"

/* request->id = the sender's X-Request-Id, if it has letters, digits and -_. only and room;
 * otherwise the nonce of this start and the next number. */
void request_name_take(struct request *request, const char *nonce,
                       atomic_uint_fast64_t *numbers);

#endif
