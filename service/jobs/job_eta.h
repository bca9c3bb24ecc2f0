/*
 * job_eta.h - estimates how long a job will take, from how long a similar job took.
 *
 * It uses only what has been shown: the seconds at which a job was shown to begin and
 * to have succeeded, and the examples that it was planned to take. So it reveals no
 * more about a run than that run's own answer does (privacy.md P6): no time is measured
 * for it.
 *
 * Threads: any.
 */
#ifndef SERVICE_JOBS_JOB_ETA_H
#define SERVICE_JOBS_JOB_ETA_H

#include "service/jobs/jobs.h"

enum { JOB_ETA_LOOKED_AT = 100 }; /* jobs; older ones may not be comparable */

/* Estimates for how many seconds, rounded up, a job of this plan would run. It takes
 * the seconds of the newest job that succeeded on the same dataset, with the same model
 * and algorithm, and scales them by the examples that the steps of both take in
 * expectation. 0: none of the newest JOB_ETA_LOOKED_AT jobs is similar. The time in
 * the queue is not included. */
uint64_t job_eta_seconds(struct jobs *jobs, const struct job_plan *plan);

#endif
