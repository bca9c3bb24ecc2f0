/*
 * second_person.h - whether a second person must approve what a request promises.
 *
 * Threads: any.
 */
#ifndef SERVICE_SECOND_PERSON_H
#define SERVICE_SECOND_PERSON_H

#include <stdbool.h>

struct context;
struct request;

/* Without keys persons cannot be distinguished, so there is no second person. */
bool second_person_is_asked(const struct context *context,
                            const struct request *request);

#endif
