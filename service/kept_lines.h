/*
 * kept_lines.h - a cache of composed lines of lists. The key is the line's subject and
 * the versions of everything in the line. Each subject has one place, and the next line
 * put there replaces the last: a line that is not in the cache is composed again.
 *
 * Threads: any.
 */
#ifndef SERVICE_KEPT_LINES_H
#define SERVICE_KEPT_LINES_H

#include <stdint.h>

struct kept_lines; /* opaque */

struct line_key {
    const void *subject;  /* never NULL */
    uint64_t versions[2]; /* all still current when the line was composed */
};

struct kept_lines *kept_lines_create(void);
void kept_lines_destroy(struct kept_lines *lines); /* NULL is allowed */

/* Returns a copy of the line of that key, to be freed; NULL if it is not kept. */
char *kept_lines_find(struct kept_lines *lines, const struct line_key *key);

/* Keeps a copy of text. */
void kept_lines_put(struct kept_lines *lines, const struct line_key *key,
                    const char *text);

#endif
