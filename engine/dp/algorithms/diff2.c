/* DIFF2-GD and DIFF2-BVR-L-SGD (Murata and Suzuki 2023; papers/diff2.md).
 *
 * A step makes one of three releases, as diff2_rounds.h says: of gradients (restart),
 * clipped at C1, or of gradient differences between two points that were released
 * before, clipped at a rate times their distance, over all records or over a client's
 * subset (differ). A restart replaces the estimate of the gradient, a difference moves
 * the estimate to the new point (diff2_estimate.h), and the parameters are updated with
 * the estimate (move).
 *
 * A difference's noise is proportional to its clip norm, so its price does not depend
 * on the course of training: the mechanism is a list of Gaussians fixed before the
 * first record is read (papers/diff2.md 2.2). Points, distances and the estimate are
 * public.
 *
 * Differences are summed in units of a power of two near the distance
 * (parameter_step.h). The grid is planned once for clip norm 1 and scaled to each
 * round's clip norm (grid_rescale), and the noise is scaled with it, so that exactly
 * what was charged is run.
 *
 * Noise grows with the distance that the parameters moved, and moves them in turn, so
 * it can amplify itself. start refuses learning rates at which it would
 * (check_growth). */
#include "engine/dp/algorithm.h"

#include <float.h>
#include <math.h>

#include "engine/difference/parameter_step.h"
#include "engine/dp/algorithms/clipped_sum.h"
#include "engine/dp/algorithms/diff2_estimate.h"
#include "engine/dp/algorithms/diff2_parameters.h"
#include "engine/dp/algorithms/full_batch.h"
#include "engine/dp/clip.h"
#include "engine/dp/stepper.h"

/* The range of clip norms that grid_rescale accepts. */
static const double clip_least = 0x1p-40, clip_most = 0x1p60;

struct kind {    /* a kind of difference: over all records, or a client's subset */
    double rate; /* C2 or C3: clip norm over distance moved */
    double noise_multiplier, divisor;
    struct grid grid; /* planned for clip norm 1 */
    struct diff2_estimate estimate;
};

struct state {
    struct diff2_rounds rounds;
    struct diff2_shards shards;
    size_t local_batch; /* b */
    uint64_t step;
    struct flat_clip clip; /* the rule of restarts */
    double difference_spread;
    struct noise_plan noise;
    struct kind round, local;
};

static enum status plan(struct mechanism *m, const struct algorithm_inputs *inputs,
                        struct error *error)
{
    enum status status = diff2_check(inputs, error);
    if (status != ST_OK)
        return status;
    struct diff2_rounds rounds = diff2_rounds_of(inputs);
    return diff2_rounds_plan(m, &rounds, inputs->relation, inputs->noise_multiplier,
                             error);
}

/* The divisor of sums over all clients: P n_min. */
static double divisor_of(const struct diff2_shards *shards)
{
    return (double)(diff2_shards_least(shards) * shards->clients);
}

/* A kind without its grid and estimate. Its noise multiplier is that of the run in the
 * plan, computed by the same expression. */
static struct kind kind_of(enum diff2_release release,
                           const struct algorithm_inputs *inputs)
{
    struct diff2_rounds rounds = diff2_rounds_of(inputs);
    struct diff2_shards shards = diff2_shards_of(inputs);
    bool local = release == RELEASE_LOCAL;
    return (struct kind){
        .rate = algorithm_value(inputs->spec, local ? "local_clip" : "difference_clip"),
        .noise_multiplier =
            inputs->noise_multiplier * diff2_rounds_ratio(&rounds, release),
        .divisor = local ? (double)diff2_local_batch(inputs) : divisor_of(&shards)};
}

/* Plans the grid of this kind, for clip norm 1, and allocates its estimate. */
static enum status plan_kind(struct state *state, enum diff2_release release,
                             const struct algorithm_inputs *inputs,
                             const struct algorithm_model *model, struct error *error)
{
    bool local = release == RELEASE_LOCAL;
    struct kind *kind = local ? &state->local : &state->round;
    struct grid_spec grid = clipped_sum_spec(inputs, model, 1);
    *kind = kind_of(release, inputs);
    grid.noise_multiplier = kind->noise_multiplier;
    grid.spread = model->difference_spread;
    grid.float_terms = model->difference_terms;
    if (local)
        grid.sampling_rate = state->rounds.local_rate;
    enum status status = grid_plan(&kind->grid, &grid, error);
    if (status != ST_OK)
        return status;
    noise_plan_set(&state->noise,
                   &(struct noise_grid){.name = local ? "local" : "differences",
                                        .grid = kind->grid});
    return diff2_estimate_init(&kind->estimate, (size_t)model->parameters, error);
}

