/*
 * runner.h - the run of one job. This is the only file where what is run (engine) and
 * what is charged (accountant) meet.
 *
 *               +--------- as long as steps remain ---------+
 *               v                                           |
 *   RUNNING --> authorise a block --> step, step, --> wait --+--> the model's file -->
 *                                                                 handed over
 *
 * It hands over a struct run_result, which the next tick publishes (clock_tick.h). Runs
 * on public data do not wait.
 *
 * Invariants
 *   (1) A step runs only when it is durably authorised. A block is a quarter of the
 *       steps, rounded up, fixed before the first record is read. A mechanism whose
 *       prefixes have no price is authorised whole.
 *   (2) A run on private data waits at the end of each block, and before it hands over
 *       its end, for a random time (reveal_delay.h). Only then does it record the
 *       results of the block, with its evaluations, authorise the next block or the
 *       evaluation on a holdout, write the model's file and free its memory. Nothing
 *       else that others can see happens at a moment that depends on private records.
 *   (3) A run on public data records its progress in hundredths of the steps, and each
 *       evaluation at once. Only ticks show what any run records.
 *   (4) Everything that depends on how long steps took happens inside the public
 *       clock's gate. Once a stop has taken effect the run records and authorises
 *       nothing more.
 *
 * Threads: each job runs on one thread of the runners' pool.
 */
#ifndef SERVICE_RUNS_RUNNER_H
#define SERVICE_RUNS_RUNNER_H

/* The run function of the runners' pool: argument is the context, item a job that is
 * RUNNING. It leaves the job's ending with job_hand_over. */
void runner_run(void *argument, void *item);

#endif
