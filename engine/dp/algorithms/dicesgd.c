/* DiceSGD (Zhang et al. 2024; papers/dicesgd.md): the part that clipping cuts off is
 * kept and fed back, under one of four sound accountants.
 *
 * A step adds to one integer sum the records' gradients clipped at C1 and, before them,
 * the projection of the kept error onto a ball of radius B C2 (stepper_error_feedback).
 * The part that clipping cut off each gradient, up to C3 if there is one, is added to
 * the error by a second sum (clip_rest). Only the first sum is released, with noise.
 *
 * The error is raw data that stays hidden, so a single step is not a release: each of
 * the four accountants (m2r, m2, m1, m3) bounds the whole path of the run instead, and
 * each has conditions on how batches are drawn (check). The paper's own theorem does
 * not hold; its number is shown as paper_claim and is never a charge.
 *
 * The proofs are about real numbers and the error is integers, so every step rounds it.
 * overhead computes how much additional noise these roundings need, and plan_grid plans
 * it. */
#include "engine/dp/algorithm.h"

#include <math.h>

#include "engine/dp/algorithms/clipped_sum.h"
#include "engine/dp/clip.h"
#include "engine/dp/error_memory.h"
#include "engine/dp/stepper.h"

/* m3 is a sum over the number of a record's uses; this is the largest number of terms
 * that the accountant adds. */
static const uint64_t sampled_steps_max = UINT64_C(1) << 16;

enum accountant {
    ACCOUNTANT_M2R,
    ACCOUNTANT_M2,
    ACCOUNTANT_M1,
    ACCOUNTANT_M3,
    ACCOUNTANT_PAPER_CLAIM
};
enum batches { BATCHES_PARTITION, BATCHES_POISSON };

struct state {
    struct error_feedback error_feedback;
    enum batches batches;
    double rate, divisor, radius; /* radius of the error's projection, in grid steps */
    uint64_t step, epoch_steps;
    struct flat_clip clip;
    struct rest_clip rest;
    struct noise_plan noise;
};

static const char *const accountants[] = {"m2r", "m2", "m1", "m3", "paper_claim", NULL};
static const char *const batches[] = {"partition", "poisson", NULL};

static const struct algorithm_parameter parameters[] = {
    {.name = "accountant",
     .kind = PARAMETER_CHOICE,
     .choices = accountants,
     .fallback = ACCOUNTANT_M2R,
     .about = "The proof by which the job is charged: m2r forgets the error every "
              "epoch and is the cheapest, m2 keeps it, m1 needs no pre_clip_norm, m3 "
              "draws Poisson batches and is charged whole. paper_claim is refused, "
              "because the paper's theorem does not hold."},
    {.name = "batches",
     .kind = PARAMETER_CHOICE,
     .choices = batches,
     .fallback = BATCHES_PARTITION,
     .about = "partition puts every record in one batch per epoch (m2r, m2, m1); "
              "poisson draws each record independently in every step (m3, m1)."},
    {.name = "clip_norm",
     .kind = PARAMETER_REAL,
     .low = 1e-9,
     .high = 1e9,
     .fallback = 1,
     .about = "The part of a gradient beyond this norm is added later, as part of the "
              "error."},
    {.name = "pre_clip_norm",
     .kind = PARAMETER_REAL,
     .low = 0,
     .high = 1e12,
     .fallback = 2,
     .about = "Gradients are first cut to this norm, permanently. Twice clip_norm is "
              "cheapest under m2r. 0 under m1: no such cut."},
    {.name = "error_clip_norm",
     .kind = PARAMETER_REAL,
     .low = 0,
     .high = 1e12,
     .fallback = 2,
     .about = "The largest error that is added in one step, in units of the mean "
              "gradient. It costs noise under m1, and nothing under m2r."},
};

static enum error_feedback_bound bound_of(enum accountant accountant)
{
    switch (accountant) {
    case ACCOUNTANT_M1: return ERROR_FEEDBACK_M1;
    case ACCOUNTANT_M2: return ERROR_FEEDBACK_M2;
    case ACCOUNTANT_M3: return ERROR_FEEDBACK_M3;
    case ACCOUNTANT_M2R:
    case ACCOUNTANT_PAPER_CLAIM: break;
    }
    return ERROR_FEEDBACK_M2R;
}

