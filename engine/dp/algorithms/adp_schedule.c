#include "engine/dp/algorithms/adp_schedule.h"

#include <math.h>

double adp_schedule_divisor(const struct adp_schedule *schedule, uint64_t step)
{
    double t = (double)step + 1;
    switch (schedule->rule) {
    case SCHEDULE_CONSTANT: return 1;
    case SCHEDULE_INVERSE_SQRT:
    case SCHEDULE_ADAGRAD_NORM: return sqrt(schedule->offset + schedule->slope * t);
    case SCHEDULE_SQRT_DECAY: { /* ends at final exactly */
        double left = 1 - sqrt(t / (double)schedule->steps);
        return 1 / (schedule->final + (schedule->initial - schedule->final) * left);
    }
    case SCHEDULE_INVERSE: return t;
    }
    return 1;
}

double adp_schedule_noise_rule(const struct adp_schedule *schedule, uint64_t step)
{
    if (schedule->power == 0)
        return 1;
    return fmax(
        1, pow(adp_schedule_divisor(schedule, step) / adp_schedule_divisor(schedule, 0),
               schedule->power));
}

double adp_schedule_noise_ratio(const struct adp_schedule *schedule, uint64_t step)
{
    double rule = adp_schedule_noise_rule(schedule, step);
    if (schedule->steps <= ADP_NOISE_LEVELS_MAX || rule == 1)
        return rule;
    double rise = log(adp_schedule_noise_rule(schedule, schedule->steps - 1));
    double level = floor(log(rule) / rise * ADP_NOISE_LEVELS_MAX);
    return exp(rise * fmin(level, ADP_NOISE_LEVELS_MAX - 1) / ADP_NOISE_LEVELS_MAX);
}

uint64_t adp_schedule_level_end(const struct adp_schedule *schedule, uint64_t step)
{
    double ratio = adp_schedule_noise_ratio(schedule, step);
    uint64_t same = step, other = schedule->steps;
    while (other - same > 1) {
        uint64_t middle = same + (other - same) / 2;
        *(adp_schedule_noise_ratio(schedule, middle) == ratio ? &same : &other) =
            middle;
    }
    return other;
}
