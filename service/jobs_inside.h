/*
 * jobs_inside.h - what jobs.c (reading and changing) and jobs_load.c (rows
 * at start) share.
 */
#ifndef SERVICE_JOBS_INSIDE_H
#define SERVICE_JOBS_INSIDE_H

#include <pthread.h>

#include "service/job_answer.h"
#include "service/jobs.h"
#include "service/table.h"

struct job_made { /* what a run has come to */
    struct job_progress progress;
    size_t point_count, released_count;
};

struct job_now { /* all of a job that may change, as shown */
    enum job_state state;
    enum job_reason reason;
    uint32_t attempt;
    uint64_t version;
    struct job_made made;
    bool has_model;
    struct model_id model;
    int64_t start_ms, end_ms;
};

struct job {
    struct job_id id; /* first, as table.h asks */
    struct job_plan plan;
    bool regression; /* of the dataset's task */
    uint64_t ledger_seq;
    int64_t create_ms;
    atomic_bool stop;
    /* guarded by jobs->lock */
    struct job_now now;
    struct job_made recorded;        /* not yet shown where it differs from now.made */
    struct evaluation_point *points; /* (LIMIT_HISTORY), NULL before the first */
    struct released_history *released; /* NULL before the first */
    struct job_answer *answer; /* of the last version asked for; NULL: none is kept */
};

/* So many answers are kept: more jobs than are polled at a time, 1 to 20 kB each. */
enum { JOBS_ANSWERS_KEPT = 1024 };

struct jobs {
    pthread_rwlock_t lock; /* guards table, answered and all of a job that changes */
    struct table table;
    struct job *answered[JOBS_ANSWERS_KEPT]; /* jobs with an answer: a ring */
    size_t answered_next;                    /* the oldest of them, or NULL */
    struct jobs_base base;
};

/* A job that nobody else knows: not in the table, without an answer. NULL is allowed. */
void job_destroy(void *item);

#endif