/* The largest learning rate at which the noise of this kind of release does not amplify
 * itself. Noise is proportional to the distance that the parameters moved, and moves
 * them in turn: over a window of T rounds, the movement by noise grows by up to exp(T
 * (eta sigma C2)^2 d), where sigma is the multiplier over the divisor (papers/diff2.md
 * 5; Prop. D.2 requires a quarter in the exponent). If the exponent exceeds four, the
 * job would spend its budget without learning anything. */
static double rate_of_kind(enum diff2_release release, uint64_t window,
                           const struct algorithm_inputs *inputs,
                           const struct algorithm_model *model)
{
    static const double exponent_max = 4;
    struct kind kind = kind_of(release, inputs);
    double moved = kind.rate * kind.noise_multiplier / kind.divisor;
    return sqrt(exponent_max / ((double)window * (double)model->parameters)) / moved;
}

/* The largest learning rate at which the noise of none of the job's releases amplifies
 * itself. */
static double rate_most(const struct algorithm_inputs *inputs,
                        const struct algorithm_model *model)
{
    struct diff2_rounds rounds = diff2_rounds_of(inputs);
    uint64_t count = diff2_rounds_count(&rounds);
    uint64_t window = count < rounds.interval ? count : rounds.interval;
    double most = INFINITY;
    if (count > diff2_rounds_restarts(&rounds))
        most = rate_of_kind(RELEASE_DIFFERENCE, window, inputs, model);
    if (rounds.local_steps > 1)
        most =
            fmin(most, rate_of_kind(RELEASE_LOCAL, rounds.local_steps, inputs, model));
    return most;
}

static enum status check_growth(const struct algorithm_inputs *inputs,
                                const struct algorithm_model *model,
                                struct error *error)
{
    double most = rate_most(inputs, model);
    if (inputs->optimizer->learning_rate <= most)
        return ST_OK;
    return error_set_at(error, ST_INVALID, "/optimizer/learning_rate",
                        "the noise of differences would feed on itself: give at most "
                        "%.3g, a shorter restart_interval, smaller clips of "
                        "differences or more epsilon, or take dpgd",
                        most);
}

/* The rate is halved, and not set to the largest allowed one, so that it is a round
 * number for readers. */
static double learning_rate(const struct algorithm_inputs *inputs,
                            const struct algorithm_model *model, double usual)
{
    double most = rate_most(inputs, model), rate = usual;
    while (rate > most && rate > DBL_MIN)
        rate /= 2;
    return rate;
}

static enum status start_round(struct state *state,
                               const struct algorithm_inputs *inputs,
                               const struct algorithm_model *model, struct error *error)
{
    struct grid_spec sum = clipped_sum_spec(inputs, model, state->clip.clip_norm);
    enum status status = clipped_sum_plan(&state->noise, &sum, error);
    state->round.divisor = divisor_of(&state->shards);
    if (status != ST_OK ||
        diff2_rounds_count(&state->rounds) == diff2_rounds_restarts(&state->rounds))
        return status;
    return plan_kind(state, RELEASE_DIFFERENCE, inputs, model, error);
}

static enum status start_local(struct state *state,
                               const struct algorithm_inputs *inputs,
                               const struct algorithm_model *model, struct error *error)
{
    if (state->rounds.local_steps == 1)
        return ST_OK;
    state->local_batch = (size_t)diff2_local_batch(inputs);
    return plan_kind(state, RELEASE_LOCAL, inputs, model, error);
}

