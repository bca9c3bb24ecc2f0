/* Each step is one sampled Gaussian whose noise multiplier was fixed before the first
 * record was read, so a run is a list of them and the accountant adds them up as they
 * are: never by an average multiplier, and never by the paper's Theorem 4.1, which does
 * not hold in most of its own settings (adp.md 2.1, 2.2). The divisor b is public, so
 * releasing the sum over m b instead of m is post-processing. */
#include "engine/dp/adp.h"

#include "base/check.h"
#include "engine/dp/clip.h"
#include "engine/dp/step_schedule.h"
#include "engine/dp/training.h"

enum { CELL_MEAN = 128 }; /* as dpsgd */

struct state {
    struct step_schedule schedule;
    struct flat_clip clip;
    struct grid_demand demand; /* of the level's grid */
    struct noise_plan noise;   /* of the level */
    double rate, divisor, noise_first;
    uint64_t step, level_end;
};

static const char *const rules[] = {
    [STEP_CONSTANT] = "constant",
    [STEP_INVERSE_SQRT] = "inverse_sqrt",
    [STEP_SQRT_DECAY] = "sqrt_decay",
    [STEP_INVERSE] = "inverse",
    NULL,
};

static const struct algorithm_parameter parameters[] = {
    {.name = "schedule",
     .kind = PARAMETER_CHOICE,
     .choices = rules,
     .fallback = STEP_INVERSE_SQRT,
     .about =
         "What the learning rate is divided by at step t from 1: constant 1; "
         "inverse_sqrt sqrt(offset + slope t); inverse t; sqrt_decay multiplies it by "
         "final + (initial - final)(1 - sqrt(t / steps))."},
    {.name = "noise_power",
     .kind = PARAMETER_REAL,
     .low = 0,
     .high = 1,
     .fallback = 0.25,
     .about =
         "Noise grows as this power of that divisor, from the job's noise "
         "multiplier at the first step: 0 is constant noise, 0.5 the paper's rule, "
         "which pays at small epsilon only."},
    {.name = "clip_norm",
     .kind = PARAMETER_REAL,
     .low = 1e-12,
     .high = 1e18,
     .fallback = 1,
     .about = "No record's part in the sum is longer than this; noise grows with it."},
    {.name = "offset",
     .kind = PARAMETER_REAL,
     .low = 1e-6,
     .high = 1e12,
     .fallback = 20,
     .about = "The larger, the later the learning rate falls.",
     .only_with = "schedule",
     .only_value = STEP_INVERSE_SQRT},
    {.name = "slope",
     .kind = PARAMETER_REAL,
     .low = 0,
     .high = 1e12,
     .fallback = 1,
     .about = "How fast the square of the divisor grows.",
     .only_with = "schedule",
     .only_value = STEP_INVERSE_SQRT},
    {.name = "initial",
     .kind = PARAMETER_REAL,
     .low = 1e-12,
     .high = 1e12,
     .fallback = 0.1,
     .about = "Times the learning rate: the rate just before the first step.",
     .only_with = "schedule",
     .only_value = STEP_SQRT_DECAY},
    {.name = "final",
     .kind = PARAMETER_REAL,
     .low = 1e-12,
     .high = 1e12,
     .fallback = 1e-10,
     .about = "Times the learning rate: the rate of the last step, at most initial.",
     .only_with = "schedule",
     .only_value = STEP_SQRT_DECAY},
};

static struct step_schedule schedule_of(const struct algorithm_demand *demand)
{
    const struct algorithm_spec *spec = demand->spec;
    return (struct step_schedule){
        .rule = (enum step_rule)algorithm_value(spec, "schedule"),
        .steps = demand->steps,
        .offset = algorithm_value(spec, "offset"),
        .slope = algorithm_value(spec, "slope"),
        .initial = algorithm_value(spec, "initial"),
        .final = algorithm_value(spec, "final"),
        .power = algorithm_value(spec, "noise_power"),
    };
}

