/*
 * ending.h - how a job's run ended, from the thread that ran it to the tick that makes
 * it known.
 *
 * Ownership: the run makes it and leaves it with job_hand_over; whoever takes it
 * destroys it.
 */
#ifndef SERVICE_ENDING_H
#define SERVICE_ENDING_H

#include <stdbool.h>

#include "base/status.h"
#include "service/job_state.h"
#include "service/publication.h"

struct ending {
    /* A cancellation or a stop took effect before the run ended. It counts, whatever
     * the run came to in the moment until it noticed. */
    bool stopped;
    enum status status; /* ST_OK: the job is trained, and the model's file in place */
    struct error error; /* where status is another */
    /* Why the run failed, or why a success is shorter than asked. */
    enum job_reason reason;
    struct publication model;
};

struct ending *ending_create(void);
void ending_destroy(struct ending *ending); /* leaves the file; NULL is allowed */

/* How the run of a job ended. The run leaves it, once, and whoever makes the
 * end known takes it; NULL where the run has not ended, or its ending was taken. */
struct jobs; /* jobs.h */
struct job;
void job_hand_over(struct jobs *jobs, struct job *job, struct ending *ending_take);
struct ending *job_ending_take(struct jobs *jobs, struct job *job);

#endif
