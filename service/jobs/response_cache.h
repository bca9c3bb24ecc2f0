/*
 * response_cache.h - the answers and the lines of the jobs that were asked for last,
 * each composed once for a version of its job. A job has at most one of each, which it
 * holds itself; this file keeps the order in which jobs lose them.
 *
 * Threads: the lock of jobs guards them; it is held for reading if nothing else is
 * said.
 */
#ifndef SERVICE_JOBS_RESPONSE_CACHE_H
#define SERVICE_JOBS_RESPONSE_CACHE_H

#include <stddef.h>

struct job;             /* job.h */
struct cached_response; /* cached_response.h */

enum { ANSWERS_KEPT = 1024 }; /* more than the jobs polled at a time; 1 to 20 kB each */

struct kept_jobs {                  /* zeroed: none */
    struct job *jobs[ANSWERS_KEPT]; /* a ring of the jobs that have a kept answer or
                                       line */
    size_t next;                    /* index of the oldest of them; its place may be
                                       NULL */
};

struct response_cache { /* zeroed: none */
    struct kept_jobs answers, lines;
};

/* Returns the answer of the job's version, held for the caller; NULL if none is
 * kept. */
struct cached_response *response_cache_find(const struct job *job);
/* The same, but composes the answer if none is kept; if there is no room, it takes the
 * place of the oldest one. The lock is held for writing. */
struct cached_response *response_cache_make(struct response_cache *kept,
                                            struct job *job);

/* The same for the job's line of a list: returns a copy of its text, to be freed. */
char *kept_line_find(const struct job *job);
char *kept_line_make(struct response_cache *kept, struct job *job);

#endif
