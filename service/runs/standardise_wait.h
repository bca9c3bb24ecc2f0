/*
 * standardise_wait.h - the numbers of a job that standardises, once the moments that it
 * cites are answered.
 *
 * Their survey began no later than the job, and runs in a pool of its own; another
 * daemon of a shared store may run it. What the job waits for is shown at a tick, so
 * the wait depends on nothing that is not public.
 *
 * Threads: the run's.
 */
#ifndef SERVICE_RUNS_STANDARDISE_WAIT_H
#define SERVICE_RUNS_STANDARDISE_WAIT_H

#include "base/status.h"
#include "engine/start_point.h"
#include "service/process/job_state.h"

struct daemon_state;
struct job;

struct standardise_numbers {    /* zeroed: none */
    struct feature_scale scale; /* owned */
    enum job_reason reason;     /* why the survey FAILED; else REASON_NONE */
};

/* Waits for the answers, and makes the scale from them; the caller releases it. Leaves
 * it zeroed if the job does not standardise.
 *   ST_CANCELLED        the job's stop flag was seen
 *   ST_INTERNAL         the survey FAILED: it has no answers, and numbers->reason is
 *                       why
 *   ST_CORRUPT, ST_IO   the row does not read back */
enum status standardise_wait(struct standardise_numbers *numbers,
                             struct daemon_state *context, struct job *job,
                             struct error *error);

#endif
