/*
 * page.h - lists, newest first, a page at a time.
 */
#ifndef SERVICE_PAGE_H
#define SERVICE_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "service/request.h"

struct page_source {
    const char *name; /* "jobs" */
    size_t count;     /* things there are, oldest at 0 */
    /* Tells whether the thing at index is listed. Where this is NULL, all are. */
    bool (*wanted)(void *context, size_t index);
    /* Answers the thing at index as JSON text, to be freed. */
    char *(*text)(void *context, size_t index);
    void *context;
};

/* Makes the reply from the request's page_size and page_token.
 *   ST_INVALID  one of these is no such thing */
enum status page_reply(struct request *request, const struct page_source *source,
                       struct error *error);

#endif
