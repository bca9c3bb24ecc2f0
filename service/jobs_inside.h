/*
 * jobs_inside.h - what jobs.c (reading and changing), jobs_load.c (rows at start) and
 * jobs_active.c (those that have not ended) share.
 */
#ifndef SERVICE_JOBS_INSIDE_H
#define SERVICE_JOBS_INSIDE_H

#include <pthread.h>

#include "service/job_answer.h"
#include "service/jobs.h"
#include "service/registry.h"

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
    struct job_id id; /* first, as registry.h asks */
    struct job_plan plan;
    bool regression; /* of the dataset's task */
    uint64_t ledger_seq;
    struct model_id drawn; /* the id that its model will have */
    int64_t create_ms;
    atomic_bool stop;
    /* guarded by jobs->lock */
    struct job_now now;
    struct job_made recorded;
    bool unshown;                      /* recorded is not what now.made shows */
    struct ending *ending;             /* handed over, not yet taken; or NULL */
    struct evaluation_point *points;   /* (LIMIT_HISTORY), NULL before the first */
    struct released_history *released; /* NULL before the first */
    struct job_answer *answer; /* of the last version asked for; NULL: none is kept */
};

/* So many answers are kept: more jobs than are polled at a time, 1 to 20 kB each. */
enum { JOBS_ANSWERS_KEPT = 1024 };

struct jobs {
    pthread_rwlock_t lock; /* guards all but base, and all of a job that changes */
    struct registry registry;
    struct job **active; /* those that have not ended, in order of submission */
    size_t active_count, active_capacity;
    struct job *answered[JOBS_ANSWERS_KEPT]; /* jobs with an answer: a ring */
    size_t answered_next;                    /* the oldest of them, or NULL */
    struct jobs_base base;
};

/* Adds a job to the active ones, after all others; takes it out. The lock is held, for
 * writing. */
void jobs_activate(struct jobs *jobs, struct job *job);
void jobs_deactivate(struct jobs *jobs, const struct job *job);

/* A job that nobody else knows: not in the table, without an answer. NULL is allowed. */
void job_destroy(void *item);

#endif
