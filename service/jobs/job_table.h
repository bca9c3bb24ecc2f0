/*
 * job_table.h - all jobs in memory. These files share it: jobs (opening, reading,
 * moving), job_recording (what a run records, and what of it is shown), job_renewal
 * (what another daemon has written of them, and job_save), jobs_refresh (jobs that
 * another daemon has added and deleted) and job_upkeep (changes of a job outside its
 * run). All other files use the functions of jobs.h.
 */
#ifndef SERVICE_JOBS_JOB_TABLE_H
#define SERVICE_JOBS_JOB_TABLE_H

#include <pthread.h>

#include "service/datasets/captions.h"
#include "service/jobs/active_jobs.h"
#include "service/jobs/job.h"
#include "service/jobs/job_changes.h"
#include "service/jobs/job_counts.h"
#include "service/jobs/jobs_base.h"
#include "service/jobs/response_cache.h"
#include "service/threads/registry.h"
#include "store/store.h"

struct job_of_model { /* an item of the registry of models */
    struct model_id id;
    struct job *job;
};

struct jobs {
    pthread_rwlock_t lock; /* guards all but base, and the members of a job that
                              change */
    struct registry registry;
    struct registry models; /* struct job_of_model, of each private job */
    uint64_t later_scores;  /* how often one was shown */
    struct active_jobs active;
    struct job_counts counts;
    struct changed_jobs changed;
    struct response_cache kept;
    struct jobs_base base;
};

/* Adds a new job to the registry, and counts it. The lock is held, for writing. */
void jobs_list(struct jobs *jobs, struct job *job);

/* Inserts the row for the first version of a job, and updates it for later versions.
 *   ST_IO  the store is poisoned */
enum status job_write_row(struct jobs *jobs, struct store_tx *tx, const struct job *job,
                          const struct job_now *now, struct error *error);

/* The version under which the row is written next: greater than any that the row had,
 * and than the version that is shown. A row is also written between two changes of what
 * is shown (job_save). */
static inline uint64_t job_next_version(const struct job_now *now)
{
    return (now->version > now->row_version ? now->version : now->row_version) + 1;
}

/* Returns the place where its caption is kept. */
struct caption_place job_caption_place(struct jobs *jobs, struct job *job);

/* The job as it would be with what is recorded but not yet shown. Takes the lock. */
struct job_now job_latest(struct jobs *jobs, const struct job *job);
/* The job as it is shown. Takes the lock. */
struct job_now job_as_shown(struct jobs *jobs, const struct job *job);

#endif
