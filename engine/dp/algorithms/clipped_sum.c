#include "engine/dp/algorithms/clipped_sum.h"

/* The average number of rows of a batch in a cell. If each row is a unit, the inflation
 * is then 1.1 % (noise.md 2.3). */
enum { CELL_MEAN = 128 };

enum status clipped_sum_charge(struct mechanism *m, enum mechanism_kind kind,
                               const struct algorithm_inputs *inputs,
                               struct error *error)
{
    struct mechanism_run run = {.sampling_rate = algorithm_rate(inputs),
                                .noise_multiplier = inputs->noise_multiplier,
                                .steps = inputs->steps};
    if (!(inputs->noise_multiplier > 0))
        return error_set(error, ST_INVALID, "%s needs a positive noise multiplier",
                         inputs->spec->algorithm->name);
    mechanism_init(m, kind, inputs->relation, run);
    return ST_OK;
}

struct grid_spec clipped_sum_spec(const struct algorithm_inputs *inputs,
                                  const struct algorithm_model *model, double clip_norm)
{
    uint32_t unit_rows = model->unit_rows > 0 ? model->unit_rows : 1;
    return (struct grid_spec){.clip_norm = clip_norm,
                              .noise_multiplier = inputs->noise_multiplier,
                              .sampling_rate = algorithm_rate(inputs),
                              .records = inputs->records,
                              .dim = model->parameters,
                              .cell_mean = CELL_MEAN / unit_rows,
                              .spread = 1};
}

enum status clipped_sum_plan(struct noise_plan *noise, const struct grid_spec *spec,
                             struct error *error)
{
    enum status status = grid_plan(&noise->grid, spec, error);
    if (status != ST_OK)
        return status;
    noise->clip_norm = spec->clip_norm;
    noise->spread = spec->spread;
    return ST_OK;
}
