/*
 * statistics_runner.h - the run of a survey (statistics, or an evaluation of a model),
 * and its settlement in the ledger when it ends.
 *
 *   RUNNING --> authorised --> one pass over the records, one noise --> handed over
 *           --> the next tick: COMMIT in the ledger and the answers, one transaction
 *
 * Invariants
 *   (1) The records are measured only after the one step that was reserved is durably
 *       authorised. From then on the survey is charged, even if it fails. An evaluation
 *       on a public dataset has no step, and reads public records only.
 *   (2) Answers are written in the transaction that commits the charge. A survey that a
 *       start finds running is ended without answers: nothing of a run is on disk
 *       before that transaction, so nothing is released twice.
 *   (3) Everything that depends on how long a run took goes through the tick clock's
 *       gate, and is visible only at ticks.
 */
#ifndef SERVICE_RUNS_STATISTICS_RUNNER_H
#define SERVICE_RUNS_STATISTICS_RUNNER_H

#include <stdint.h>

#include "base/status.h"

struct daemon_state;

/* The run function of the surveyors' pool: argument is the context, item a survey that
 * is RUNNING. It leaves its ending with statistics_run_hand_over. */
void statistics_runner_run(void *argument, void *item);

/* At a tick, publishes how runs ended, in the order in which they were requested, and
 * sets the stop flag of those that must stop. Threads: the clock's. */
void statistics_runner_tick(struct daemon_state *context, int64_t second);

/* Ends surveys that no daemon runs any more (orphaned_runs.h): charges what was
 * authorised, without answers. Threads: the clock's, or a start's.
 *   ST_IO  the store is poisoned */
enum status statistics_runner_recover(struct daemon_state *context,
                                      struct error *error);

#endif
