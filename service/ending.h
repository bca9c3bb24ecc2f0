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

#endif
