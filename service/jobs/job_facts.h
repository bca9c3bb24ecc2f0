/*
 * job_facts.h - the facts of a job that never change, and the flag that stops its run.
 * The functions of jobs.h read what may change.
 *
 * Threads: any.
 */
#ifndef SERVICE_JOBS_JOB_FACTS_H
#define SERVICE_JOBS_JOB_FACTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "service/jobs/job_plan.h"

struct job_told;
struct job; /* opaque */

const struct job_id *job_id(const struct job *job);
/* The number of its row. Later jobs have greater numbers, and no two jobs of any
 * daemons ever have the same one. */
uint64_t job_number(const struct job *job);
/* The plan of a job that had ended before the start is read from its row's texts at the
 * first call, which takes as long as reading them (job_text.h). Code that walks over
 * all jobs uses the functions below instead, and a request for such a job calls
 * job_check first. */
const struct job_plan *job_plan(const struct job *job);

/* Checks whether the job's row reads back; a job that has not ended has been read.
 *   ST_INTERNAL  it was damaged, and the log says how (job_text.h) */
enum status job_check(const struct job *job, struct error *error);

/* Facts that the job's plan says. */
const struct dataset_id *job_dataset(const struct job *job);
const struct algorithm *job_algorithm(const struct job *job);
const struct sweep_id *job_sweep(const struct job *job); /* NULL: the job is a run of no
                                                            sweep */
bool job_is_private(const struct job *job);
bool job_is_measured(const struct job *job); /* it has or will have an evaluation on a
                                                holdout */
double job_epsilon_planned(const struct job *job);

/* Returns whether its dataset's task is regression: its evaluations then measure an
 * rmse. */
bool job_is_regression(const struct job *job);
int64_t job_create_ms(const struct job *job);

/* The name of the principal that submitted it, and the project of its dataset. */
const char *job_owner(const struct job *job);
const char *job_project(const struct job *job);

/* The number of its RESERVE entry; 0: nothing was reserved. */
uint64_t job_ledger_seq(const struct job *job);

/* The same for its evaluation on a holdout; 0: it has none. */
uint64_t job_measurement_seq(const struct job *job);

/* The trace of the request that submitted it. */
const struct trace_context *job_trace(const struct job *job);

/* The id that its model will have, or has. */
const struct model_id *job_model_id(const struct job *job);

/* Setting it ends the run between two micro-batches: the trainer reads it. */
atomic_bool *job_stop_flag(struct job *job);
/* Returns what was last reported to other daemons about it (progress_sync.h). The
 * thread of run_progress owns it. */
struct job_told *job_told(struct job *job);
/* The flag says whether a thread of this daemon runs the job, if the store is shared
 * (run_claims.h). */
atomic_bool *job_here_flag(struct job *job);

#endif
