/* A step releases the clipped sum and, along with it, a noisy histogram of the norms
 * before clipping (release). The histogram determines the clip norm of the next step
 * (dcsgd_clip.h), by the rule of dcsgd_p or of dcsgd_e; then the grid is planned again
 * for that clip norm. The two algorithms differ in this rule and in the range of the
 * first histogram.
 *
 * One step is one sampled Gaussian (Theorem 2 of the paper): gradient and histogram are
 * of one batch, so their noises share the job's multiplier (joint_noise.h). The two
 * releases of integers have their own grids and their own Delta_Z, and both have noise
 * s0. The same holds for them with s0 / Delta_Z, which is no less (grid.h), in place of
 * sigma_T and of sigma_H. The clip norm and the range are functions of earlier
 * releases. */
#include "engine/dp/algorithms/dcsgd.h"

#include <math.h>

#include "engine/dp/algorithms/clipped_sum.h"
#include "engine/dp/algorithms/dcsgd_clip.h"
#include "engine/dp/algorithms/joint_noise.h"
#include "engine/dp/stepper.h"

struct shown { /* what the last step released */
    double clip_norm, range, counts[HISTOGRAM_BINS_MAX];
};

struct state {
    struct joint_noise joint;   /* its clip norm follows adaptive */
    struct dcsgd_clip adaptive; /* for the next step */
    double share;               /* percentile rule */
    struct clip_error error;    /* squared-error rule */
    struct shown shown;
};

#define CLIP_NORM                                                                      \
    {                                                                                  \
        .name = "clip_norm", .kind = PARAMETER_REAL, .low = DCSGD_CLIP_MIN,            \
        .high = DCSGD_CLIP_MAX, .fallback = 1,                                         \
        .about = "The clip norm of the first step; correcting one that is too small "  \
                 "costs less than correcting one that is too large."                   \
    }
#define BINS                                                                           \
    {                                                                                  \
        .name = "bins", .kind = PARAMETER_COUNT, .low = 2, .high = HISTOGRAM_BINS_MAX, \
        .fallback = 20,                                                                \
        .about = "The number of bins in the histogram of gradient norms."              \
    }
#define HISTOGRAM_NOISE                                                                \
    {                                                                                  \
        .name = "histogram_noise", .kind = PARAMETER_REAL, .low = 0.05, .high = 1e6,   \
        .optional = true,                                                              \
        .about =                                                                       \
            "The standard deviation of each count, more than the noise multiplier."    \
            " The default is 5, or 8 from multiplier 2, or 12 above 3 and at least"    \
            " twice the multiplier."                                                   \
    }

static const struct algorithm_parameter percentile_parameters[] = {
    CLIP_NORM,
    {.name = "unclipped_fraction",
     .kind = PARAMETER_REAL,
     .low = 0.01,
     .high = 0.99,
     .fallback = 0.5,
     .about =
         "The share of gradients that the clip norm should not shorten; smaller for "
         "harder tasks, up to 0.9 for easy ones."},
    BINS,
    HISTOGRAM_NOISE,
    {.name = "histogram_range",
     .kind = PARAMETER_REAL,
     .low = DCSGD_CLIP_MIN,
     .high = DCSGD_CLIP_MAX,
     .optional = true,
     .about =
         "The range of norms in the first histogram. The default is twice clip_norm."},
};

static const struct algorithm_parameter error_parameters[] = {
    CLIP_NORM,
    BINS,
    HISTOGRAM_NOISE,
    {.name = "histogram_range",
     .kind = PARAMETER_REAL,
     .low = DCSGD_CLIP_MIN,
     .high = DCSGD_CLIP_MAX,
     .optional = true,
     .about = "The range of norms in the first histogram. The default is bins, which "
              "gives bins of width 1."},
};

double dcsgd_histogram_noise(double noise_multiplier)
{
    if (noise_multiplier < 2)
        return 5;
    return noise_multiplier <= 3 ? 8 : fmax(12, 2 * noise_multiplier);
}

/* The value that the job gave, or else chosen. */
static double value_or(const struct algorithm_spec *spec, const char *name,
                       double chosen)
{
    double value = algorithm_value(spec, name);
    return isnan(value) ? chosen : value;
}

static enum status plan(struct mechanism *m, const struct algorithm_inputs *inputs,
                        struct error *error)
{
    return clipped_sum_charge(m, MECHANISM_SAMPLED_GAUSSIAN, inputs, error);
}

/* Starts the state that both rules share: everything except the range of the first
 * histogram. */
static enum status start(struct state *state, const struct algorithm_inputs *inputs,
                         const struct algorithm_model *model, struct error *error)
{
    double sigma = inputs->noise_multiplier;
    double counts =
        value_or(inputs->spec, "histogram_noise", dcsgd_histogram_noise(sigma));
    double gradient = joint_noise_gradient(sigma, counts);
    if (!isfinite(gradient))
        return error_set_at(
            error, ST_INVALID, "/algorithm/histogram_noise",
            "must be more than the noise multiplier, which is %.6g: the "
            "gradient would be left without a share of it",
            sigma);
    state->adaptive.clip_norm = algorithm_value(inputs->spec, "clip_norm");
    state->adaptive.histogram.bins = (size_t)algorithm_value(inputs->spec, "bins");
    double batch = (double)inputs->batch_size;
    state->error.variance =
        gradient * gradient * (double)model->parameters / (batch * batch);
    return joint_noise_plan(
        &state->joint, inputs, model, gradient,
        &(struct joint_noise_counts){.name = "histogram",
                                     .bins = state->adaptive.histogram.bins,
                                     .noise = counts},
        error);
}

