#include "service/metrics/step_counters.h"

#include <string.h>

#include "base/check.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/jobs.h"
#include "service/process/job_state.h"

static size_t place_of(const struct algorithm *algorithm)
{
    size_t place = 0;
    while (algorithms[place] != algorithm)
        place++;
    CHECK(place < STEP_COUNTERS_ALGORITHMS);
    return place;
}

static void add(struct steps_shown *sum, uint64_t steps, uint64_t batch_size)
{
    sum->steps += steps;
    sum->examples += steps * batch_size;
}

void step_counters_count(struct step_counters *tally, struct jobs *jobs,
                         struct job *const *list, size_t count)
{
    struct steps_shown open[STEP_COUNTERS_ALGORITHMS] = {{0}};
    for (size_t i = 0; i < count; i++) {
        const struct train_spec *train = &job_plan(list[i])->request.train;
        /* At the end of a tick everything recorded is shown. */
        uint64_t steps = job_recorded(jobs, list[i]).step;
        size_t place = place_of(train->algorithm.algorithm);
        bool ended = job_state_is_terminal(job_state(jobs, list[i]));
        add(ended ? &tally->ended[place] : &open[place], steps, train->batch_size);
    }
    for (size_t i = 0; i < STEP_COUNTERS_ALGORITHMS; i++) {
        atomic_store(&tally->steps[i], tally->ended[i].steps + open[i].steps);
        atomic_store(&tally->examples[i], tally->ended[i].examples + open[i].examples);
    }
}

struct steps_shown step_counters_read(const struct step_counters *tally,
                                      size_t algorithm)
{
    return (struct steps_shown){.steps = atomic_load(&tally->steps[algorithm]),
                                .examples = atomic_load(&tally->examples[algorithm])};
}
