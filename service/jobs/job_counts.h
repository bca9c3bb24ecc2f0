/*
 * job_counts.h - how many jobs there are in each state, in total and per project, and
 * how often that has changed.
 *
 * Threads: the lock of jobs guards them.
 */
#ifndef SERVICE_JOBS_JOB_COUNTS_H
#define SERVICE_JOBS_JOB_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "service/process/job_state.h"

struct project_jobs; /* the counts of one project, opaque */

struct job_counts { /* zeroed: none */
    size_t by_state[JOB_STATE_COUNT];
    uint64_t states_version; /* as jobs_tally returns it (jobs.h) */
    size_t project_count;
    struct project_jobs *projects; /* (project_count), owned */
};

void job_counts_fini(struct job_counts *counts);

/* Counts a new job of the project in this state. The project's name outlives counts. */
void job_counts_add(struct job_counts *counts, const char *project,
                    enum job_state state);
void job_counts_move(struct job_counts *counts, const char *project,
                     enum job_state from, enum job_state to);

/* Takes a job that was in this state out of the counts. */
void job_counts_remove(struct job_counts *counts, const char *project,
                       enum job_state state);

/* Sets by_state to the counts of the project, all 0 if it has no job. */
void job_counts_of(const struct job_counts *counts, const char *project,
                   size_t by_state[JOB_STATE_COUNT]);

#endif
