/* DIFF2-GD and DIFF2-BVR-L-SGD (Murata and Suzuki 2023; papers/diff2.md).
 *
 * A step makes one of three releases, as rounds.h says: of gradients (restart), clipped
 * at C1, or of gradient differences between two points that were released before, clipped
 * at a rate times their distance, over all records or over a client's subset (differ). A
 * restart replaces the estimate of the gradient, a difference carries it on to the new
 * point (estimate.h), and the estimate moves the parameters (move).
 *
 * A difference's noise is in proportion to its clip norm, so its price does not depend on
 * where training went: the mechanism is a list of Gaussians fixed before the first record
 * is read (papers/diff2.md 2.2). Points, distances and the estimate are public.
 *
 * Differences are summed in units of a power of two near the distance (parameter_step.h). The
 * grid is planned once for clip norm 1 and scaled to each round's clip norm
 * (grid_rescale), and the noise is scaled with it: what is run is what was charged.
 *
 * As noise grows with how far the parameters moved, and moves them in turn, it can feed
 * on itself. start refuses learning rates at which it would (check_growth). */
#include "engine/dp/algorithm.h"

#include <float.h>
#include <math.h>

#include "engine/dp/algorithms/clipped_sum.h"
#include "engine/dp/algorithms/diff2_demand.h"
#include "engine/dp/algorithms/estimate.h"
#include "engine/dp/algorithms/full_batch.h"
#include "engine/dp/clip.h"
#include "engine/dp/training.h"
#include "engine/nn/parameter_step.h"

/* The range of clip norms that a grid takes (grid_rescale). */
static const double clip_least = 0x1p-40, clip_most = 0x1p60;

struct kind {    /* a kind of difference: over all records, or a client's subset */
    double rate; /* C2 or C3: clip norm over distance moved */
    double noise_multiplier, divisor;
    struct grid grid; /* planned for clip norm 1 */
    struct estimate estimate;
};

struct state {
    struct rounds rounds;
    struct shards shards;
    size_t local_batch; /* b */
    uint64_t step;
    struct flat_clip clip; /* the rule of restarts */
    double difference_spread;
    struct noise_plan noise;
    struct kind round, local;
};

static enum status plan(struct mechanism *m, const struct algorithm_demand *demand,
                        struct error *error)
{
    enum status status = diff2_check(demand, error);
    if (status != ST_OK)
        return status;
    struct rounds rounds = diff2_rounds(demand);
    return rounds_plan(m, &rounds, demand->relation, demand->noise_multiplier, error);
}

/* The divisor of sums over all clients: P n_min. */
static double divisor_of(const struct shards *shards)
{
    return (double)(shards_least(shards) * shards->clients);
}

/* A kind without its grid and estimate. Its noise multiplier is that of the plan's run,
 * computed by the same expression. */
static struct kind kind_of(enum release release, const struct algorithm_demand *demand)
{
    struct rounds rounds = diff2_rounds(demand);
    struct shards shards = diff2_shards(demand);
    bool local = release == RELEASE_LOCAL;
    return (struct kind){
        .rate = algorithm_value(demand->spec, local ? "local_clip" : "difference_clip"),
        .noise_multiplier = demand->noise_multiplier * rounds_ratio(&rounds, release),
        .divisor = local ? (double)diff2_local_batch(demand) : divisor_of(&shards)};
}

static enum status plan_kind(struct kind *kind, enum release release,
                             const struct algorithm_demand *demand,
                             const struct algorithm_model *model, struct error *error)
{
    struct grid_demand grid = clipped_sum_demand(demand, model, 1);
    *kind = kind_of(release, demand);
    grid.noise_multiplier = kind->noise_multiplier;
    grid.spread = model->difference_spread;
    grid.record_terms = 0;
    grid.float_terms = model->difference_terms;
    if (release == RELEASE_LOCAL)
        grid.sampling_rate = diff2_rounds(demand).local_rate;
    enum status status = grid_plan(&kind->grid, &grid, error);
    if (status == ST_OK)
        status = estimate_init(&kind->estimate, (size_t)model->parameters, error);
    return status;
}

/* The largest learning rate at which this kind of release does not feed on itself. Noise
 * in proportion to a motion moves the parameters in turn: over a window of T rounds what
 * noise moved grows by up to exp(T (eta sigma C2)^2 d), where sigma is the multiplier
 * over the divisor (papers/diff2.md 5; Prop. D.2 asks for a quarter in the exponent).
 * Where the exponent passes four, nothing is learnt for the budget. */
static double rate_of_kind(enum release release, uint64_t window,
                           const struct algorithm_demand *demand,
                           const struct algorithm_model *model)
{
    static const double exponent_max = 4;
    struct kind kind = kind_of(release, demand);
    double moved = kind.rate * kind.noise_multiplier / kind.divisor;
    return sqrt(exponent_max / ((double)window * (double)model->parameters)) / moved;
}

