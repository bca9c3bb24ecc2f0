#include "engine/dp/algorithms/joint_noise.h"

#include <math.h>

#include "base/check.h"
#include "engine/dp/algorithms/clipped_sum.h"
#include "engine/dp/clip.h"
#include "engine/dp/stepper.h"

double joint_noise_gradient(double noise_multiplier, double counts_noise)
{
    double sigma = noise_multiplier, h = counts_noise;
    return h > sigma ? sigma * h / sqrt((h - sigma) * (h + sigma)) : (double)INFINITY;
}

bool joint_noise_suffices(const struct grid *gradient, const struct grid *counts,
                          double noise_multiplier)
{
    double g = gradient->multiplier, h = counts->multiplier;
    double joint = 1 / sqrt(1 / (g * g) + 1 / (h * h));
    return joint * (1 - 0x1p-50) >= noise_multiplier;
}

static enum status plan_grids(struct joint_noise *joint,
                              const struct joint_noise_counts *counts,
                              struct error *error)
{
    const struct count_grid_spec spec = {.noise_multiplier =
                                             counts->noise * JOINT_NOISE_MARGIN,
                                         .batch = joint->divisor,
                                         .records = joint->gradient.records,
                                         .counts = counts->bins};
    enum status status = clipped_sum_plan(&joint->plan, &joint->gradient, error);
    if (status == ST_OK)
        status = grid_plan_counts(&joint->counts, &spec, error);
    return status;
}

enum status joint_noise_plan(struct joint_noise *joint,
                             const struct algorithm_inputs *inputs,
                             const struct algorithm_model *model, double gradient,
                             const struct joint_noise_counts *counts,
                             struct error *error)
{
    joint->rate = algorithm_rate(inputs);
    joint->divisor = (double)inputs->batch_size;
    joint->gradient =
        clipped_sum_spec(inputs, model, algorithm_value(inputs->spec, "clip_norm"));
    joint->gradient.noise_multiplier = gradient * JOINT_NOISE_MARGIN;
    enum status status = plan_grids(joint, counts, error);
    if (status != ST_OK)
        return status;
    CHECK(joint_noise_suffices(&joint->plan.grid, &joint->counts,
                               inputs->noise_multiplier));
    noise_plan_set(&joint->plan, &(struct noise_grid){.name = counts->name,
                                                      .bins = counts->bins,
                                                      .grid = joint->counts});
    return ST_OK;
}

enum status joint_noise_release(const struct joint_noise *joint,
                                struct stepper *stepper,
                                const struct batch_sum *counted, double *counts,
                                struct error *error)
{
    const struct flat_clip clip = {.clip_norm = joint->gradient.clip_norm,
                                   .spread = joint->plan.spread};
    struct batch_sum sum = *counted;
    sum.grid = &joint->plan.grid;
    sum.clip = clip_flat;
    sum.clip_context = &clip;
    stepper_sample(stepper, joint->rate);
    enum status status = stepper_sum(stepper, &sum, error);
    if (status != ST_OK)
        return status;
    stepper_release(stepper, sum.grid, joint->divisor);
    stepper_release_counts(stepper, &joint->counts, counts);
    return ST_OK;
}

void joint_noise_follow(struct joint_noise *joint, double clip_norm)
{
    joint->gradient.clip_norm = clip_norm;
    CHECK(clipped_sum_plan(&joint->plan, &joint->gradient, NULL) == ST_OK);
}
