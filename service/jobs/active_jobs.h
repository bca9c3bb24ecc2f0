/*
 * active_jobs.h - the jobs that have not ended, in order of submission.
 *
 * Threads: the lock of jobs guards them.
 */
#ifndef SERVICE_JOBS_ACTIVE_JOBS_H
#define SERVICE_JOBS_ACTIVE_JOBS_H

#include <stddef.h>

struct dataset_id;

struct job; /* job.h */

struct active_jobs {
    struct job **items; /* (count) */
    size_t count, capacity;
};

void active_jobs_fini(struct active_jobs *active); /* does not free the jobs */

/* Appends job. */
void active_jobs_add(struct active_jobs *active, struct job *job);
/* Removes job, if it is in the list. */
void active_jobs_remove(struct active_jobs *active, const struct job *job);

/* Returns how many of the jobs train or evaluate on the dataset. */
size_t active_jobs_on(const struct active_jobs *active,
                      const struct dataset_id *dataset);

/* Returns how many of the jobs start from weights of this id. */
size_t active_jobs_from(const struct active_jobs *active, const char *weights);

/* Returns a copy of the list, in order. The caller frees it. */
struct job **active_jobs_copy(const struct active_jobs *active, size_t *count);

/* Returns the job that has been queued longest, or NULL if none is queued. */
struct job *active_jobs_next(const struct active_jobs *active);

#endif
