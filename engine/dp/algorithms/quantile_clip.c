/* A step releases the clipped sum and, along with it, a noisy sum of signs, which says
 * what share of the gradients the clip norm left whole (release). The share determines
 * the clip norm of the next step (quantile_clip.h); then the grid is planned again for
 * that clip norm (follow).
 *
 * One step is one sampled Gaussian: gradient and signs are of one batch, so their noises
 * share the job's multiplier z (joint_noise.h). With sigma_b the deviation of the noise
 * on the sum of recentred bits, the sum of signs is twice that sum and has noise
 * 2 sigma_b; a record moves it by at most 1:
 *   z^-2 = z_D^-2 + (2 sigma_b)^-2 */
#include "engine/dp/algorithms/quantile_clip.h"

#include <math.h>

#include "base/check.h"
#include "engine/dp/algorithms/clipped_sum.h"
#include "engine/dp/algorithms/joint_noise.h"
#include "engine/dp/clip.h"
#include "engine/dp/stepper.h"

/* sigma_b unless the job says otherwise: B / 20 as in the paper, but there at least z,
 * because otherwise little or nothing would be left for the gradient if B is not far
 * above 10 z. */
static double default_count_noise(const struct algorithm_inputs *inputs)
{
    return fmax((double)inputs->batch_size / 20, inputs->noise_multiplier);
}

struct shown { /* what the last step released */
    double clip_norm, share;
};

struct state {
    double rate, divisor;
    struct grid_spec grid_spec; /* of the gradient; clip_norm is the next step's */
    struct noise_plan noise;
    struct grid signs;
    struct quantile_clip rule;
    struct shown shown;
};

static const struct algorithm_parameter parameters[] = {
    {.name = "clip_norm",
     .kind = PARAMETER_REAL,
     .low = QUANTILE_CLIP_MIN,
     .high = QUANTILE_CLIP_MAX,
     .fallback = 1,
     .about = "The clip norm of the first step; the next ones follow the quantile."},
    {.name = "unclipped_fraction",
     .kind = PARAMETER_REAL,
     .low = 0.01,
     .high = 0.99,
     .fallback = 0.5,
     .about = "The share of gradients that the clip norm should leave whole: the "
              "quantile of their norms that it follows."},
    {.name = "clip_rate",
     .kind = PARAMETER_REAL,
     .low = 1e-4,
     .high = 10,
     .fallback = 0.2,
     .about = "The rate of the clip norm: a step multiplies it by at most "
              "exp(clip_rate), but for the noise."},
    {.name = "count_noise",
     .kind = PARAMETER_REAL,
     .low = 0.05,
     .high = 1e6,
     .optional = true,
     .about =
         "The standard deviation of the noise on the number of gradients that the "
         "clip norm leaves whole; more than half the noise multiplier. The default "
         "is a twentieth of the batch size, and at least the noise multiplier."},
};

double quantile_clip_share(double signs, double batch_size)
{
    return 0.5 + signs / (2 * batch_size);
}

double quantile_clip_next(const struct quantile_clip *rule, double clip_norm,
                          double share)
{
    double next = clip_norm * exp(-rule->rate * (share - rule->quantile));
    return fmin(fmax(next, QUANTILE_CLIP_MIN), QUANTILE_CLIP_MAX);
}

static enum status plan(struct mechanism *m, const struct algorithm_inputs *inputs,
                        struct error *error)
{
    return clipped_sum_charge(m, MECHANISM_SAMPLED_GAUSSIAN, inputs, error);
}

static enum status plan_grids(struct state *state,
                              const struct algorithm_inputs *inputs, double signs_noise,
                              struct error *error)
{
    struct count_grid_spec signs = {.noise_multiplier =
                                        signs_noise * JOINT_NOISE_MARGIN,
                                    .batch = state->divisor,
                                    .records = inputs->records,
                                    .counts = 1};
    enum status status = clipped_sum_plan(&state->noise, &state->grid_spec, error);
    if (status == ST_OK)
        status = grid_plan_counts(&state->signs, &signs, error);
    if (status != ST_OK)
        return status;
    CHECK(joint_noise_suffices(&state->noise.grid, &state->signs,
                               inputs->noise_multiplier));
    noise_plan_set(
        &state->noise,
        &(struct noise_grid){.name = "norm_signs", .bins = 1, .grid = state->signs});
    return ST_OK;
}

