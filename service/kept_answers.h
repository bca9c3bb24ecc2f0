/*
 * kept_answers.h - the answers and the lines of the jobs that were asked for last, each
 * composed once for a version of its job. A job has at most one of each, which it holds
 * itself; here is kept whose turn it is to lose it.
 *
 * Threads: the lock of jobs guards them: for reading where nothing else is said.
 */
#ifndef SERVICE_KEPT_ANSWERS_H
#define SERVICE_KEPT_ANSWERS_H

#include <stddef.h>

struct job;        /* job.h */
struct job_answer; /* job_answer.h */

enum { ANSWERS_KEPT = 1024 }; /* more jobs than are polled at a time; 1 to 20 kB each */

struct kept_jobs {                  /* zeroed: none */
    struct job *jobs[ANSWERS_KEPT]; /* jobs that have what is kept: a ring */
    size_t next;                    /* the place of the oldest of them, or NULL */
};

struct kept_answers { /* zeroed: none */
    struct kept_jobs answers, lines;
};

/* The answer of the job's version, held for the caller; NULL where none is kept. */
struct job_answer *kept_answer_find(const struct job *job);
/* Likewise, but composed where none is kept: in the place of the oldest one, where there
 * is no room. The lock is held for writing. */
struct job_answer *kept_answer_make(struct kept_answers *kept, struct job *job);

/* The same for the job's line of a list: a copy of its text, to be freed. */
char *kept_line_find(const struct job *job);
char *kept_line_make(struct kept_answers *kept, struct job *job);

#endif