static enum status check_accountant(enum accountant accountant,
                                    const struct algorithm_inputs *inputs,
                                    struct error *error)
{
    static const char at[] = "/algorithm/accountant";
    if (accountant == ACCOUNTANT_PAPER_CLAIM)
        return error_set_at(error, ST_INVALID, at,
                            "Theorem 3.7 is broken by an attack on the final model: "
                            "choose m2r, m2, m1 or m3");
    if (accountant == ACCOUNTANT_M3 && inputs->relation != RELATION_ZERO_OUT)
        return error_set_at(error, ST_INVALID, at,
                            "m3 has no proof under replace_one: choose m2r, m2 or m1");
    if (accountant == ACCOUNTANT_M3 && inputs->steps > sampled_steps_max)
        return error_set_at(error, ST_INVALID, at,
                            "m3 is for at most %llu steps: choose m2r, m2 or m1",
                            (unsigned long long)sampled_steps_max);
    return ST_OK;
}

static enum status check_batches(enum accountant accountant, enum batches drawn,
                                 struct error *error)
{
    static const char at[] = "/algorithm/batches";
    bool capped = accountant == ACCOUNTANT_M2R || accountant == ACCOUNTANT_M2;
    if (capped && drawn != BATCHES_PARTITION)
        return error_set_at(error, ST_INVALID, at,
                            "%s caps how often a record takes part: give partition, or "
                            "accountant m3 or m1",
                            accountants[accountant]);
    if (accountant == ACCOUNTANT_M3 && drawn != BATCHES_POISSON)
        return error_set_at(error, ST_INVALID, at,
                            "m3 is about Poisson batches: give poisson, or accountant "
                            "m2r, m2 or m1");
    return ST_OK;
}

static enum status check(const struct algorithm_inputs *inputs, struct error *error)
{
    const struct algorithm_spec *spec = inputs->spec;
    enum accountant accountant = (enum accountant)algorithm_value(spec, "accountant");
    double clip_norm = algorithm_value(spec, "clip_norm");
    double whole = algorithm_value(spec, "pre_clip_norm");
    bool uncut = accountant == ACCOUNTANT_M1 && whole == 0;
    if (!(inputs->noise_multiplier > 0))
        return error_set(error, ST_INVALID,
                         "dicesgd needs a positive noise multiplier");
    if (!uncut && !(whole > clip_norm && whole <= 0x1p20 * clip_norm))
        return error_set_at(error, ST_INVALID, "/algorithm/pre_clip_norm",
                            "must be above clip_norm and at most 2^20 times it; only "
                            "m1 allows 0, for none");
    enum status status = check_accountant(accountant, inputs, error);
    if (status == ST_OK)
        status = check_batches(accountant,
                               (enum batches)algorithm_value(spec, "batches"), error);
    return status;
}

static uint64_t epoch_steps(const struct algorithm_inputs *inputs)
{
    return (inputs->records + inputs->batch_size - 1) / inputs->batch_size;
}

/* The parameters for the accountant. start takes its norms from the same function. */
static struct error_feedback feedback_of(const struct algorithm_inputs *inputs)
{
    const struct algorithm_spec *spec = inputs->spec;
    enum accountant accountant = (enum accountant)algorithm_value(spec, "accountant");
    bool poisson = algorithm_value(spec, "batches") == BATCHES_POISSON;
    double clip_norm = algorithm_value(spec, "clip_norm");
    double whole = algorithm_value(spec, "pre_clip_norm");
    double back = algorithm_value(spec, "error_clip_norm");
    struct error_feedback feedback = {.bound = bound_of(accountant)};
    if (feedback.bound != ERROR_FEEDBACK_M3)
        feedback.period = poisson ? 1 : epoch_steps(inputs);
    if (feedback.bound != ERROR_FEEDBACK_M1)
        feedback.rest = (whole - clip_norm) / clip_norm;
    if (feedback.bound != ERROR_FEEDBACK_M2R)
        feedback.error_clip = (double)inputs->batch_size * back / clip_norm;
    return feedback;
}

