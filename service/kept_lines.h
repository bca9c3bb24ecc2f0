/*
 * kept_lines.h - lines of lists that were composed before, by what they are of and the
 * versions of all that is in them. A line has one place it may be in, which is the next
 * one's that wants it: what is not there is composed again.
 *
 * Threads: any.
 */
#ifndef SERVICE_KEPT_LINES_H
#define SERVICE_KEPT_LINES_H

#include <stdint.h>

struct kept_lines; /* opaque */

struct line_key {
    const void *subject;  /* never NULL */
    uint64_t versions[2]; /* none of them had passed when the line was composed */
};

struct kept_lines *kept_lines_create(void);
void kept_lines_destroy(struct kept_lines *lines); /* NULL is allowed */

/* A copy of the line of that key, to be freed; NULL where it is not kept. */
char *kept_lines_find(struct kept_lines *lines, const struct line_key *key);

/* Keeps a copy of text. */
void kept_lines_put(struct kept_lines *lines, const struct line_key *key,
                    const char *text);

#endif
