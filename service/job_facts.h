/*
 * job_facts.h - what of a job never changes, and the flag that stops its run. What may
 * change is read by the functions of jobs.h.
 *
 * Threads: any.
 */
#ifndef SERVICE_JOB_FACTS_H
#define SERVICE_JOB_FACTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/trace_context.h"
#include "service/job_plan.h"

struct job_told;
struct job; /* opaque */

const struct job_id *job_id(const struct job *job);
/* The number of its row. Later jobs have greater ones, and no other job ever had this one, at
 * whichever daemon. */
uint64_t job_number(const struct job *job);
/* That of a job which had ended before the start is read from its row's texts when it is
 * first asked for, and takes as long (job_kept.h): whoever goes over all jobs asks for what
 * stands below instead, and a request that comes to such a job asks job_check first. */
const struct job_plan *job_plan(const struct job *job);

/* Whether the job's row reads back; a job that has not ended has been read.
 *   ST_INTERNAL  it was damaged, and the log says how (job_kept.h) */
enum status job_check(const struct job *job, struct error *error);

/* What its plan says. */
const struct dataset_id *job_dataset(const struct job *job);
const struct algorithm *job_algorithm(const struct job *job);
const struct sweep_id *job_sweep(const struct job *job); /* NULL: it is a run of none */
bool job_is_private(const struct job *job);
bool job_is_measured(const struct job *job); /* on a holdout, or is to be */
double job_epsilon_planned(const struct job *job);

/* Whether its dataset's task is one: what its evaluations measure is then an rmse. */
bool job_is_regression(const struct job *job);
int64_t job_create_ms(const struct job *job);

/* The name of who submitted it, and the project of its dataset. */
const char *job_owner(const struct job *job);
const char *job_project(const struct job *job);

/* The number of its RESERVE entry; 0: nothing was reserved. */
uint64_t job_ledger_seq(const struct job *job);

/* The same of its evaluation on a holdout; 0: it has none. */
uint64_t job_measurement_seq(const struct job *job);

/* The trace of the request that submitted it. */
const struct trace_context *job_trace(const struct job *job);

/* The id that its model will have, or has. */
const struct model_id *job_model_id(const struct job *job);

/* Whoever sets it ends the run between two micro-batches: the trainer reads it. */
atomic_bool *job_stop_flag(struct job *job);
/* What other daemons were told of it last (run_progress.h), whose thread keeps it. */
struct job_told *job_told(struct job *job);
/* Whether a thread of this daemon of a shared store runs it (claims.h). */
atomic_bool *job_here_flag(struct job *job);

#endif
