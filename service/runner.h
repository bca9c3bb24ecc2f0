/*
 * runner.h - the run of one job. Here, and nowhere else, what is run (engine) and what
 * is charged (accountant) meet.
 *
 *               +--------- as long as steps remain ---------+
 *               v                                           |
 *   RUNNING --> authorise a block --> step, step, --> wait --+--> the model's file -->
 *                                                                 handed over
 *
 * What is handed over is a struct ending, which the next tick makes known (tick.h). Runs on
 * public data do not wait.
 *
 * Invariants
 *   (1) A step runs only when it is durably authorised. A block is a quarter of the steps,
 *       rounded up, fixed before the first record is read. A mechanism whose prefixes
 *       have no price is authorised whole.
 *   (2) A run on private data waits at the end of each block, and before it hands over its
 *       end, for a random time (reveal_delay.h). Only then does it record what the block
 *       has come to, its evaluations included, authorise the next block or the look at a
 *       holdout, write the model's file and give back its memory. Nothing else that others
 *       can see happens at a moment that depends on private records.
 *   (3) A run on public data records its progress in hundredths of the steps, and each
 *       evaluation at once. What any run records is shown by ticks alone.
 *   (4) Whatever depends on how long steps took happens inside the public clock's gate.
 *       Once a stop has taken effect the run records and authorises nothing more.
 *
 * Threads: each job runs on one thread of the runners' pool.
 */
#ifndef SERVICE_RUNNER_H
#define SERVICE_RUNNER_H

/* The run function of the runners' pool: argument is the context, item a job that is
 * RUNNING. How it ended is left with job_hand_over. */
void runner_run(void *argument, void *item);

#endif
