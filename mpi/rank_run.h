/*
 * rank_run.h - one rank's part of a run, from the comparison of all ranks to the
 * last step.
 *
 *   compare --> { rank 0: authorise --> send to all --> step } ... --> over, or stopped
 *
 * Only rank 0 authorises steps, and a rank takes a step only after rank 0 has sent the
 * order. All ranks take the same steps, and end in the same way.
 *
 * Invariants
 *   (1) Nothing is authorised if the ranks differ (start_facts.h).
 *   (2) A step runs at all ranks, or at none. If a rank is missing, the processes
 *       of all others end (watchdog.h, mpi_group.h), and what was authorised
 *       stays authorised.
 *
 * Threads: one caller in each process, which opened the group.
 */
#ifndef MPI_RANK_RUN_H
#define MPI_RANK_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/start_facts.h"

/* Called only at rank 0, before it orders the others to take step, counted from 0. Sets
 * *is_over if the run ends after the steps already taken.
 *   ST_OK  the step is authorised, durably, or the run is over
 *   another status  the run stops, with the caller's error */
typedef enum status rank_authorise(void *context, uint64_t step, bool *is_over,
                                   struct error *error);

struct rank_run {
    const struct group *group; /* must be the trainer's */
    struct trainer *trainer;
    const struct start_facts *facts;
    rank_authorise *authorise;
    void *context;    /* passed to authorise */
    int64_t least_ns; /* only for tests: the watchdog's least; 0: WATCHDOG_LEAST_NS */
};

/* Takes the steps of the run. If a step is missed, the process exits with 75.
 *   ST_INVALID    start_facts_compare failed; no step was taken
 *   ST_CANCELLED  a rank saw the trainer's flag set, or, at the other ranks, rank 0
 *                 stopped: the text says why
 *   what authorise or trainer_step returns */
enum status rank_run(const struct rank_run *run, struct error *error);

#endif
