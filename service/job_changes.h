/*
 * job_changes.h - what of a job was shown when, and which jobs changed last: so whoever
 * follows finds what is newer than what was sent, without a list of their own.
 *
 * All jobs share one count of versions, and datasets count with them. Every change of what is shown of any of them
 * makes the next version, and the job remembers it beside what has changed (job.h).
 *
 *   newest --> job --older--> job --older--> job ...     by the version of the last change
 *
 * Threads: the lock of jobs guards all of it.
 */
#ifndef SERVICE_JOB_CHANGES_H
#define SERVICE_JOB_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/dataset_changes.h"

struct job; /* job.h */

struct changed_jobs { /* zeroed: none */
    uint64_t version; /* of the last change; 0: there was none */
    struct job *newest;
    struct dataset_changes datasets;
};

/* The version of the last change of a job; datasets are not asked. */
uint64_t changed_jobs_last(const struct changed_jobs *changed);

/* Makes the next version, which changes the job, and puts it first. */
void changed_jobs_touch(struct changed_jobs *changed, struct job *job);
/* The same, and the change is one of its state. */
void changed_jobs_touch_state(struct changed_jobs *changed, struct job *job);

/* Each shows something as part of the job's last change, which was made for it: all that
 * was recorded, as the job's log says of that second; the same at a tick, with how long
 * the rest takes by that; a place in the queue. */
void job_changes_show(struct job *job, int64_t second);
void job_changes_show_at(struct job *job, int64_t second);
void job_changes_place(struct job *job, uint64_t queue_position);

/* Whether the job has changed since that version, but neither its state nor its progress:
 * what it is called, or that it is there. */
bool job_changes_otherwise(const struct job *job, uint64_t version);

/* How many of the job's points a version had shown. */
size_t job_changes_points(const struct job *job, uint64_t version);
size_t job_changes_released(const struct job *job, uint64_t version);

#endif