/* The error is hidden and has no noise, so single steps are not releases: the proofs
 * bound the whole path (accountant/mechanisms/error_feedback.h). */
static enum status plan(struct mechanism *m, const struct algorithm_inputs *inputs,
                        struct error *error)
{
    enum status status = check(inputs, error);
    if (status != ST_OK)
        return status;
    struct error_feedback feedback = feedback_of(inputs);
    bool sampled = feedback.bound == ERROR_FEEDBACK_M3;
    struct mechanism_run run = {.sampling_rate = sampled ? algorithm_rate(inputs) : 1,
                                .noise_multiplier = inputs->noise_multiplier,
                                .steps = inputs->steps};
    mechanism_init(m, MECHANISM_ERROR_FEEDBACK, inputs->relation, run);
    m->error_feedback = feedback;
    m->prefixes_priced = !sampled;
    return ST_OK;
}

/* The number of steps over which roundings of the kept error add up; in the proof they
 * count as an addition to rest. Let r be error_memory_rounding on either side. A_t and
 * b_t of the proof (3.5) obey
 *   sqrt(A_t^2 + sum b^2) <= n_t h + t r
 * and the visible part is at most b_t + r. That is K h + (t + sqrt t) r in all, or
 * h + (t + sqrt t) r / max(1, K - 1) for a rest. K is the number of periods begun by
 * step t, so t / max(1, K - 1) is at most two periods. */
static double rounded_steps(const struct state *state,
                            const struct algorithm_inputs *inputs)
{
    double steps = 2 * (double)state->error_feedback.period;
    if (state->error_feedback.bound == ERROR_FEEDBACK_M3)
        steps = (double)inputs->steps;
    return steps + 2 * sqrt(steps);
}

/* The grid steps by which noise / sensitivity must exceed the requirement of Theorem 1
 * for the first sum. With them, the rest (Theorem 1 again) and the error that is fed
 * back also stay within their shares of the noise, including the roundings of the
 * error. */
static double overhead(const struct state *state, const struct algorithm_inputs *inputs,
                       uint64_t dim)
{
    const struct error_feedback *feedback = &state->error_feedback;
    double unit = GRID_NOISE_STDDEV / inputs->noise_multiplier;
    double back = (double)inputs->batch_size *
                  algorithm_value(inputs->spec, "error_clip_norm") /
                  algorithm_value(inputs->spec, "clip_norm");
    double rounding = 2 * error_memory_rounding((size_t)dim, back * unit), most = 0;
    double sum = sqrt((double)dim) * (1 + 0x1p-50);
    if (feedback->bound != ERROR_FEEDBACK_M1)
        most = (sum + rounded_steps(state, inputs) * rounding) / feedback->rest;
    if (feedback->error_clip > 0)
        most = fmax(most, rounding / (2 * feedback->error_clip));
    return most * (1 + 0x1p-40);
}

static void set_rules(struct state *state, const struct algorithm_spec *spec)
{
    double clip_norm = algorithm_value(spec, "clip_norm");
    double whole = algorithm_value(spec, "pre_clip_norm");
    state->clip = (struct flat_clip){.clip_norm = clip_norm, .spread = 1};
    state->rest = (struct rest_clip){
        .clip = state->clip, .whole = whole, .rest = whole - clip_norm};
}

/* A cell's rest must stay in the range in which rounding to the grid is exact, and a
 * batch's rest in 64 bits; grid_plan checks the same for the sum. Under m1 there is no
 * condition on the rest. */
static enum status check_rest(const struct state *state,
                              const struct algorithm_inputs *inputs,
                              struct error *error)
{
    const struct grid *grid = &state->noise.grid;
    double reach = state->error_feedback.rest * grid->scale * state->clip.clip_norm;
    double batch = (double)inputs->batch_size;
    if (reach * grid->cell_rows_max > 0x1p49 ||
        reach * (2 * batch + 1024) + 0x1p41 > 0x1p61)
        return error_set_at(error, ST_INVALID, "/algorithm/pre_clip_norm",
                            "too far above clip_norm for this noise");
    return ST_OK;
}

