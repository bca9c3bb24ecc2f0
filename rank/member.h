/*
 * member.h - what this process takes part in of a job's run: the plan, its records, its steps.
 *
 *   rank 0 reads the plan and tells all --> each opens the matrix and makes a trainer
 *     --> all or none go on --> they compare --> rank 0 reports --> { order, steps, report }
 *
 * Invariants
 *   (1) A step is taken only if an order of the daemon covers it, which says that it is
 *       durably authorised (api/rank_text.h).
 *   (2) Where the daemon is gone, so that no order comes, no further step is taken.
 *   (3) What leaves the processes is what the steps released.
 *
 * Threads: one caller, which opened the group.
 */
#ifndef RANK_MEMBER_H
#define RANK_MEMBER_H

#include "base/status.h"
#include "engine/dp/group.h"

/* Takes the part of this process in the run, from the plan to the last step.
 *   ST_OK  the run was complete; the other ranks say the same
 *   else   it was not: the text says why. Rank 0 has reported it */
enum status member_run(const struct group *group, struct error *error);

#endif
