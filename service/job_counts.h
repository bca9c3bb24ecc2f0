/*
 * job_counts.h - how many jobs there are in each state, in all and of each project, and how
 * often that has changed.
 *
 * Threads: the lock of jobs guards them.
 */
#ifndef SERVICE_JOB_COUNTS_H
#define SERVICE_JOB_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "service/job_state.h"

struct project_jobs; /* the counts of one project, opaque */

struct job_counts { /* zeroed: none */
    size_t by_state[JOB_STATE_COUNT];
    uint64_t states_version; /* as jobs_tally answers it (jobs.h) */
    size_t project_count;
    struct project_jobs *projects; /* (project_count), owned */
};

void job_counts_fini(struct job_counts *counts);

/* A job of the project, whose name outlives counts, is there in this state now. */
void job_counts_add(struct job_counts *counts, const char *project,
                    enum job_state state);
void job_counts_move(struct job_counts *counts, const char *project,
                     enum job_state from, enum job_state to);

/* A job that was in this state is there no more. */
void job_counts_remove(struct job_counts *counts, const char *project,
                       enum job_state state);

/* by_state = the counts of the project, all 0 where it has no job. */
void job_counts_of(const struct job_counts *counts, const char *project,
                   size_t by_state[JOB_STATE_COUNT]);

#endif
