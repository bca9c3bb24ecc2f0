/*
 * job_table.h - all jobs in memory, for the files that make up that room: jobs (opening,
 * reading, moving), job_recording (what a run records, and what of it is shown),
 * job_renewal (what another daemon has written of them, and job_save),
 * job_arrivals (what another daemon has added and deleted) and job_upkeep (what is done to a
 * job beside its run). Everybody else knows jobs by the functions of jobs.h.
 */
#ifndef SERVICE_JOB_TABLE_H
#define SERVICE_JOB_TABLE_H

#include <pthread.h>

#include "service/active_jobs.h"
#include "service/captions.h"
#include "service/job.h"
#include "service/job_changes.h"
#include "service/job_counts.h"
#include "service/jobs_base.h"
#include "service/kept_answers.h"
#include "service/registry.h"
#include "store/store.h"

struct jobs {
    pthread_rwlock_t lock; /* guards all but base, and all of a job that changes */
    struct registry registry;
    struct active_jobs active;
    struct job_counts counts;
    struct changed_jobs changed;
    struct kept_answers kept;
    struct jobs_base base;
};

/* Lists a job that is new, and counts it. The lock is held, for writing. */
void jobs_list(struct jobs *jobs, struct job *job);

/* Inserts the first version of a job, and updates the row with later ones.
 *   ST_IO  the store is poisoned */
enum status job_write_row(struct jobs *jobs, struct store_tx *tx, const struct job *job,
                          const struct job_now *now, struct error *error);

/* The version that the row is written under next: greater than any that it had, and than what
 * is shown. A row is written between two changes of what is shown, too (job_save). */
static inline uint64_t job_next_version(const struct job_now *now)
{
    return (now->version > now->row_version ? now->version : now->row_version) + 1;
}

/* Where its caption stands. */
struct caption_place job_caption_place(struct jobs *jobs, struct job *job);

/* The job as it would be with what is recorded but not yet shown. Takes the lock. */
struct job_now job_latest(struct jobs *jobs, const struct job *job);
/* The job as it is shown. Takes the lock. */
struct job_now job_as_shown(struct jobs *jobs, const struct job *job);

#endif
