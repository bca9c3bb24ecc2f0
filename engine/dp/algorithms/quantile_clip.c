/* A step releases the clipped sum and, along with it, a noisy sum of signs, which says
 * what share of the gradients the clip norm left whole (release). The share determines
 * the clip norm of the next step (quantile_clip.h), for which the grid is then planned
 * again.
 *
 * One step is one sampled Gaussian: gradient and signs are of one batch, so their noises
 * share the job's multiplier z (joint_noise.h). With sigma_b the deviation of the noise
 * on the sum of recentred bits, the sum of signs is twice that sum and has noise
 * 2 sigma_b; a record moves it by at most 1:
 *   z^-2 = z_D^-2 + (2 sigma_b)^-2 */
#include "engine/dp/algorithms/quantile_clip.h"

#include <math.h>

#include "engine/dp/algorithms/clipped_sum.h"
#include "engine/dp/algorithms/joint_noise.h"
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
    struct joint_noise joint;
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
    state->rule = (struct quantile_clip){
        .quantile = algorithm_value(inputs->spec, "unclipped_fraction"),
        .rate = algorithm_value(inputs->spec, "clip_rate")};
    return joint_noise_plan(&state->joint, inputs, model, gradient,
                            &(struct joint_noise_counts){
                                .name = "norm_signs", .bins = 1, .noise = 2 * noise},
                            error);
}

/* Releases the gradient's sum and the share of gradients that stayed whole. */
static enum status release(struct state *state, struct stepper *stepper,
                           struct error *error)
{
    const double clip_norm = state->joint.gradient.clip_norm;
    double signs;
    enum status status =
        joint_noise_release(&state->joint, stepper,
                            &(struct batch_sum){.signs_at = &clip_norm}, &signs, error);
    if (status != ST_OK)
        return status;
    state->shown =
        (struct shown){clip_norm, quantile_clip_share(signs, state->joint.divisor)};
    return stepper_update(stepper, error);
}

static enum status step(void *context, struct stepper *stepper, struct error *error)
{
    struct state *state = context;
    const struct shown *shown = &state->shown;
    enum status status = release(state, stepper, error);
    if (status == ST_OK)
        joint_noise_follow(
            &state->joint,
            quantile_clip_next(&state->rule, shown->clip_norm, shown->share));
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
    .noise_at = offsetof(struct state, joint.plan),
    .start = start,
    .step = step,
    .released = released,
};
