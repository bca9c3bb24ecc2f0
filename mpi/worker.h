/*
 * worker.h - the part of this process in a job's run: the plan, its records, its steps.
 *
 *   rank 0 reads the plan and sends it to all --> each opens the matrix and makes a
 *     trainer --> all or none go on --> they compare --> rank 0 reports -->
 *     { order, steps, report }
 *
 * Invariants
 *   (1) A step is taken only if it is covered by an order of the daemon, which means
 *       that it is durably authorised (api/requests/rank_text.h).
 *   (2) If the daemon is gone, so that no order comes, no further step is taken.
 *   (3) What leaves the processes is what the steps released.
 *
 * Threads: one caller, which opened the group.
 */
#ifndef MPI_WORKER_H
#define MPI_WORKER_H

#include "base/status.h"
#include "engine/dp/group.h"

/* Takes this process's part in the run, from the plan to the last step.
 *   ST_OK  the run was complete; the other ranks return the same
 *   else   it was not complete: the text says why, and rank 0 has reported it */
enum status worker_run(const struct group *group, struct error *error);

#endif
