/* ADP-SGD divides the step at t by b(t), which a schedule defines (adp_schedule.h), and
 * the noise multiplier grows as a power of b. Steps with the same noise multiplier form
 * a level; a level has one grid, planned when it begins (enter_level), and start tries
 * the grids of all levels before the first record is read (try_levels).
 *
 * Each step is one sampled Gaussian whose noise multiplier was fixed before the first
 * record was read, so a run is a list of them and the accountant adds them up exactly:
 * never by an average multiplier, and never by the paper's Theorem 4.1, which does not
 * hold in most of its own settings (papers/adp.md 2.1, 2.2). The divisor b is public,
 * so releasing the sum over m b instead of m is post-processing (m is the expected
 * batch).
 *
 * With AdaGrad-Norm, b depends on releases. One choice is the norm of the sum, which is
 * released along with the sum, with its own noise, so that both together are one
 * release of multiplier
 *   (z^-2 + z_norm^-2)^(-1/2)
 * which is planned and charged. The other choice is the noisy gradient itself, which
 * costs nothing more. A step's noise never depends on the norm of the same batch,
 * because the noise is planned before the batch is drawn.
 *
 * The noise may follow b itself (papers/adp.md 1.6.5). The job then reserves a number
 * of equal steps. Before each step samples, it is deducted from the reservation, at the
 * noise that b of the earlier steps determines. The run ends when the rest of the
 * reservation is too small for the next step. */
#include "engine/dp/algorithms/adp.h"

#include <math.h>

#include "base/check.h"
#include "engine/dp/algorithms/adp_adagrad_norm.h"
#include "engine/dp/algorithms/adp_noise_follow.h"
#include "engine/dp/algorithms/adp_schedule.h"
#include "engine/dp/algorithms/clipped_sum.h"
#include "engine/dp/clip.h"
#include "engine/dp/stepper.h"

/* Both grids plan for this factor more than their shares, so that together they reach
 * the multiplier however the few operations on it round. */
static const double split_margin = 1 + 0x1p-44;

struct state {
    struct adp_schedule schedule;
    struct flat_clip clip;
    struct grid_spec grid_spec; /* input for planning the level's grid */
    struct noise_plan noise;    /* the level's */
    double rate, divisor, noise_first;
    uint64_t step, level_end;
    struct adp_adagrad_norm
        adagrad;  /* this and everything below is only used by adagrad_norm */
    bool follows; /* noise follows the divisor, not the schedule */
    struct adp_noise_follow follow;
    double noise_now;      /* the noise of the current grids, if follows */
    double norm_ratio;     /* norm's noise over the gradient's; 0: not released */
    struct norm_grid norm; /* the level's */
    struct shown {         /* what the last step released */
        double gradient_norm, divisor;
    } shown;
};

static const char *const rules[] = {
    [SCHEDULE_CONSTANT] = "constant",         [SCHEDULE_INVERSE_SQRT] = "inverse_sqrt",
    [SCHEDULE_SQRT_DECAY] = "sqrt_decay",     [SCHEDULE_INVERSE] = "inverse",
    [SCHEDULE_ADAGRAD_NORM] = "adagrad_norm", NULL,
};

static const char *const leaders[] = {"envelope", "divisor", NULL};

#define REAL_OF(choice, value, ...)                                                    \
    {                                                                                  \
        .kind = PARAMETER_REAL, .only_with = choice, .only_value = value, __VA_ARGS__  \
    }
#define ADAGRAD(...) REAL_OF("schedule", SCHEDULE_ADAGRAD_NORM, __VA_ARGS__)

