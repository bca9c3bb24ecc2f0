#include "engine/quality/quality_plan.h"

#include <math.h>

size_t quality_counts(const struct quality_plan *plan)
{
    return plan->classes > 0 ? (size_t)plan->classes * plan->classes + 2 * QUALITY_BINS
                             : QUALITY_MOMENTS + QUALITY_BINS;
}

double quality_distance(const struct quality_plan *plan)
{
    double square = plan->classes > 0 ? 2 : 4;
    if (plan->relation == RELATION_REPLACE_ONE)
        square *= 2;
    return nextafter(sqrt(square), INFINITY);
}

double quality_deviation(const struct quality_plan *plan)
{
    return plan->noise_multiplier * quality_distance(plan);
}

enum status quality_grid(struct grid *grid, const struct quality_plan *plan,
                         struct error *error)
{
    const struct count_grid_spec spec = {
        .noise_multiplier =
            nextafter(quality_deviation(plan), INFINITY) * (double)QUALITY_ONE,
        .batch = (double)plan->records * QUALITY_ONE,
        .records = plan->records,
        .counts = quality_counts(plan),
    };
    return grid_plan_counts(grid, &spec, error);
}
