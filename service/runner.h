/*
 * runner.h - the run of one job. Here, and nowhere else, what is run (engine) and what
 * is charged (accountant) meet.
 *
 *               +----- as long as steps remain -----+
 *               v                                   |
 *   RUNNING --> authorise a block --> step, step, --+--> the model's file --> handed over
 *
 * What is handed over is a struct ending, which the next tick makes known (tick.h).
 *
 * Invariants
 *   (1) A step runs only when it is durably authorised. A block is 1 % of the steps,
 *       rounded up, fixed before the first record is read. A mechanism whose prefixes
 *       have no price is authorised whole.
 *   (2) What a run records moves in whole hundredths of the steps, or on the schedule
 *       of its evaluations. Nothing of it is shown, and no state moves, but by a tick.
 *   (3) Whatever happens at a moment that depends on how long steps took happens inside
 *       the public clock's gate. Once a stop has taken effect the run records and
 *       authorises nothing more.
 *
 * Threads: each job runs on one thread of the runners' pool.
 */
#ifndef SERVICE_RUNNER_H
#define SERVICE_RUNNER_H

/* The run function of the runners' pool: argument is the context, item a job that is
 * RUNNING. How it ended is left with job_hand_over. */
void runner_run(void *argument, void *item);

#endif