static const struct algorithm_parameter parameters[] = {
    {.name = "schedule",
     .kind = PARAMETER_CHOICE,
     .choices = rules,
     .fallback = SCHEDULE_INVERSE_SQRT,
     .about =
         "The divisor of the learning rate at step t from 1: constant 1; "
         "inverse_sqrt sqrt(offset + slope t); inverse t; sqrt_decay multiplies the "
         "rate by final + (initial - final)(1 - sqrt(t / steps)); adagrad_norm "
         "sqrt(start_square + the squared gradient norms so far), from noisy norms."},
    {.name = "noise_power",
     .kind = PARAMETER_REAL,
     .low = 0,
     .high = 1,
     .fallback = 0.25,
     .about = "The noise grows as this power of the divisor: 0 is constant noise, 0.5 "
              "the rule of the paper, which helps only at small epsilon."},
    CLIPPED_SUM_CLIP_NORM,
    REAL_OF("schedule", SCHEDULE_INVERSE_SQRT, .name = "offset", .low = 1e-6,
            .high = 1e12, .fallback = 1,
            .about =
                "The larger it is, the later the learning rate falls. The paper uses "
                "20, with slope 1, for a learning rate of 1. Only for inverse_sqrt."),
    REAL_OF("schedule", SCHEDULE_INVERSE_SQRT, .name = "slope", .low = 0, .high = 1e12,
            .fallback = 0.01,
            .about = "The rate at which the square of the divisor grows. Only for "
                     "inverse_sqrt."),
    REAL_OF("schedule", SCHEDULE_SQRT_DECAY, .name = "initial", .low = 1e-12,
            .high = 1e12, .fallback = 0.1,
            .about = "Times the learning rate, it is the rate just before the first "
                     "step. Only for sqrt_decay."),
    REAL_OF("schedule", SCHEDULE_SQRT_DECAY, .name = "final", .low = 1e-12,
            .high = 1e12, .fallback = 1e-10,
            .about = "Times the learning rate, it is the rate of the last step; at "
                     "most initial. Only for sqrt_decay."),
    ADAGRAD(.name = "start_square", .low = 1e-6, .high = 1e12, .fallback = 20,
            .about = "The square of the divisor before the first step. Only for "
                     "adagrad_norm."),
    ADAGRAD(.name = "envelope", .low = 0, .high = 1e12, .fallback = 0.01,
            .about = "Noise is planned as if the square grew by this at each step. "
                     "Only for adagrad_norm."),
    {.name = "noise_follows",
     .kind = PARAMETER_CHOICE,
     .choices = leaders,
     .fallback = 0,
     .about = "envelope: every step's noise is planned before the job. divisor: the "
              "noise follows the divisor as released so far. The job then reserves its "
              "steps at noise_multiplier, is charged all of them from its first step, "
              "and ends SUCCEEDED (used_up), with a model, when the next step does not "
              "fit. Only for adagrad_norm.",
     .only_with = "schedule",
     .only_value = SCHEDULE_ADAGRAD_NORM},
    REAL_OF("noise_follows", 1, .name = "noise_start", .low = 0.5, .high = 1,
            .fallback = 0.8,
            .about = "The first step's noise divided by noise_multiplier. The smaller "
                     "it is, the sooner the job ends, unless the divisor grows. A job "
                     "whose first step would cost more than all that it reserves is "
                     "refused. Only if noise follows the divisor."),
    REAL_OF("noise_follows", 1, .name = "filter_order", .low = 1.25, .high = 2048,
            .fallback = 16,
            .about = "Up to this Renyi order the cost of the run is kept within what "
                     "its steps at noise_multiplier cost; above this order it is "
                     "charged as the same number of steps at the least noise. Give the "
                     "order that :estimate shows, or a little more: about 9 at an "
                     "epsilon of 2, 40 at 0.5. Only if noise follows the divisor."),
    ADAGRAD(.name = "increment_min", .low = 1e-12, .high = 1e12, .fallback = 1e-5,
            .about =
                "The least growth of the square at each step. Only for adagrad_norm."),
    ADAGRAD(.name = "gain", .low = 1, .high = 1e12, .fallback = 1,
            .about =
                "Squared norms are multiplied by this divided by the number of steps "
                "since the epoch began, but at least by 1. Only for adagrad_norm."),
    ADAGRAD(.name = "norm_noise", .low = 0, .high = 1e6, .fallback = 4,
            .about = "The noise on the released norm of each step's sum, divided by "
                     "the noise on the sum; both are charged together. 0: the norm is "
                     "not released, and the norm of the noisy gradient is used, less "
                     "the part that the noise adds. Only for adagrad_norm."),
};

static struct adp_schedule schedule_of(const struct algorithm_inputs *inputs)
{
    const struct algorithm_spec *spec = inputs->spec;
    enum adp_schedule_rule rule =
        (enum adp_schedule_rule)algorithm_value(spec, "schedule");
    bool envelope = rule == SCHEDULE_ADAGRAD_NORM;
    return (struct adp_schedule){
        .rule = rule,
        .steps = inputs->steps,
        .offset = algorithm_value(spec, envelope ? "start_square" : "offset"),
        .slope = algorithm_value(spec, envelope ? "envelope" : "slope"),
        .initial = algorithm_value(spec, "initial"),
        .final = algorithm_value(spec, "final"),
        .power = algorithm_value(spec, "noise_power"),
    };
}

