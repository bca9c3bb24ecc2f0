/* The worked example of an algorithm: what it is told (parameters), what it charges
 * (plan), what it knows before it starts (start), what it does (step). */
#include "engine/dp/dpsgd.h"

#include "engine/dp/clip.h"
#include "engine/dp/training.h"

/* Expected records of a batch in a cell: the inflation is then 1.1 % (NOISE.md 2.3). */
enum { CELL_MEAN = 128 };

struct state {
    double rate, divisor;
    struct flat_clip clip;
    struct noise_plan noise;
};

static const struct algorithm_parameter parameters[] = {
    {.name = "clip_norm",
     .kind = PARAMETER_REAL,
     .low = 1e-12,
     .high = 1e18,
     .fallback = 1,
     .about = "Gradients longer than this are shortened to it; noise grows with it."},
};

/* Each step releases one sum of records that were drawn independently at the same rate,
 * in which no record weighs more than the clip norm: a sampled Gaussian. */
static enum status plan(struct mechanism *m, const struct algorithm_demand *demand,
                        struct error *error)
{
    struct mechanism_run run = {.sampling_rate = algorithm_rate(demand),
                                .noise_multiplier = demand->noise_multiplier,
                                .steps = demand->steps};
    if (!(demand->noise_multiplier > 0))
        return error_set(error, ST_INVALID, "dpsgd needs a positive noise multiplier");
    mechanism_init(m, MECHANISM_SAMPLED_GAUSSIAN, demand->relation, run);
    return ST_OK;
}

static enum status start(void *context, const struct algorithm_demand *demand,
                         const struct algorithm_model *model, struct error *error)
{
    struct state *state = context;
    double clip_norm = algorithm_value(demand->spec, "clip_norm");
    struct grid_demand grid = {.clip_norm = clip_norm,
                               .noise_multiplier = demand->noise_multiplier,
                               .sampling_rate = algorithm_rate(demand),
                               .records = demand->records,
                               .dim = model->parameters,
                               .cell_mean = CELL_MEAN,
                               .spread = model->spread};
    enum status status = grid_plan(&state->noise.grid, &grid, error);
    if (status != ST_OK)
        return status;
    state->noise.clip_norm = clip_norm;
    state->noise.spread = model->spread;
    state->clip = (struct flat_clip){.clip_norm = clip_norm, .spread = model->spread};
    state->rate = algorithm_rate(demand);
    state->divisor = (double)demand->batch_size; /* never the realised size (P2) */
    return ST_OK;
}

static enum status step(void *context, struct training *training, struct error *error)
{
    const struct state *state = context;
    struct pass pass = {
        .grid = &state->noise.grid, .weigh = clip_flat, .rule = &state->clip};
    training_sample(training, state->rate);
    enum status status = training_pass(training, &pass, error);
    if (status != ST_OK)
        return status;
    training_release(training, pass.grid, state->divisor);
    return training_update(training, error);
}

static const struct noise_plan *noise(const void *context)
{
    const struct state *state = context;
    return &state->noise;
}

const struct algorithm dpsgd = {
    .name = "dpsgd",
    .title = "DP-SGD with flat clipping",
    .paper = "Abadi et al., Deep Learning with Differential Privacy, CCS 2016",
    .charge = "sampled Gaussian: one release a step at rate batch_size / n",
    .when_to_use = "The default: any model here, with batches and rates larger than "
                   "without privacy.",
    .is_private = true,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .plan = plan,
    .state_size = sizeof(struct state),
    .start = start,
    .step = step,
    .noise = noise,
};
