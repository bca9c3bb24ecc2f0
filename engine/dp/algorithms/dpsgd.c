/* DP-SGD (Abadi et al. 2016; papers/valueclip.md 1.1) with flat, automatic (Bu et al.
 * 2023; papers/dcsgd.md 1.8) or per-layer clipping. */
#include "engine/dp/algorithm.h"

#include <math.h>

#include "engine/dp/algorithms/clipped_sum.h"
#include "engine/dp/clip.h"
#include "engine/dp/stepper.h"

enum clipping { CLIPPING_FLAT, CLIPPING_AUTOMATIC, CLIPPING_PER_LAYER };

struct state {
    double rate, divisor;
    enum clipping clipping;
    struct flat_clip flat; /* clips the whole gradient, or each layer's part */
    struct automatic_clip automatic;
    struct noise_plan noise;
};

static const char *const clippings[] = {"flat", "automatic", "per_layer", NULL};

static const struct algorithm_parameter parameters[] = {
    {.name = "clipping",
     .kind = PARAMETER_CHOICE,
     .choices = clippings,
     .fallback = CLIPPING_FLAT,
     .about = "flat shortens long gradients to clip_norm. automatic scales every "
              "gradient to about clip_norm, so that clip_norm only scales the "
              "learning rate. per_layer shortens each layer's part to clip_norm / "
              "sqrt(layers)."},
    CLIPPED_SUM_CLIP_NORM,
    {.name = "gamma",
     .kind = PARAMETER_REAL,
     .low = 1e-6,
     .high = 1e6,
     .fallback = 0.01,
     .about = "Added to every norm before clip_norm is divided by it, so that "
              "gradients near zero stay small. Only for automatic clipping.",
     .only_with = "clipping",
     .only_value = CLIPPING_AUTOMATIC},
};

/* Each step releases one sum of records that were drawn independently at the same rate,
 * in which no record's gradient is longer than the clip norm: a sampled Gaussian. */
static enum status plan(struct mechanism *m, const struct algorithm_inputs *inputs,
                        struct error *error)
{
    return clipped_sum_charge(m, MECHANISM_SAMPLED_GAUSSIAN, inputs, error);
}

/* The clip norm of one layer's part. The parts of all layers together have a norm of at
 * most clip_norm. */
static double layer_clip_norm(double clip_norm, size_t layers)
{
    return clip_norm / sqrt((double)layers) * (1 - 0x1p-50);
}

static void set_clip(struct state *state, const struct algorithm_spec *spec,
                     const struct algorithm_model *model, double clip_norm)
{
    state->clipping = (enum clipping)algorithm_value(spec, "clipping");
    state->flat = (struct flat_clip){.clip_norm = clip_norm, .spread = 1};
    if (state->clipping == CLIPPING_PER_LAYER)
        state->flat.clip_norm = layer_clip_norm(clip_norm, model->layers);
    state->automatic = (struct automatic_clip){
        .clip_norm = clip_norm, .gamma = algorithm_value(spec, "gamma"), .spread = 1};
}

static enum status start(void *context, const struct algorithm_inputs *inputs,
                         const struct algorithm_model *model, struct error *error)
{
    struct state *state = context;
    double clip_norm = algorithm_value(inputs->spec, "clip_norm");
    struct grid_spec sum = clipped_sum_spec(inputs, model, clip_norm);
    set_clip(state, inputs->spec, model, clip_norm);
    if (state->clipping == CLIPPING_AUTOMATIC &&
        state->automatic.clip_norm > CLIP_GAIN_MAX * state->automatic.gamma)
        return error_set_at(error, ST_INVALID, "/algorithm/gamma",
                            "clip_norm / gamma must be at most 2^60: give a larger "
                            "gamma or a smaller clip_norm");
    state->rate = algorithm_rate(inputs);
    state->divisor = (double)inputs->batch_size; /* never the realised size (P2) */
    return clipped_sum_plan(&state->noise, &sum, error);
}

static struct batch_sum sum_of(const struct state *state)
{
    switch (state->clipping) {
    case CLIPPING_FLAT:
    case CLIPPING_PER_LAYER:
        return (struct batch_sum){.grid = &state->noise.grid,
                                  .clip = clip_flat,
                                  .clip_context = &state->flat,
                                  .by_layer = state->clipping == CLIPPING_PER_LAYER};
    case CLIPPING_AUTOMATIC: break;
    }
    return (struct batch_sum){.grid = &state->noise.grid,
                              .clip = clip_automatic,
                              .clip_context = &state->automatic};
}

static enum status step(void *context, struct stepper *stepper, struct error *error)
{
    const struct state *state = context;
    struct batch_sum sum = sum_of(state);
    stepper_sample(stepper, state->rate);
    return stepper_descend(stepper, &sum, state->divisor, error);
}

const struct algorithm dpsgd = {
    .name = "dpsgd",
    .title = "DP-SGD with flat, automatic or per-layer clipping",
    .paper = "Abadi et al., Deep Learning with Differential Privacy, CCS 2016; Bu et "
             "al., Automatic Clipping, NeurIPS 2023",
    .charge = "sampled Gaussian: one release a step at rate batch_size / n",
    .when_to_use = "The default: any model here, with batches and rates larger than "
                   "without privacy.",
    .is_private = true,
    .drops_gradient = true,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .plan = plan,
    .state_size = sizeof(struct state),
    .noise_at = offsetof(struct state, noise),
    .start = start,
    .step = step,
};
