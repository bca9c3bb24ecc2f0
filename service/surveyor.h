/*
 * surveyor.h - the run of a survey, and what is done with the ledger when it ends.
 *
 *   RUNNING --> authorised --> one pass over the records, one noise --> handed over
 *           --> the next tick: COMMIT in the ledger and the answers, one transaction
 *
 * Invariants
 *   (1) The records are measured only after the one step that was reserved is durably
 *       authorised. From then on the survey is charged, whatever becomes of it.
 *   (2) Answers are written in the transaction that commits the charge. A survey that a
 *       start finds running is ended without answers: nothing of a run is on disk before
 *       that transaction, so nothing is released twice.
 *   (3) What depends on how long a run took goes through the public clock's gate, and is
 *       seen at ticks alone.
 */
#ifndef SERVICE_SURVEYOR_H
#define SERVICE_SURVEYOR_H

#include <stdint.h>

#include "base/status.h"
#include "service/context.h"

/* The run function of the surveyors' pool: argument is the context, item a survey that is
 * RUNNING. How it ended is left with survey_hand_over. */
void surveyor_run(void *argument, void *item);

/* Makes known at a tick how runs ended, in the order in which they were asked for, and has
 * those stopped that are to be. Threads: the clock's. */
void surveyor_tick(struct context *context, int64_t second);

/* Ends what no daemon measures for any more (lost_work.h): charged what was authorised,
 * without answers. Threads: the clock's, or a start's.
 *   ST_IO  the store is poisoned */
enum status surveyor_recover(struct context *context, struct error *error);

#endif
