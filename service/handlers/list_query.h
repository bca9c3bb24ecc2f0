/*
 * list_query.h - reads the query parameters that several lists have.
 *
 * Each function returns false if the parameter is malformed; error then names it.
 *
 * Threads: any.
 */
#ifndef SERVICE_HANDLERS_LIST_QUERY_H
#define SERVICE_HANDLERS_LIST_QUERY_H

#include <stdbool.h>

#include "service/http/pagination.h"

struct caption_search;

struct list_order { /* the orders that a list offers */
    const char *const *names;
    const bool *ascending; /* the default direction of each order */
};

/* Reads ?order= and ?order_by= into the source's order and direction. */
bool list_query_order(struct pagination_source *source, const struct request *request,
                      const struct list_order *order, struct error *error);

/* Reads ?dataset=. *dataset is borrowed from the request; NULL: any. */
bool list_query_dataset(const char **dataset, const struct request *request,
                        struct error *error);

/* Reads ?q= and ?tag=. */
bool list_query_search(struct caption_search *search, const struct request *request,
                       struct error *error);

#endif
