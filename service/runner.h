/*
 * runner.h - the run of one job: the one file where what is run (engine) and what is
 * charged (accountant) meet.
 *
 *   RUNNING --> authorise a block --> step, step, ... --> ... --> model's file --> handed
 *                                                                      over, to tick.h
 *
 * Invariants
 *   (1) A step runs only when it is durably authorised. Blocks are 1 % of the steps, rounded
 *       up, fixed before the first record is read; a mechanism without priced prefixes is
 *       authorised whole.
 *   (2) What a run records moves in whole hundredths of the steps, or on the schedule of its
 *       evaluations; nothing of it is shown, and no state moves, but by a tick.
 *   (3) Whatever happens at a moment that depends on how long steps took happens inside the
 *       public clock's gate. Once a stop has taken effect the run records and authorises
 *       nothing more.
 *
 * Threads: one a job, on the runners' pool.
 */
#ifndef SERVICE_RUNNER_H
#define SERVICE_RUNNER_H

/* The pool's run function: argument is the context, item a job that is RUNNING. Leaves how
 * it ended with job_hand_over. */
void runner_run(void *argument, void *item);

#endif
