/*
 * pagination.h - lists, a page at a time.
 *
 * Things have places, the oldest at 0, and numbers that grow with the places. A list
 * shows them by their numbers, newest or oldest first; or by a key, and by their
 * numbers if keys are equal.
 *
 * A page's token is a mark in that order: the number of the page's last thing, with its
 * key if the list has one. So the next page begins there, independently of the
 * request's other parameters: things added or deleted since, and other filters, only
 * change what is shown behind the mark. A mark of another order has no meaning, and is
 * refused. A thing whose key changes between two pages may be on both or on neither.
 *
 * Invariants
 *   (1) Places are this process's own, and numbers the store's: any daemon of a store,
 *       and a later start, continues behind a mark where the daemon that gave it out
 *       would have.
 *   (2) The thing that a mark names may have been deleted.
 */
#ifndef SERVICE_HTTP_PAGINATION_H
#define SERVICE_HTTP_PAGINATION_H

#include <stdbool.h>
#include <stddef.h>

#include "service/http/request.h"

struct pagination_key { /* ordered by number, then by text */
    double number;      /* never NaN; the same for all if text decides */
    const char *text;   /* never changes; NULL: number decides */
};

struct pagination_source {
    const char *name;    /* "jobs" */
    size_t first, count; /* the places from first up to count are looked at */
    /* The index of the order among the list's orders. */
    unsigned char order;
    bool ascending;
    /* The number of the thing at that place, from 1. NULL: nothing in this list is ever
     * deleted, so its places, counted from 1, are the same everywhere. */
    uint64_t (*number)(void *context, size_t place);
    /* The key that the list is ordered by; NULL: numbers. */
    struct pagination_key (*key)(void *context, size_t place);
    bool by_text; /* its keys have texts; nothing is ever deleted */
    /* Returns whether the principal may see the thing at that place. NULL: it may see
     * all. */
    bool (*seen)(void *context, size_t place);
    /* Returns whether the thing at that place, which the principal may see, is listed.
     * NULL: all are. */
    bool (*wanted)(void *context, size_t place);
    /* The thing at that place as JSON text, to be freed. NULL: it cannot be shown, and
     * the page continues without it. */
    char *(*text)(void *context, size_t place);
    void *context;
    /* The version of the list, as an ETag with its quotes, which was read before count.
     * NULL: the list has none. */
    const char *tag;
};

/* Makes the reply from the request's page_size and page_token. If If-None-Match names
 * the tag the reply is 304, and no function of source is called.
 *   ST_INVALID  one of the parameters is malformed */
enum status pagination_reply(struct request *request,
                             const struct pagination_source *source,
                             struct error *error);

#endif
