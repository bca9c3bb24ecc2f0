/*
 * job_pace.h - how long a job will take, by how long one like it took.
 *
 * It is made of what has been shown and nothing else: the seconds at which a job was shown to
 * begin and to have succeeded, and the examples that it was to take. So it tells of no run
 * more than that run's own answer does (privacy.md P6): nothing is timed for it.
 *
 * Threads: any.
 */
#ifndef SERVICE_JOB_PACE_H
#define SERVICE_JOB_PACE_H

#include "service/jobs.h"

enum { JOB_PACE_LOOKED_AT = 100 }; /* the newest jobs; older ones are of another day */

/* Seconds, rounded up, that a job of this plan would run: as many times those of the newest
 * job that succeeded on the same dataset, with the same model and algorithm, as its steps
 * take examples in expectation. 0: none of the newest JOB_PACE_LOOKED_AT is like it. Waiting
 * in the queue is not in it. */
uint64_t job_pace_seconds(struct jobs *jobs, const struct job_plan *plan);

#endif
