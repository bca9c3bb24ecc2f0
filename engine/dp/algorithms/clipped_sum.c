#include "engine/dp/algorithms/clipped_sum.h"

#include "engine/dp/cell_size.h"

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
    struct grid_spec spec = {.clip_norm = clip_norm,
                             .noise_multiplier = inputs->noise_multiplier,
                             .sampling_rate = algorithm_rate(inputs),
                             .records = inputs->records,
                             .dim = model->parameters,
                             .cell_mean = CELL_ROWS / unit_rows,
                             .spread = 1};
    spec.single =
        model->sums != NULL && cell_size_is_one(model->sums, grid_cell_bound(&spec));
    return spec;
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