/* The largest learning rate at which nothing that the job releases feeds on itself. */
static double rate_most(const struct algorithm_demand *demand,
                        const struct algorithm_model *model)
{
    struct rounds rounds = diff2_rounds(demand);
    uint64_t count = rounds_count(&rounds);
    uint64_t window = count < rounds.interval ? count : rounds.interval;
    double most = INFINITY;
    if (count > rounds_restarts(&rounds))
        most = rate_of_kind(RELEASE_DIFFERENCE, window, demand, model);
    if (rounds.local_steps > 1)
        most =
            fmin(most, rate_of_kind(RELEASE_LOCAL, rounds.local_steps, demand, model));
    return most;
}

static enum status check_growth(const struct algorithm_demand *demand,
                                const struct algorithm_model *model,
                                struct error *error)
{
    double most = rate_most(demand, model);
    if (demand->optimizer->learning_rate <= most)
        return ST_OK;
    return error_set_at(error, ST_INVALID, "/optimizer/learning_rate",
                        "the noise of differences would feed on itself: give at most "
                        "%.3g, a shorter restart_interval, smaller clips of "
                        "differences or more epsilon, or take dpgd",
                        most);
}

/* The rate is halved and not cut to the largest, so that people read a round number. */
static double learning_rate(const struct algorithm_demand *demand,
                            const struct algorithm_model *model, double usual)
{
    double most = rate_most(demand, model), rate = usual;
    while (rate > most && rate > DBL_MIN)
        rate /= 2;
    return rate;
}

static enum status start_round(struct state *state,
                               const struct algorithm_demand *demand,
                               const struct algorithm_model *model, struct error *error)
{
    struct kind *round = &state->round;
    struct grid_demand sum = clipped_sum_demand(demand, model, state->clip.clip_norm);
    enum status status = clipped_sum_plan(&state->noise, &sum, error);
    round->divisor = divisor_of(&state->shards);
    if (status != ST_OK ||
        rounds_count(&state->rounds) == rounds_restarts(&state->rounds))
        return status;
    status = plan_kind(round, RELEASE_DIFFERENCE, demand, model, error);
    state->noise.difference_grid = round->grid;
    return status;
}

static enum status start_local(struct state *state,
                               const struct algorithm_demand *demand,
                               const struct algorithm_model *model, struct error *error)
{
    struct kind *local = &state->local;
    if (state->rounds.local_steps == 1)
        return ST_OK;
    state->local_batch = (size_t)diff2_local_batch(demand);
    enum status status = plan_kind(local, RELEASE_LOCAL, demand, model, error);
    state->noise.local_grid = local->grid;
    return status;
}

static enum status start(void *context, const struct algorithm_demand *demand,
                         const struct algorithm_model *model, struct error *error)
{
    struct state *state = context;
    enum status status = diff2_check(demand, error);
    if (status != ST_OK)
        return status;
    state->rounds = diff2_rounds(demand);
    state->shards = diff2_shards(demand);
    state->clip =
        (struct flat_clip){.clip_norm = algorithm_value(demand->spec, "clip_norm"),
                           .spread = model->spread};
    state->difference_spread = model->difference_spread;
    status = start_round(state, demand, model, error);
    if (status == ST_OK)
        status = start_local(state, demand, model, error);
    return status == ST_OK ? check_growth(demand, model, error) : status;
}

static void finish(void *context)
{
    struct state *state = context;
    estimate_fini(&state->round.estimate);
    estimate_fini(&state->local.estimate);
}

/* Adds the clients' sums, one client after the other: this is what they would send, and
 * what a reduction over machines would add. */
static enum status pass_over_all(const struct state *state, struct training *training,
                                 const struct pass *like, const struct flat_clip *clip,
                                 struct error *error)
{
    enum status status = ST_OK;
    for (uint64_t k = 0; k < state->shards.clients && status == ST_OK; k++) {
        struct shared_clip rule = {.clip = *clip,
                                   .share = shards_share(&state->shards, k)};
        struct pass pass = *like;
        pass.weigh = clip_shared;
        pass.rule = &rule;
        training_take_range(training, shards_range(&state->shards, k));
        status = training_pass(training, &pass, error);
    }
    return status;
}

static enum status pass_over_subset(const struct state *state,
                                    struct training *training, const struct pass *like,
                                    const struct flat_clip *clip, struct error *error)
{
    struct pass pass = *like;
    uint64_t client = rounds_client(&state->rounds, state->step);
    pass.weigh = clip_flat;
    pass.rule = clip;
    training_select(training, shards_range(&state->shards, client), state->local_batch);
    return training_pass(training, &pass, error);
}

static enum status restart(struct state *state, struct training *training,
                           struct error *error)
{
    const struct pass pass = {.grid = &state->noise.grid};
    enum status status = pass_over_all(state, training, &pass, &state->clip, error);
    if (status != ST_OK)
        return status;
    training_release(training, pass.grid, state->round.divisor);
    if (state->round.estimate.dim > 0)
        estimate_restart(&state->round.estimate, training_gradient(training));
    return ST_OK;
}

