/*
 * list_cache.h - a cache of composed lines of lists. The key is the line's subject and
 * the versions of everything in the line. Each subject has one place, and the next line
 * put there replaces the last: a line that is not in the cache is composed again.
 *
 * Threads: any.
 */
#ifndef SERVICE_DATASETS_LIST_CACHE_H
#define SERVICE_DATASETS_LIST_CACHE_H

#include <stdint.h>

struct list_cache; /* opaque */

struct line_key {
    const void *subject;  /* never NULL */
    uint64_t versions[2]; /* all still current when the line was composed */
};

struct list_cache *list_cache_create(void);
void list_cache_destroy(struct list_cache *lines); /* NULL is allowed */

/* Returns a copy of the line of that key, to be freed; NULL if it is not kept. */
char *list_cache_find(struct list_cache *lines, const struct line_key *key);

/* Keeps a copy of text. */
void list_cache_put(struct list_cache *lines, const struct line_key *key,
                    const char *text);

#endif