static enum status start(void *context, const struct algorithm_inputs *inputs,
                         const struct algorithm_model *model, struct error *error)
{
    struct state *state = context;
    enum status status = diff2_check(inputs, error);
    if (status != ST_OK)
        return status;
    state->rounds = diff2_rounds_of(inputs);
    state->shards = diff2_shards_of(inputs);
    state->clip = (struct flat_clip){
        .clip_norm = algorithm_value(inputs->spec, "clip_norm"), .spread = 1};
    state->difference_spread = model->difference_spread;
    status = start_round(state, inputs, model, error);
    if (status == ST_OK)
        status = start_local(state, inputs, model, error);
    return status == ST_OK ? check_growth(inputs, model, error) : status;
}

static size_t allocated(const void *context)
{
    const struct state *state = context;
    return diff2_estimate_size(&state->round.estimate) +
           diff2_estimate_size(&state->local.estimate);
}

static void finish(void *context)
{
    struct state *state = context;
    diff2_estimate_fini(&state->round.estimate);
    diff2_estimate_fini(&state->local.estimate);
}

/* Adds the clients' sums, one client after the other: these are the sums that separate
 * clients would send, and that a reduction over machines would add. */
static enum status sum_over_all(const struct state *state, struct stepper *stepper,
                                const struct batch_sum *like,
                                const struct flat_clip *clip, struct error *error)
{
    enum status status = ST_OK;
    for (uint64_t k = 0; k < state->shards.clients && status == ST_OK; k++) {
        struct shared_clip rule = {.clip = *clip,
                                   .share = diff2_shards_share(&state->shards, k)};
        struct batch_sum sum = *like;
        sum.clip = clip_shared;
        sum.clip_context = &rule;
        stepper_take_range(stepper, diff2_shards_range(&state->shards, k));
        status = stepper_sum(stepper, &sum, error);
    }
    return status;
}

static enum status sum_over_subset(const struct state *state, struct stepper *stepper,
                                   const struct batch_sum *like,
                                   const struct flat_clip *clip, struct error *error)
{
    struct batch_sum sum = *like;
    uint64_t client = diff2_rounds_client(&state->rounds, state->step);
    sum.clip = clip_flat;
    sum.clip_context = clip;
    stepper_draw_subset(stepper, diff2_shards_range(&state->shards, client),
                        state->local_batch);
    return stepper_sum(stepper, &sum, error);
}

static enum status restart(struct state *state, struct stepper *stepper,
                           struct error *error)
{
    const struct batch_sum sum = {.grid = &state->noise.grid};
    enum status status = sum_over_all(state, stepper, &sum, &state->clip, error);
    if (status != ST_OK)
        return status;
    stepper_release(stepper, sum.grid, state->round.divisor);
    if (state->round.estimate.dim > 0)
        diff2_estimate_restart(&state->round.estimate, stepper_gradient(stepper));
    return ST_OK;
}

/* Releases a difference and adds it to the estimate. If the noise would round to zero
 * although the clip norm does not, the clip norm is taken as zero and nothing is
 * released (2.2). It is public whether the clip norm is a number. */
static enum status differ(struct state *state, struct kind *kind,
                          struct stepper *stepper, struct error *error)
{
    const struct parameter_step *moved =
        stepper_move_from(stepper, kind->estimate.point);
    double scale = parameter_step_scale(moved);
    double clip_norm = kind->rate * (parameter_step_length(moved) / scale);
    struct flat_clip clip = {.clip_norm = clip_norm,
                             .spread = state->difference_spread};
    struct grid grid;
    const struct batch_sum sum = {.grid = &grid, .parameter_step = moved};
    if (!(clip_norm <= clip_most))
        return error_set(error, ST_INTERNAL, "diverged");
    if (clip_norm < clip_least ||
        clip_norm * scale * kind->noise_multiplier / kind->divisor < (double)FLT_MIN)
        return ST_OK;
    grid_rescale(&grid, &kind->grid, clip_norm);
    enum status status = kind == &state->local
                             ? sum_over_subset(state, stepper, &sum, &clip, error)
                             : sum_over_all(state, stepper, &sum, &clip, error);
    if (status != ST_OK)
        return status;
    stepper_release(stepper, &grid, kind->divisor);
    diff2_estimate_add(&kind->estimate, stepper_gradient(stepper), scale);
    return ST_OK;
}

/* Updates the parameters with the estimate, and marks the estimate as the gradient at
 * the point before the update. The local steps of a round begin with the round's
 * estimate. */
