/*
 * step_counters.h - counts the steps that all runs of this process have shown, by
 * algorithm, and the examples that these steps draw in expectation.
 *
 *   steps    = sum over jobs of the step that is shown
 *   examples = sum over jobs of step x batch_size, the expected batch size
 *
 * Both are counted at ticks of the tick clock, from what a job shows then: quarters
 * of its steps, on public data hundredths. The drawn batch sizes are private
 * (privacy.md P6) and are not used here.
 *
 * Threads: the tick's counts; any may read.
 */
#ifndef SERVICE_METRICS_STEP_COUNTERS_H
#define SERVICE_METRICS_STEP_COUNTERS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/dp/algorithms/registry.h"

struct job;
struct jobs;

#define STEP_COUNTERS_ONE(name) +1
enum { STEP_COUNTERS_ALGORITHMS = ALGORITHM_TABLE(STEP_COUNTERS_ONE) };
#undef STEP_COUNTERS_ONE

struct steps_shown {
    uint64_t steps, examples;
};

struct step_counters { /* zeroed: none; in the order of the table of algorithms */
    atomic_uint_fast64_t steps[STEP_COUNTERS_ALGORITHMS],
        examples[STEP_COUNTERS_ALGORITHMS];
    /* of ended jobs; the tick's own */
    struct steps_shown ended[STEP_COUNTERS_ALGORITHMS];
};

/* Counts the steps shown at the end of a tick. jobs are those that had not ended when
 * the tick began; no thread is inside the clock's gate. */
void step_counters_count(struct step_counters *tally, struct jobs *jobs,
                         struct job *const *list, size_t count);

/* The steps and examples of the algorithm in that place of the table. */
struct steps_shown step_counters_read(const struct step_counters *tally,
                                      size_t algorithm);

#endif
