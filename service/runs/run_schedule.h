/*
 * run_schedule.h - the steps at which a run is authorised, shown and evaluated. They
 * follow from the plan and are fixed before the first record is read.
 *
 * Pure.
 */
#ifndef SERVICE_RUNS_RUN_SCHEDULE_H
#define SERVICE_RUNS_RUN_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

struct train_spec;

/* Returns the step at which the block that begins after done steps ends. A private run
 * has a block for each quarter of the steps, rounded up; a public run has one block. */
uint64_t run_schedule_block_end(const struct train_spec *train, bool is_private,
                                uint64_t done);

/* Returns the step that is shown after done steps: the last complete hundredth, or, of
 * a private run, the last complete quarter. */
uint64_t run_schedule_shown(const struct train_spec *train, bool is_private,
                            uint64_t done);

/* Returns whether a step is a point, at which what was released is kept and a public
 * run shows progress: every hundredth of the steps, rounded up. */
bool run_schedule_is_point(const struct train_spec *train, uint64_t step);

/* Returns whether the model is evaluated after a step: every epoch, or every hundredth
 * of the steps if that is more, and after the last step. */
bool run_schedule_is_evaluation(const struct train_spec *train, uint64_t step);

/* Returns the first step after done that is a point, an evaluation or block_end. */
uint64_t run_schedule_stop(const struct train_spec *train, uint64_t done,
                           uint64_t block_end);

#endif