static bool follows(const struct algorithm_inputs *inputs)
{
    const struct algorithm_spec *spec = inputs->spec;
    return algorithm_value(spec, "schedule") == SCHEDULE_ADAGRAD_NORM &&
           algorithm_value(spec, "noise_follows") == 1;
}

static double noise_first(const struct algorithm_inputs *inputs)
{
    double start = follows(inputs) ? algorithm_value(inputs->spec, "noise_start") : 1;
    return start * inputs->noise_multiplier;
}

static struct adp_noise_follow follow_of(const struct algorithm_inputs *inputs)
{
    return (struct adp_noise_follow){
        .first = noise_first(inputs),
        .power = algorithm_value(inputs->spec, "noise_power"),
        .square_first = algorithm_value(inputs->spec, "start_square")};
}

static double noise_last(const struct algorithm_inputs *inputs)
{
    struct adp_schedule schedule = schedule_of(inputs);
    struct adp_noise_follow follow = follow_of(inputs);
    /* A step adds at most gain C^2 to the divisor's square; sums are rounded. */
    double most = (double)inputs->steps * algorithm_value(inputs->spec, "gain") *
                  pow(algorithm_value(inputs->spec, "clip_norm"), 2) * (1 + 1e-9);
    if (follows(inputs))
        return adp_noise_follow_at(&follow, follow.square_first + most);
    return noise_first(inputs) *
           adp_schedule_noise_ratio(&schedule, schedule.steps - 1);
}

static enum status check(const struct algorithm_inputs *inputs, struct error *error)
{
    struct adp_schedule schedule = schedule_of(inputs);
    double first = noise_first(inputs), last = noise_last(inputs);
    if (schedule.rule == SCHEDULE_SQRT_DECAY && schedule.final > schedule.initial)
        return error_set_at(error, ST_INVALID, "/algorithm/final",
                            "must be at most initial: noise is planned for a learning "
                            "rate that falls");
    if (!(first >= ADP_NOISE_MIN))
        return error_set(error, ST_INVALID,
                         "the first step's noise multiplier would be %.3g, below %g, "
                         "where early steps cost out of proportion: ask for less "
                         "epsilon or give a smaller noise_power or a larger "
                         "noise_start",
                         first, ADP_NOISE_MIN);
    if (!(last <= ADP_NOISE_MAX))
        return error_set(error, ST_INVALID,
                         "the last step's noise multiplier would be %.3g, above %g: "
                         "give a smaller noise_power or a schedule that falls less",
                         last, ADP_NOISE_MAX);
    return ST_OK;
}

static enum status plan(struct mechanism *m, const struct algorithm_inputs *inputs,
                        struct error *error)
{
    struct adp_schedule schedule = schedule_of(inputs);
    struct mechanism_run run = {.sampling_rate = algorithm_rate(inputs)};
    enum status status = check(inputs, error);
    if (status != ST_OK)
        return status;
    if (follows(inputs)) {
        run.noise_multiplier = inputs->noise_multiplier;
        run.steps = inputs->steps;
        mechanism_init(m, MECHANISM_FILTERED_GAUSSIAN, inputs->relation, run);
        m->prefixes_priced = false;
        m->filter = (struct mechanism_filter){
            .order_max = algorithm_value(inputs->spec, "filter_order"),
            .noise_share = algorithm_value(inputs->spec, "noise_start")};
        return ST_OK;
    }
    for (uint64_t step = 0, end; step < schedule.steps; step = end) {
        end = adp_schedule_level_end(&schedule, step);
        run.steps = end - step;
        run.noise_multiplier =
            inputs->noise_multiplier * adp_schedule_noise_ratio(&schedule, step);
        if (step == 0)
            mechanism_init(m, MECHANISM_SAMPLED_GAUSSIAN, inputs->relation, run);
        else
            mechanism_append(m, run);
    }
    return ST_OK;
}

/* Plans the grids of a step whose releases together have this noise multiplier: the
 * grid of the sum and, if a norm is released, the grid of the norm, with norm_ratio
 * times the sum's noise. */