static enum status move(struct state *state, struct kind *kind, struct stepper *stepper,
                        struct error *error)
{
    if (kind->estimate.dim > 0)
        diff2_estimate_mark(&kind->estimate, stepper_gradient(stepper),
                            stepper_parameters(stepper));
    if (kind == &state->round && state->local.estimate.dim > 0) {
        struct diff2_estimate *local = &state->local.estimate;
        if (kind->estimate.dim > 0)
            diff2_estimate_copy(local, &kind->estimate);
        else
            diff2_estimate_restart(local, stepper_gradient(stepper));
        diff2_estimate_mark(local, stepper_gradient(stepper),
                            stepper_parameters(stepper));
    }
    return stepper_update(stepper, error);
}

static enum status step(void *context, struct stepper *stepper, struct error *error)
{
    struct state *state = context;
    enum diff2_release release = diff2_rounds_release(&state->rounds, state->step);
    struct kind *kind = release == RELEASE_LOCAL ? &state->local : &state->round;
    enum status status = release == RELEASE_RESTART
                             ? restart(state, stepper, error)
                             : differ(state, kind, stepper, error);
    if (status != ST_OK)
        return status;
    state->step++;
    return move(state, kind, stepper, error);
}

/* The claim for restarts, by Propositions 4.1 and 5.1, because the job's noise
 * multiplier is that of restarts. */
static double paper_claim(const struct algorithm_inputs *inputs, double epsilon,
                          double delta)
{
    struct diff2_rounds rounds = diff2_rounds_of(inputs);
    bool only = diff2_rounds_restarts(&rounds) == inputs->steps;
    return full_batch_claim(epsilon, delta, (double)diff2_rounds_restarts(&rounds),
                            only ? 1 : rounds.restart_share);
}

#define PAPER                                                                          \
    "Murata and Suzuki, DIFF2: Differential Private Optimization via Gradient "        \
    "Differences for Nonconvex Distributed Learning, ICML 2023"

#define RECORDS_ONLY                                                                   \
    "the length of a difference is bounded for one record, and not for the mean of "   \
    "several"

const struct algorithm diff2_gd = {
    .name = "diff2_gd",
    .title = "DIFF2-GD: full batches, gradient differences between restarts",
    .paper = PAPER,
    .charge = "Gaussians: restarts and differences, each with its own noise",
    .when_to_use =
        "Full-batch training of small models on many records, over many rounds: noise "
        "falls as the steps do. Compare it with dpgd. No group norms and no wide "
        "convolutions; sgd at a constant learning rate.",
    .is_private = true,
    .plain_loss = true,
    .records_only = RECORDS_ONLY,
    .full_batch = true,
    .uses_differences = true,
    .epochs = FULL_BATCH_EPOCHS,
    .parameters = diff2_gd_parameters,
    .parameter_count = DIFF2_GD_PARAMETERS,
    .plan = plan,
    .learning_rate = learning_rate,
    .state_size = sizeof(struct state),
    .noise_at = offsetof(struct state, noise),
    .start = start,
    .allocated = allocated,
    .finish = finish,
    .step = step,
    .paper_claim = paper_claim,
};

const struct algorithm diff2_bvr_l_sgd = {
    .name = "diff2_bvr_l_sgd",
    .title = "DIFF2-BVR-L-SGD: DIFF2 with local steps over small subsets",
    .paper = PAPER,
    .charge = "fixed-size subsets in local steps, Gaussians in the others, composed",
    .when_to_use =
        "As diff2_gd where passes over all records are dear: a round is one pass and "
        "local_steps - 1 cheap steps.",
    .is_private = true,
    .plain_loss = true,
    .records_only = RECORDS_ONLY,
    .full_batch = true,
    .uses_differences = true,
    .uses_subsets = true,
    .epochs = FULL_BATCH_EPOCHS,
    .parameters = diff2_bvr_parameters,
    .parameter_count = DIFF2_BVR_PARAMETERS,
    .plan = plan,
    .learning_rate = learning_rate,
    .state_size = sizeof(struct state),
    .noise_at = offsetof(struct state, noise),
    .start = start,
    .allocated = allocated,
    .finish = finish,
    .step = step,
    .paper_claim = paper_claim,
};