static enum status plan_grid(struct state *state, const struct algorithm_inputs *inputs,
                             const struct algorithm_model *model, struct error *error)
{
    double extra = overhead(state, inputs, model->parameters) *
                   inputs->noise_multiplier / GRID_NOISE_STDDEV;
    if (!(extra <= 0.01))
        return error_set(error, ST_INVALID,
                         "rounding of the kept error would pass a hundredth of the "
                         "noise: take less noise, a shorter epoch or a larger "
                         "pre_clip_norm");
    struct grid_spec sum = clipped_sum_spec(inputs, model, state->clip.clip_norm);
    sum.noise_multiplier = inputs->noise_multiplier / (1 - extra) * (1 + 0x1p-50);
    enum status status = clipped_sum_plan(&state->noise, &sum, error);
    return status == ST_OK ? check_rest(state, inputs, error) : status;
}

static enum status start(void *context, const struct algorithm_inputs *inputs,
                         const struct algorithm_model *model, struct error *error)
{
    struct state *state = context;
    enum status status = check(inputs, error);
    if (status != ST_OK)
        return status;
    state->error_feedback = feedback_of(inputs);
    state->batches = (enum batches)algorithm_value(inputs->spec, "batches");
    state->epoch_steps = epoch_steps(inputs);
    state->rate = algorithm_rate(inputs);
    state->divisor = (double)inputs->batch_size;
    set_rules(state, inputs->spec);
    status = plan_grid(state, inputs, model, error);
    state->radius = state->divisor * state->noise.grid.scale *
                    algorithm_value(inputs->spec, "error_clip_norm") * (1 - 0x1p-45);
    return status;
}

static void draw(struct state *state, struct stepper *stepper)
{
    uint64_t place = state->step++ % state->epoch_steps;
    if (place == 0 && state->error_feedback.bound == ERROR_FEEDBACK_M2R)
        stepper_forget_error(stepper);
    if (state->batches == BATCHES_POISSON) {
        stepper_sample(stepper, state->rate);
        return;
    }
    if (place == 0)
        stepper_deal(stepper, (size_t)state->epoch_steps);
    stepper_take(stepper, (size_t)place);
}

static enum status step(void *context, struct stepper *stepper, struct error *error)
{
    struct state *state = context;
    struct batch_sum sum = {.grid = &state->noise.grid,
                            .clip = clip_flat,
                            .clip_context = &state->clip,
                            .clip_rest = clip_rest,
                            .rest_context = &state->rest};
    draw(state, stepper);
    stepper_error_feedback(stepper, state->radius);
    return stepper_descend(stepper, &sum, state->divisor, error);
}

/* Theorem 3.7 at the smallest C = B C2 that it allows. Its noise on the mean is sigma1,
 * which is B sigma1 / C1 on the sum in clip norms. */
static double paper_claim(const struct algorithm_inputs *inputs, double epsilon,
                          double delta)
{
    double batch = (double)inputs->batch_size, records = (double)inputs->records;
    double clip_norm = algorithm_value(inputs->spec, "clip_norm");
    double back = batch * algorithm_value(inputs->spec, "error_clip_norm");
    double both = clip_norm * clip_norm + 2 * back * back;
    double noise = sqrt(32 * (double)inputs->steps * both * log(1 / delta));
    return batch / clip_norm * noise / (records * epsilon);
}

const struct algorithm dicesgd = {
    .name = "dicesgd",
    .title = "DiceSGD: DP-SGD with clipped error feedback",
    .paper =
        "Zhang, Bu, Wu and Hong, Differentially Private SGD Without Clipping Bias: "
        "An Error-Feedback Approach, ICLR 2024",
    .charge =
        "error feedback: a sound bound on the whole path (m2r, m2, m1 or m3); the "
        "paper's own theorem does not hold and is shown as paper_claim alone",
    .when_to_use =
        "Experimental: free of clipping's bias up to pre_clip_norm. dpsgd with "
        "Poisson batches usually needs two to five times less noise.",
    .is_private = true,
    .drops_gradient = true,
    .uses_error_memory = true,
    .one_rank_only =
        "its proof is about one error memory, and nothing is proved of one "
        "that is kept in slices",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .plan = plan,
    .state_size = sizeof(struct state),
    .noise_at = offsetof(struct state, noise),
    .start = start,
    .step = step,
    .paper_claim = paper_claim,
};
