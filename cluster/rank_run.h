/*
 * rank_run.h - one rank's part of a run, from the comparison of all ranks to the last step.
 *
 *   compare --> { rank 0: authorise --> tell all --> step } ... --> over, or stopped
 *
 * Rank 0 alone authorises, and no rank takes a step before it was told to. All ranks take
 * the same steps, and end alike.
 *
 * Invariants
 *   (1) Nothing is authorised where the ranks differ (start_facts.h).
 *   (2) A step runs at all ranks, or none: who does not come ends the process of all others
 *       (watchdog.h, mpi_group.h), and what was authorised stays so.
 *
 * Threads: one caller in each process, which opened the group.
 */
#ifndef CLUSTER_RANK_RUN_H
#define CLUSTER_RANK_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "cluster/start_facts.h"

/* Asked at rank 0 alone, before it tells the others to take step, counted from 0. Sets
 * *is_over where the run ends with the steps that it has.
 *   ST_OK  the step is authorised, durably, or the run is over
 *   another status  the run stops, with the caller's error */
typedef enum status rank_authorise(void *context, uint64_t step, bool *is_over,
                                   struct error *error);

struct rank_run {
    const struct group *group; /* the trainer's */
    struct trainer *trainer;
    const struct start_facts *facts;
    rank_authorise *authorise;
    void *context;    /* of authorise */
    int64_t least_ns; /* tests: of the watchdog; 0: WATCHDOG_LEAST_NS */
};

/* Takes the steps of the run. The process exits with 75 where one is missed.
 *   ST_INVALID    start_facts_compare; no step was taken
 *   ST_CANCELLED  the trainer's flag was seen by a rank, or, at the others, rank 0 stopped:
 *                 the text says why
 *   what authorise or trainer_step returns */
enum status rank_run(const struct rank_run *run, struct error *error);

#endif
