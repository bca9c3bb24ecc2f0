#include "engine/dp/noise_plan.h"

#include <string.h>

#include "base/check.h"

void noise_plan_set(struct noise_plan *plan, const struct noise_grid *grid)
{
    size_t k = 0;
    while (k < plan->named_count && strcmp(plan->named[k].name, grid->name) != 0)
        k++;
    CHECK(k < NOISE_GRIDS_MAX);
    plan->named[k] = *grid;
    if (k == plan->named_count)
        plan->named_count++;
}