static enum status start(void *context, const struct algorithm_inputs *inputs,
                         const struct algorithm_model *model, struct error *error)
{
    struct state *state = context;
    double noise = algorithm_value(inputs->spec, "count_noise");
    if (isnan(noise))
        noise = default_count_noise(inputs);
    double gradient = joint_noise_gradient(inputs->noise_multiplier, 2 * noise);
    if (!isfinite(gradient))
        return error_set_at(
            error, ST_INVALID, "/algorithm/count_noise",
            "must be more than half the noise multiplier, which is %.6g: the gradient "
            "would be left without a share of it",
            inputs->noise_multiplier);
    state->rate = algorithm_rate(inputs);
    state->divisor = (double)inputs->batch_size; /* never the realised size (P2) */
    state->rule = (struct quantile_clip){
        .quantile = algorithm_value(inputs->spec, "unclipped_fraction"),
        .rate = algorithm_value(inputs->spec, "clip_rate")};
    state->grid_spec =
        clipped_sum_spec(inputs, model, algorithm_value(inputs->spec, "clip_norm"));
    state->grid_spec.noise_multiplier = gradient * JOINT_NOISE_MARGIN;
    return plan_grids(state, inputs, 2 * noise, error);
}

/* Releases the gradient's sum and the share of gradients that stayed whole. */
static enum status release(struct state *state, struct stepper *stepper,
                           struct error *error)
{
    struct flat_clip clip = {.clip_norm = state->grid_spec.clip_norm,
                             .spread = state->noise.spread};
    struct batch_sum sum = {.grid = &state->noise.grid,
                            .clip = clip_flat,
                            .clip_context = &clip,
                            .signs_at = &clip.clip_norm};
    double signs;
    stepper_sample(stepper, state->rate);
    enum status status = stepper_sum(stepper, &sum, error);
    if (status != ST_OK)
        return status;
    stepper_release(stepper, sum.grid, state->divisor);
    stepper_release_counts(stepper, &state->signs, &signs);
    state->shown =
        (struct shown){clip.clip_norm, quantile_clip_share(signs, state->divisor)};
    return ST_OK;
}

/* Plans the grid for the next clip norm. The plan never fails here: the rule keeps the
 * clip norm in a range in which it does not matter. */
static void follow(struct state *state)
{
    state->grid_spec.clip_norm =
        quantile_clip_next(&state->rule, state->shown.clip_norm, state->shown.share);
    CHECK(clipped_sum_plan(&state->noise, &state->grid_spec, NULL) == ST_OK);
}

static enum status step(void *context, struct stepper *stepper, struct error *error)
{
    struct state *state = context;
    enum status status = release(state, stepper, error);
    if (status == ST_OK)
        status = stepper_update(stepper, error);
    if (status == ST_OK)
        follow(state);
    return status;
}

static size_t released(const void *context,
                       struct released_value values[RELEASED_SERIES_MAX])
{
    const struct state *state = context;
    values[0] = (struct released_value){
        .name = "clip_norm", .numbers = &state->shown.clip_norm, .count = 1};
    values[1] = (struct released_value){
        .name = "unclipped_share", .numbers = &state->shown.share, .count = 1};
    return 2;
}

const struct algorithm quantile_clip = {
    .name = "quantile_clip",
    .title = "DP-SGD with a clip norm that follows a quantile of the gradient norms",
    .paper =
        "Andrew, Thakkar, McMahan, Ramaswamy, Differentially Private Learning with "
        "Adaptive Clipping",
    .charge =
        "sampled Gaussian: gradient and count of unclipped gradients of one batch "
        "together, at the job's noise multiplier",
    .when_to_use = "Where no clip norm is known and batches are large: one number a "
                   "step is enough to follow the norms.",
    .is_private = true,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .plan = plan,
    .state_size = sizeof(struct state),
    .noise_at = offsetof(struct state, noise),
    .start = start,
    .step = step,
    .released = released,
};
