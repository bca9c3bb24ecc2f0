/*
 * second_person.h - whether what a request promises has to be agreed to by somebody else.
 *
 * Threads: any.
 */
#ifndef SERVICE_SECOND_PERSON_H
#define SERVICE_SECOND_PERSON_H

#include <stdbool.h>

#include "service/context.h"
#include "service/request.h"

/* Without keys nobody can be told from anybody, so there is no second person. */
bool second_person_is_asked(const struct context *context,
                            const struct request *request);

#endif
