/* Full-batch gradient descent with noise, which takes every record in every step
 * (papers/diff2.md 1.4).
 *
 * Each step releases the sum of all clipped gradients. Nothing is sampled, so there is
 * no amplification: the mechanism is a Gaussian with the job's noise multiplier. Under
 * replace_one two sums differ by up to 2 C, which the accountant derives from the
 * relation. */
#include "engine/dp/algorithm.h"

#include "engine/dp/algorithms/clipped_sum.h"
#include "engine/dp/algorithms/full_batch.h"
#include "engine/dp/clip.h"
#include "engine/dp/stepper.h"

struct state {
    double divisor;
    struct flat_clip clip;
    struct noise_plan noise;
};

static const struct algorithm_parameter parameters[] = {
    CLIPPED_SUM_CLIP_NORM,
};

static enum status plan(struct mechanism *m, const struct algorithm_inputs *inputs,
                        struct error *error)
{
    enum status status = full_batch_check(inputs, error);
    if (status != ST_OK)
        return status;
    return clipped_sum_charge(m, MECHANISM_GAUSSIAN, inputs, error);
}

static enum status start(void *context, const struct algorithm_inputs *inputs,
                         const struct algorithm_model *model, struct error *error)
{
    struct state *state = context;
    double clip_norm = algorithm_value(inputs->spec, "clip_norm");
    struct grid_spec sum = clipped_sum_spec(inputs, model, clip_norm);
    enum status status = full_batch_check(inputs, error);
    if (status != ST_OK)
        return status;
    state->divisor = (double)inputs->records;
    state->clip = (struct flat_clip){.clip_norm = clip_norm, .spread = 1};
    return clipped_sum_plan(&state->noise, &sum, error);
}

static enum status step(void *context, struct stepper *stepper, struct error *error)
{
    const struct state *state = context;
    struct batch_sum sum = {
        .grid = &state->noise.grid, .clip = clip_flat, .clip_context = &state->clip};
    stepper_sample(stepper, 1);
    return stepper_descend(stepper, &sum, state->divisor, error);
}

static double paper_claim(const struct algorithm_inputs *inputs, double epsilon,
                          double delta)
{
    return full_batch_claim(epsilon, delta, (double)inputs->steps, 1);
}

const struct algorithm dpgd = {
    .name = "dpgd",
    .title = "DP-GD: every record in every step",
    .paper = "the baseline of Murata and Suzuki, DIFF2: Differential Private "
             "Optimization via Gradient Differences for Nonconvex Distributed "
             "Learning, ICML 2023",
    .charge = "Gaussian: one release of all records a step",
    .when_to_use = "Small datasets and small models, where a pass is cheap: the least "
                   "noise for a given epsilon and number of steps. batch_size is n.",
    .is_private = true,
    .drops_gradient = true,
    .full_batch = true,
    .epochs = FULL_BATCH_EPOCHS,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .plan = plan,
    .state_size = sizeof(struct state),
    .noise_at = offsetof(struct state, noise),
    .start = start,
    .step = step,
    .paper_claim = paper_claim,
};
