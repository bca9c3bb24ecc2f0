/*
 * page.h - lists, a page at a time.
 *
 * Things have places, the oldest at 0, and numbers that grow with the places. A list shows
 * them by these, newest or oldest first; or by a key, and by their numbers where keys are
 * equal.
 *
 * A page's token is a mark in that order: the number of the page's last thing, with its key
 * where the list has one. So it goes on from there whatever is asked for beside it: what
 * was added or deleted since, and other filters, change what is shown behind the mark and
 * nothing else. In another order a mark means nothing, and is refused. A thing whose key
 * changes between two pages may be on both or on neither.
 *
 * Invariants
 *   (1) Places are this process's own, and numbers the store's: any daemon of a store, and
 *       a later start, goes on behind a mark where the one that gave it out would have.
 *   (2) The thing that a mark names need not be there any more.
 */
#ifndef SERVICE_PAGE_H
#define SERVICE_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "service/request.h"

struct page_key {     /* by number, then by text */
    double number;    /* never NaN; the same for all where text decides */
    const char *text; /* never changes; NULL: number decides */
};

struct page_source {
    const char *name;    /* "jobs" */
    size_t first, count; /* the places from first to count, which are looked at */
    /* The place of the order among those that the list may have. */
    unsigned char order;
    bool ascending;
    /* The number of the thing at that place, from 1. NULL: nothing is ever deleted of what
     * is listed, so its places, counted from 1, are the same everywhere. */
    uint64_t (*number)(void *context, size_t place);
    /* By what the list is ordered; NULL: by numbers. */
    struct page_key (*key)(void *context, size_t place);
    bool by_text; /* its keys have texts; nothing is ever deleted */
    /* Whether whoever asks sees the thing at that place. NULL: all are seen. */
    bool (*seen)(void *context, size_t place);
    /* Whether the thing at that place, which is seen, is listed. NULL: all are. */
    bool (*wanted)(void *context, size_t place);
    /* The thing at that place as JSON text, to be freed. NULL: it cannot be shown, and the
     * page goes on without it. */
    char *(*text)(void *context, size_t place);
    void *context;
    /* Says which version of the list this is, as an ETag with its quotes. It was read
     * before count. NULL: the list has none. */
    const char *tag;
};

/* Makes the reply from the request's page_size and page_token; where If-None-Match names
 * the tag it is 304, and nothing of the source is called.
 *   ST_INVALID  one of these is no such thing */
enum status page_reply(struct request *request, const struct page_source *source,
                       struct error *error);

#endif