static enum status start_percentile(void *context,
                                    const struct algorithm_inputs *inputs,
                                    const struct algorithm_model *model,
                                    struct error *error)
{
    struct state *state = context;
    double clip_norm = algorithm_value(inputs->spec, "clip_norm");
    state->share = algorithm_value(inputs->spec, "unclipped_fraction");
    state->adaptive.histogram.range =
        value_or(inputs->spec, "histogram_range", fmin(2 * clip_norm, DCSGD_CLIP_MAX));
    return start(state, inputs, model, error);
}

static enum status start_error(void *context, const struct algorithm_inputs *inputs,
                               const struct algorithm_model *model, struct error *error)
{
    struct state *state = context;
    state->adaptive.histogram.range = value_or(inputs->spec, "histogram_range",
                                               algorithm_value(inputs->spec, "bins"));
    return start(state, inputs, model, error);
}

/* The step, without the choice of the next clip norm. */
static enum status release(struct state *state, struct stepper *stepper,
                           struct error *error)
{
    const struct dcsgd_clip *adaptive = &state->adaptive;
    struct shown *shown = &state->shown;
    enum status status = joint_noise_release(
        &state->joint, stepper, &(struct batch_sum){.histogram = &adaptive->histogram},
        shown->counts, error);
    if (status != ST_OK)
        return status;
    shown->clip_norm = adaptive->clip_norm;
    shown->range = adaptive->histogram.range;
    return stepper_update(stepper, error);
}

static enum status step_percentile(void *context, struct stepper *stepper,
                                   struct error *error)
{
    struct state *state = context;
    enum status status = release(state, stepper, error);
    if (status != ST_OK)
        return status;
    dcsgd_clip_percentile(&state->adaptive, state->shown.counts, state->share);
    joint_noise_follow(&state->joint, state->adaptive.clip_norm);
    return ST_OK;
}

static enum status step_error(void *context, struct stepper *stepper,
                              struct error *error)
{
    struct state *state = context;
    enum status status = release(state, stepper, error);
    if (status != ST_OK)
        return status;
    dcsgd_clip_error(&state->adaptive, state->shown.counts, &state->error);
    joint_noise_follow(&state->joint, state->adaptive.clip_norm);
    return ST_OK;
}

static size_t released(const void *context,
                       struct released_value values[RELEASED_SERIES_MAX])
{
    const struct state *state = context;
    values[0] = (struct released_value){
        .name = "clip_norm", .numbers = &state->shown.clip_norm, .count = 1};
    values[1] = (struct released_value){
        .name = "histogram_range", .numbers = &state->shown.range, .count = 1};
    values[2] = (struct released_value){.name = "histogram",
                                        .numbers = state->shown.counts,
                                        .count = state->adaptive.histogram.bins,
                                        .is_list = true};
    return 3;
}

static const char charge[] = "sampled Gaussian: gradient and histogram of one batch "
                             "together, at the job's noise "
                             "multiplier";

const struct algorithm dcsgd_p = {
    .name = "dcsgd_p",
    .title = "DC-SGD with a percentile of the gradient norms as clip norm",
    .paper = "Wei et al., DC-SGD: Differentially Private SGD with Dynamic Clipping "
             "through Gradient Norm Distribution Estimation",
    .charge = charge,
    .when_to_use = "Where a constant share of gradients should stay whole while their "
                   "norms change; one share serves all budgets of a dataset.",
    .is_private = true,
    .parameters = percentile_parameters,
    .parameter_count = sizeof percentile_parameters / sizeof *percentile_parameters,
    .plan = plan,
    .state_size = sizeof(struct state),
    .noise_at = offsetof(struct state, joint.plan),
    .start = start_percentile,
    .step = step_percentile,
    .released = released,
};

const struct algorithm dcsgd_e = {
    .name = "dcsgd_e",
    .title = "DC-SGD with the clip norm of least expected squared error",
    .paper = "Wei et al., DC-SGD: Differentially Private SGD with Dynamic Clipping "
             "through Gradient Norm Distribution Estimation",
    .charge = charge,
    .when_to_use =
        "Large models and small budgets, with Adam: nothing to tune. Weak on "
        "small models, where dpsgd does better.",
    .is_private = true,
    .parameters = error_parameters,
    .parameter_count = sizeof error_parameters / sizeof *error_parameters,
    .plan = plan,
    .state_size = sizeof(struct state),
    .noise_at = offsetof(struct state, joint.plan),
    .start = start_error,
    .step = step_error,
    .released = released,
};
