/*
 * kept_answers.h - the answers of the jobs that were asked for last. A job has at most
 * one, which it holds itself; here is kept whose turn it is to lose it.
 *
 * Threads: the lock of jobs guards them.
 */
#ifndef SERVICE_KEPT_ANSWERS_H
#define SERVICE_KEPT_ANSWERS_H

#include <stddef.h>

struct job;        /* job.h */
struct job_answer; /* job_answer.h */

enum { ANSWERS_KEPT = 1024 }; /* more jobs than are polled at a time; 1 to 20 kB each */

struct kept_answers {               /* zeroed: none */
    struct job *jobs[ANSWERS_KEPT]; /* jobs with an answer: a ring */
    size_t next;                    /* the place of the oldest of them, or NULL */
};

/* Puts the answer in the place of the one that job had. Where job had none and there is
 * no room, the oldest is dropped. */
void kept_answers_put(struct kept_answers *kept, struct job *job,
                      struct job_answer *answer_take);

#endif