/* Releases a difference and adds it to the estimate. Where the noise would round to zero
 * beside a clip norm that does not, the clip norm is taken as zero and nothing is
 * released (2.2). A clip norm that is no number is a public fact. */
static enum status differ(struct state *state, struct kind *kind,
                          struct training *training, struct error *error)
{
    const struct parameter_step *motion =
        training_move_from(training, kind->estimate.point);
    double scale = parameter_step_scale(motion);
    double clip_norm = kind->rate * (parameter_step_length(motion) / scale);
    struct flat_clip clip = {.clip_norm = clip_norm,
                             .spread = state->difference_spread};
    struct grid grid;
    const struct pass pass = {.grid = &grid, .motion = motion};
    if (!(clip_norm <= clip_most))
        return error_set(error, ST_INTERNAL, "diverged");
    if (clip_norm < clip_least ||
        clip_norm * scale * kind->noise_multiplier / kind->divisor < (double)FLT_MIN)
        return ST_OK;
    grid_rescale(&grid, &kind->grid, clip_norm);
    enum status status = kind == &state->local
                             ? pass_over_subset(state, training, &pass, &clip, error)
                             : pass_over_all(state, training, &pass, &clip, error);
    if (status != ST_OK)
        return status;
    training_release(training, &grid, kind->divisor);
    estimate_add(&kind->estimate, training_gradient(training), scale);
    return ST_OK;
}

/* The estimate moves the parameters, and is marked as the gradient at the point where
 * they were. The local steps of a round begin with the round's estimate. */
static enum status move(struct state *state, struct kind *kind,
                        struct training *training, struct error *error)
{
    if (kind->estimate.dim > 0)
        estimate_mark(&kind->estimate, training_gradient(training),
                      training_parameters(training));
    if (kind == &state->round && state->local.estimate.dim > 0) {
        struct estimate *local = &state->local.estimate;
        if (kind->estimate.dim > 0)
            estimate_copy(local, &kind->estimate);
        else
            estimate_restart(local, training_gradient(training));
        estimate_mark(local, training_gradient(training),
                      training_parameters(training));
    }
    return training_update(training, error);
}

static enum status step(void *context, struct training *training, struct error *error)
{
    struct state *state = context;
    enum release release = rounds_release(&state->rounds, state->step);
    struct kind *kind = release == RELEASE_LOCAL ? &state->local : &state->round;
    enum status status = release == RELEASE_RESTART
                             ? restart(state, training, error)
                             : differ(state, kind, training, error);
    if (status != ST_OK)
        return status;
    state->step++;
    return move(state, kind, training, error);
}

static const struct noise_plan *noise(const void *context)
{
    const struct state *state = context;
    return &state->noise;
}

/* The claim for restarts, by Propositions 4.1 and 5.1, as the job's noise multiplier is
 * theirs. */
static double paper_claim(const struct algorithm_demand *demand, double epsilon,
                          double delta)
{
    struct rounds rounds = diff2_rounds(demand);
    bool only = rounds_restarts(&rounds) == demand->steps;
    return full_batch_claim(epsilon, delta, (double)rounds_restarts(&rounds),
                            only ? 1 : rounds.restart_share);
}

#define PAPER                                                                          \
    "Murata and Suzuki, DIFF2: Differential Private Optimization via Gradient "        \
    "Differences for Nonconvex Distributed Learning, ICML 2023"

const struct algorithm diff2_gd = {
    .name = "diff2_gd",
    .title = "DIFF2-GD: full batches, gradient differences between restarts",
    .paper = PAPER,
    .charge = "Gaussians: restarts and differences, each with its own noise",
    .when_to_use =
        "Full-batch training of small models on many records, over many rounds: noise "
        "falls as the steps do. Try dpgd beside it. No group norms and no wide "
        "convolutions; sgd at a constant learning rate.",
    .is_private = true,
    .full_batch = true,
    .uses_differences = true,
    .epochs = FULL_BATCH_EPOCHS,
    .parameter_size = ESTIMATE_PARAMETER_SIZE,
    .parameters = diff2_gd_parameters,
    .parameter_count = DIFF2_GD_PARAMETERS,
    .plan = plan,
    .learning_rate = learning_rate,
    .state_size = sizeof(struct state),
    .start = start,
    .finish = finish,
    .step = step,
    .noise = noise,
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
    .full_batch = true,
    .uses_differences = true,
    .uses_subsets = true,
    .epochs = FULL_BATCH_EPOCHS,
    .parameter_size = 2 * ESTIMATE_PARAMETER_SIZE,
    .parameters = diff2_bvr_parameters,
    .parameter_count = DIFF2_BVR_PARAMETERS,
    .plan = plan,
    .learning_rate = learning_rate,
    .state_size = sizeof(struct state),
    .start = start,
    .finish = finish,
    .step = step,
    .noise = noise,
    .paper_claim = paper_claim,
};
