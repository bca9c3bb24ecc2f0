/*
 * run_result.h - the result of a job's run, passed from the thread that ran it to the
 * tick that makes it known.
 *
 * Ownership: the run makes it and passes it on with job_hand_over; the taker destroys
 * it.
 */
#ifndef SERVICE_RUNS_RUN_RESULT_H
#define SERVICE_RUNS_RUN_RESULT_H

#include <stdbool.h>

#include "service/process/job_state.h"
#include "service/runs/publication.h"

struct run_result {
    /* A cancellation or a stop took effect before the run ended. It decides the end, no
     * matter what the run did until it noticed. */
    bool stopped;
    enum status status; /* ST_OK: trained, and the model's file is in place */
    struct error error; /* if status is not ST_OK */
    /* Why the run failed, or why a success is shorter than asked. */
    enum job_reason reason;
    struct publication model;
};

struct run_result *run_result_create(void);
void run_result_destroy(
    struct run_result *ending); /* keeps the file; NULL is allowed */

/* Pass on the result of a job's run. The run hands it over once, and the caller that
 * makes the end known takes it; NULL if the run has not ended, or its result was
 * taken. */
struct jobs; /* jobs.h */
struct job;
void job_hand_over(struct jobs *jobs, struct job *job, struct run_result *ending_take);
struct run_result *job_ending_take(struct jobs *jobs, struct job *job);

#endif