static enum status plan_grids(struct state *state, double noise_multiplier,
                              struct error *error)
{
    double ratio = state->norm_ratio;
    double share = ratio > 0 ? sqrt(1 + 1 / (ratio * ratio)) * split_margin : 1;
    state->grid_spec.noise_multiplier = noise_multiplier * share;
    enum status status = clipped_sum_plan(&state->noise, &state->grid_spec, error);
    if (status != ST_OK || ratio == 0)
        return status;
    status = norm_grid_plan(&state->norm, &state->noise.grid,
                            state->grid_spec.noise_multiplier * ratio, state->divisor,
                            error);
    if (status != ST_OK)
        return status;
    CHECK(norm_joint_multiplier(state->noise.grid.multiplier, state->norm.multiplier) *
              (1 - 0x1p-50) >=
          noise_multiplier);
    noise_plan_set(&state->noise, &(struct noise_grid){
                                      .name = "norm",
                                      .grid = {.scale = state->norm.scale,
                                               .multiplier = state->norm.multiplier}});
    return ST_OK;
}

/* The noise multiplier of the next step, from the divisor of the steps before it. */
static double following_noise(const struct state *state)
{
    return adp_noise_follow_at(&state->follow, state->adagrad.square);
}

static enum status follow(struct state *state, double noise_multiplier,
                          struct error *error)
{
    state->noise_now = noise_multiplier;
    return plan_grids(state, noise_multiplier, error);
}

/* Plans the grids of the level that begins at state->step. Its noise multiplier is that
 * of the run in plan, computed by the same expression. */
static enum status enter_level(struct state *state, struct error *error)
{
    if (state->follows)
        return follow(state, following_noise(state), error);
    state->level_end = adp_schedule_level_end(&state->schedule, state->step);
    return plan_grids(state,
                      state->noise_first *
                          adp_schedule_noise_ratio(&state->schedule, state->step),
                      error);
}

/* Every level must have a grid before the first record is read. */
static enum status try_levels(const struct state *state,
                              const struct algorithm_inputs *inputs,
                              struct error *error)
{
    struct state trial = *state;
    enum status status = ST_OK;
    for (unsigned level = 0; state->follows && status == ST_OK; level++) {
        double noise = adp_noise_follow_level(&state->follow, level);
        if (noise > noise_last(inputs))
            return ST_OK;
        status = follow(&trial, noise, error);
    }
    for (; trial.step < trial.schedule.steps && status == ST_OK;
         trial.step = trial.level_end)
        status = enter_level(&trial, error);
    return status;
}

static void start_adagrad(struct state *state, const struct algorithm_inputs *inputs)
{
    const struct algorithm_spec *spec = inputs->spec;
    uint64_t epoch = inputs->records / inputs->batch_size;
    if (state->schedule.rule != SCHEDULE_ADAGRAD_NORM)
        return;
    state->norm_ratio = algorithm_value(spec, "norm_noise");
    state->adagrad = (struct adp_adagrad_norm){
        .square = algorithm_value(spec, "start_square"),
        .floor = algorithm_value(spec, "increment_min"),
        .gain = algorithm_value(spec, "gain"),
        .epoch = epoch > 0 ? epoch : 1,
        .clip_square = state->clip.clip_norm * state->clip.clip_norm};
    state->follow = follow_of(inputs);
}

static enum status start(void *context, const struct algorithm_inputs *inputs,
                         const struct algorithm_model *model, struct error *error)
{
    struct state *state = context;
    double clip_norm = algorithm_value(inputs->spec, "clip_norm");
    state->schedule = schedule_of(inputs);
    state->follows = follows(inputs);
    state->noise_first = noise_first(inputs);
    state->rate = algorithm_rate(inputs);
    state->divisor = (double)inputs->batch_size; /* never the realised size (P2) */
    state->clip = (struct flat_clip){.clip_norm = clip_norm, .spread = 1};
    state->grid_spec = clipped_sum_spec(inputs, model, clip_norm);
    start_adagrad(state, inputs);
    enum status status = check(inputs, error);
    if (status == ST_OK)
        status = try_levels(state, inputs, error);
    if (status == ST_OK)
        CHECK(enter_level(state, NULL) == ST_OK);
    return status;
}

/* Releases norm and sum; the step's divisor depends only on the noisy norm. */
static void release_with_norm(struct state *state, struct stepper *stepper)
{
    double noise = GRID_NOISE_STDDEV / state->norm.scale, mean = 1 / state->divisor;
    double norm = stepper_release_norm(stepper, &state->norm);
    double square = fmax(norm * norm - noise * noise, 0) * mean * mean;
    adp_adagrad_norm_take(&state->adagrad, state->step, square);
    state->shown.gradient_norm = norm * mean;
    state->shown.divisor = adp_adagrad_norm_divisor(&state->adagrad);
    stepper_release(stepper, &state->noise.grid, state->divisor * state->shown.divisor);
}

/* Releases the sum; the step's divisor depends on the noisy gradient's square, minus
 * the contribution of d coordinates of noise. */
