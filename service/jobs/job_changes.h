/*
 * job_changes.h - at which version each part of a job was last shown, and which jobs
 * changed last. So a follower finds what is newer than what it was sent, without a list
 * of its own.
 *
 * All jobs and the datasets share one count of versions. Every change of anything that
 * is shown makes the next version, and the job remembers this version with what has
 * changed (job.h).
 *
 *   newest --> job --older--> job --older--> job ...   by version of the last change
 *
 * Threads: the lock of jobs guards all of it.
 */
#ifndef SERVICE_JOBS_JOB_CHANGES_H
#define SERVICE_JOBS_JOB_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/datasets/dataset_changes.h"

struct job; /* job.h */

struct changed_jobs { /* zeroed: none */
    uint64_t version; /* of the last change; 0: there was none */
    struct job *newest;
    struct dataset_changes datasets;
};

/* The version of the last change of a job; changes of datasets do not count. */
uint64_t changed_jobs_last(const struct changed_jobs *changed);

/* Makes the next version, records it as the job's last change, and puts the job
 * first. */
void changed_jobs_touch(struct changed_jobs *changed, struct job *job);
/* The same, for a change of the job's state. */
void changed_jobs_touch_state(struct changed_jobs *changed, struct job *job);

/* Each shows something as part of the job's last change, which was made for it.
 * job_changes_show shows all that was recorded, as the job's log says for that second;
 * job_changes_show_at does so at a tick, and estimates how long the rest takes;
 * job_changes_place shows a place in the queue. */
void job_changes_show(struct job *job, int64_t second);
void job_changes_show_at(struct job *job, int64_t second);
void job_changes_place(struct job *job, uint64_t queue_position);

/* Returns whether the job has changed since that version in something other than its
 * state and its progress: its caption, or that it is there. */
bool job_changes_otherwise(const struct job *job, uint64_t version);

/* Returns how many of the job's points had been shown at that version. */
size_t job_changes_points(const struct job *job, uint64_t version);
size_t job_changes_released(const struct job *job, uint64_t version);

#endif
