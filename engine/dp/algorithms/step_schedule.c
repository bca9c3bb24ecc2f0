#include "engine/dp/algorithms/step_schedule.h"

#include <math.h>

double step_divisor(const struct step_schedule *schedule, uint64_t step)
{
    double t = (double)step + 1;
    switch (schedule->rule) {
    case STEP_CONSTANT: return 1;
    case STEP_INVERSE_SQRT:
    case STEP_ADAGRAD_NORM: return sqrt(schedule->offset + schedule->slope * t);
    case STEP_SQRT_DECAY: { /* ends at final exactly */
        double left = 1 - sqrt(t / (double)schedule->steps);
        return 1 / (schedule->final + (schedule->initial - schedule->final) * left);
    }
    case STEP_INVERSE: return t;
    }
    return 1;
}

double step_noise_rule(const struct step_schedule *schedule, uint64_t step)
{
    if (schedule->power == 0)
        return 1;
    return fmax(1, pow(step_divisor(schedule, step) / step_divisor(schedule, 0),
                       schedule->power));
}

double step_noise_ratio(const struct step_schedule *schedule, uint64_t step)
{
    double rule = step_noise_rule(schedule, step);
    if (schedule->steps <= NOISE_LEVELS_MAX || rule == 1)
        return rule;
    double rise = log(step_noise_rule(schedule, schedule->steps - 1));
    double level = floor(log(rule) / rise * NOISE_LEVELS_MAX);
    return exp(rise * fmin(level, NOISE_LEVELS_MAX - 1) / NOISE_LEVELS_MAX);
}

uint64_t step_level_end(const struct step_schedule *schedule, uint64_t step)
{
    double ratio = step_noise_ratio(schedule, step);
    uint64_t same = step, other = schedule->steps;
    while (other - same > 1) {
        uint64_t middle = same + (other - same) / 2;
        *(step_noise_ratio(schedule, middle) == ratio ? &same : &other) = middle;
    }
    return other;
}
