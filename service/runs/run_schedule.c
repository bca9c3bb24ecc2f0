#include "service/runs/run_schedule.h"

#include "engine/train_spec.h"
#include "service/threads/reveal_delay.h"

/* The most evaluations, and the most points of released values, that a job has. */
enum { POINTS = 100 };

static uint64_t share(uint64_t steps, uint64_t parts)
{
    return (steps + parts - 1) / parts;
}

static uint64_t next_multiple(uint64_t done, uint64_t period)
{
    return (done / period + 1) * period;
}

static uint64_t evaluation_period(const struct train_spec *train)
{
    uint64_t epoch = (train->records + train->batch_size - 1) / train->batch_size;
    uint64_t point = share(train->steps, POINTS);
    return epoch > point ? epoch : point;
}

uint64_t run_schedule_block_end(const struct train_spec *train, bool is_private,
                                uint64_t done)
{
    uint64_t end = done + share(train->steps, REVEAL_QUARTERS);
    return is_private && end < train->steps ? end : train->steps;
}

uint64_t run_schedule_shown(const struct train_spec *train, bool is_private,
                            uint64_t done)
{
    return done - done % share(train->steps, is_private ? REVEAL_QUARTERS : POINTS);
}

bool run_schedule_is_point(const struct train_spec *train, uint64_t step)
{
    return step % share(train->steps, POINTS) == 0;
}

bool run_schedule_is_evaluation(const struct train_spec *train, uint64_t step)
{
    return step % evaluation_period(train) == 0 || step == train->steps;
}

uint64_t run_schedule_stop(const struct train_spec *train, uint64_t done,
                           uint64_t block_end)
{
    uint64_t point = next_multiple(done, share(train->steps, POINTS));
    uint64_t evaluation = next_multiple(done, evaluation_period(train));
    uint64_t stop = point < block_end ? point : block_end;
    return evaluation < stop ? evaluation : stop;
}