static void release_then_measure(struct state *state, struct stepper *stepper)
{
    double noise = GRID_NOISE_STDDEV / (state->noise.grid.scale * state->divisor);
    stepper_release(stepper, &state->noise.grid, state->divisor);
    double square =
        stepper_gradient_square(stepper) - (double)state->grid_spec.dim * noise * noise;
    adp_adagrad_norm_take(&state->adagrad, state->step, square);
    state->shown.gradient_norm = sqrt(fmax(square, 0));
    state->shown.divisor = adp_adagrad_norm_divisor(&state->adagrad);
    stepper_gradient_scale(stepper, 1 / state->shown.divisor);
}

static void release(struct state *state, struct stepper *stepper)
{
    if (state->schedule.rule != SCHEDULE_ADAGRAD_NORM)
        stepper_release(stepper, &state->noise.grid,
                        state->divisor *
                            adp_schedule_divisor(&state->schedule, state->step));
    else if (state->norm_ratio > 0)
        release_with_norm(state, stepper);
    else
        release_then_measure(state, stepper);
}

static bool next(const void *context, struct mechanism_run *step)
{
    const struct state *state = context;
    if (state->follows)
        *step = (struct mechanism_run){state->rate, following_noise(state), 1};
    return state->follows;
}

static enum status step(void *context, struct stepper *stepper, struct error *error)
{
    struct state *state = context;
    struct batch_sum sum = {
        .grid = &state->noise.grid, .clip = clip_flat, .clip_context = &state->clip};
    if (state->follows ? state->noise_now != following_noise(state)
                       : state->step == state->level_end)
        CHECK(enter_level(state, NULL) == ST_OK);
    stepper_sample(stepper, state->rate);
    enum status status = stepper_sum(stepper, &sum, error);
    if (status != ST_OK)
        return status;
    release(state, stepper);
    state->step++;
    return stepper_update(stepper, error);
}

static size_t released(const void *context,
                       struct released_value values[RELEASED_SERIES_MAX])
{
    const struct state *state = context;
    if (state->schedule.rule != SCHEDULE_ADAGRAD_NORM)
        return 0;
    values[0] = (struct released_value){
        .name = "gradient_norm", .numbers = &state->shown.gradient_norm, .count = 1};
    values[1] = (struct released_value){
        .name = "divisor", .numbers = &state->shown.divisor, .count = 1};
    return 2;
}

double adp_claim(const struct algorithm_inputs *inputs, double epsilon, double delta,
                 bool *holds)
{
    struct adp_schedule schedule = schedule_of(inputs);
    double steps = (double)inputs->steps, q = algorithm_rate(inputs), sum = 0;
    double b = log(16 * steps * q / delta) * log(1.25 / delta);
    double first = log(6.25 * steps * q / delta); /* 1.25 / delta_0 */
    for (uint64_t step = 0, end; step < schedule.steps; step = end) {
        end = adp_schedule_level_end(&schedule, step);
        sum += (double)(end - step) / pow(adp_schedule_noise_ratio(&schedule, step), 2);
    }
    *holds = q <= 0.5 && sum >= epsilon * epsilon * first / (32 * q * q * b) &&
             epsilon * epsilon < 8 * log(1.25 / delta) * b / first;
    return 16 * q * sqrt(b * sum) / epsilon;
}

/* There is no claim for AdaGrad-Norm: the paper's theorem does not cover the algorithm
 * that is run here. */
static double paper_claim(const struct algorithm_inputs *inputs, double epsilon,
                          double delta)
{
    bool holds;
    if (schedule_of(inputs).rule == SCHEDULE_ADAGRAD_NORM)
        return 0;
    return adp_claim(inputs, epsilon, delta, &holds);
}

const struct algorithm adp = {
    .name = "adp",
    .title = "ADP-SGD: noise that grows as the learning rate falls",
    .paper =
        "Wu, Wang, Cristali, Gu, Willett, Adaptive Differentially Private Empirical "
        "Risk Minimization, 2021",
    .charge = "sampled Gaussians, the noise multiplier of each step composed as it is",
    .when_to_use =
        "Falling learning rates and long runs at a small epsilon; for the last "
        "iterate of a run that converges, dpsgd does as well or better.",
    .is_private = true,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .plan = plan,
    .state_size = sizeof(struct state),
    .noise_at = offsetof(struct state, noise),
    .start = start,
    .step = step,
    .next = next,
    .paper_claim = paper_claim,
    .released = released,
};
