/*
 * step_tally.h - counts the steps that all runs of this process have shown, by
 * algorithm, and the examples that these steps draw in expectation.
 *
 *   steps    = sum over jobs of the step that is shown
 *   examples = sum over jobs of step x batch_size, the expected batch size
 *
 * Both are counted at ticks of the public clock, from what a job shows then: quarters
 * of its steps, on public data hundredths. The drawn batch sizes are private
 * (privacy.md P6) and are not used here.
 *
 * Threads: the tick's counts; any may read.
 */
#ifndef SERVICE_STEP_TALLY_H
#define SERVICE_STEP_TALLY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/dp/algorithms/registry.h"

struct job;
struct jobs;

#define STEP_TALLY_ONE(name) +1
enum { STEP_TALLY_ALGORITHMS = ALGORITHM_TABLE(STEP_TALLY_ONE) };
#undef STEP_TALLY_ONE

struct steps_shown {
    uint64_t steps, examples;
};

struct step_tally { /* zeroed: none; in the order of the table of algorithms */
    atomic_uint_fast64_t steps[STEP_TALLY_ALGORITHMS], examples[STEP_TALLY_ALGORITHMS];
    struct steps_shown ended[STEP_TALLY_ALGORITHMS]; /* of ended jobs; the tick's own */
};

/* Counts the steps shown at the end of a tick. jobs are those that had not ended when
 * the tick began; no thread is inside the clock's gate. */
void step_tally_count(struct step_tally *tally, struct jobs *jobs,
                      struct job *const *list, size_t count);

/* The steps and examples of the algorithm in that place of the table. */
struct steps_shown step_tally_read(const struct step_tally *tally, size_t algorithm);

#endif