static enum status check(const struct step_schedule *schedule, double noise_first,
                         struct error *error)
{
    double noise_last = noise_first * step_noise_ratio(schedule, schedule->steps - 1);
    if (schedule->rule == STEP_SQRT_DECAY && schedule->final > schedule->initial)
        return error_set_at(error, ST_INVALID, "/algorithm/final",
                            "must be at most initial: noise is planned for a learning "
                            "rate that falls");
    if (!(noise_first >= ADP_NOISE_MIN))
        return error_set(error, ST_INVALID,
                         "the first step's noise multiplier would be %.3g, below %g, "
                         "where early steps cost out of proportion: ask for less "
                         "epsilon or give a smaller noise_power",
                         noise_first, ADP_NOISE_MIN);
    if (!(noise_last <= ADP_NOISE_MAX))
        return error_set(error, ST_INVALID,
                         "the last step's noise multiplier would be %.3g, above %g: "
                         "give a smaller noise_power or a schedule that falls less",
                         noise_last, ADP_NOISE_MAX);
    return ST_OK;
}

static enum status plan(struct mechanism *m, const struct algorithm_demand *demand,
                        struct error *error)
{
    struct step_schedule schedule = schedule_of(demand);
    struct mechanism_run run = {.sampling_rate = algorithm_rate(demand)};
    enum status status = check(&schedule, demand->noise_multiplier, error);
    if (status != ST_OK)
        return status;
    for (uint64_t step = 0, end; step < schedule.steps; step = end) {
        end = step_level_end(&schedule, step);
        run.steps = end - step;
        run.noise_multiplier =
            demand->noise_multiplier * step_noise_ratio(&schedule, step);
        if (step == 0)
            mechanism_init(m, MECHANISM_SAMPLED_GAUSSIAN, demand->relation, run);
        else
            mechanism_append(m, run);
    }
    return ST_OK;
}

/* The grid of the level that begins at state->step: the noise multiplier of plan's run,
 * by the same expression. */
static enum status enter_level(struct state *state, struct error *error)
{
    state->level_end = step_level_end(&state->schedule, state->step);
    state->demand.noise_multiplier =
        state->noise_first * step_noise_ratio(&state->schedule, state->step);
    return grid_plan(&state->noise.grid, &state->demand, error);
}

/* Every level must have a grid before the first record is read. */
static enum status try_levels(const struct state *state, struct error *error)
{
    struct state trial = *state;
    enum status status = ST_OK;
    for (; trial.step < trial.schedule.steps && status == ST_OK;
         trial.step = trial.level_end)
        status = enter_level(&trial, error);
    return status;
}

static enum status start(void *context, const struct algorithm_demand *demand,
                         const struct algorithm_model *model, struct error *error)
{
    struct state *state = context;
    double clip_norm = algorithm_value(demand->spec, "clip_norm");
    state->schedule = schedule_of(demand);
    state->noise_first = demand->noise_multiplier;
    state->rate = algorithm_rate(demand);
    state->divisor = (double)demand->batch_size; /* never the realised size (P2) */
    state->clip = (struct flat_clip){.clip_norm = clip_norm, .spread = model->spread};
    state->noise.clip_norm = clip_norm;
    state->noise.spread = model->spread;
    state->demand = (struct grid_demand){.clip_norm = clip_norm,
                                         .sampling_rate = state->rate,
                                         .records = demand->records,
                                         .dim = model->parameters,
                                         .cell_mean = CELL_MEAN,
                                         .spread = model->spread};
    enum status status = check(&state->schedule, state->noise_first, error);
    if (status == ST_OK)
        status = try_levels(state, error);
    if (status == ST_OK)
        CHECK(enter_level(state, NULL) == ST_OK);
    return status;
}

static enum status step(void *context, struct training *training, struct error *error)
{
    struct state *state = context;
    struct pass pass = {
        .grid = &state->noise.grid, .weigh = clip_flat, .rule = &state->clip};
    if (state->step == state->level_end)
        CHECK(enter_level(state, NULL) == ST_OK);
    training_sample(training, state->rate);
    enum status status = training_pass(training, &pass, error);
    if (status != ST_OK)
        return status;
    training_release(training, pass.grid,
                     state->divisor * step_divisor(&state->schedule, state->step));
    state->step++;
    return training_update(training, error);
}

static const struct noise_plan *noise(const void *context)
{
    const struct state *state = context;
    return &state->noise;
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
    .start = start,
    .step = step,
    .noise = noise,
};
