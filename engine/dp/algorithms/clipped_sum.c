#include "engine/dp/algorithms/clipped_sum.h"

/* How many records of a batch a cell has on average. The inflation is then 1.1 %
 * (noise.md 2.3). */
enum { CELL_MEAN = 128 };

enum status clipped_sum_charge(struct mechanism *m, enum mechanism_kind kind,
                               const struct algorithm_demand *demand,
                               struct error *error)
{
    struct mechanism_run run = {.sampling_rate = algorithm_rate(demand),
                                .noise_multiplier = demand->noise_multiplier,
                                .steps = demand->steps};
    if (!(demand->noise_multiplier > 0))
        return error_set(error, ST_INVALID, "%s needs a positive noise multiplier",
                         demand->spec->algorithm->name);
    mechanism_init(m, kind, demand->relation, run);
    return ST_OK;
}

struct grid_demand clipped_sum_demand(const struct algorithm_demand *demand,
                                      const struct algorithm_model *model,
                                      double clip_norm)
{
    return (struct grid_demand){.clip_norm = clip_norm,
                                .noise_multiplier = demand->noise_multiplier,
                                .sampling_rate = algorithm_rate(demand),
                                .records = demand->records,
                                .dim = model->parameters,
                                .cell_mean = CELL_MEAN,
                                .spread = model->spread,
                                .record_terms = model->record_terms};
}

enum status clipped_sum_plan(struct noise_plan *noise, const struct grid_demand *demand,
                             struct error *error)
{
    enum status status = grid_plan(&noise->grid, demand, error);
    if (status != ST_OK)
        return status;
    noise->clip_norm = demand->clip_norm;
    noise->spread = demand->spread;
    return ST_OK;
}
