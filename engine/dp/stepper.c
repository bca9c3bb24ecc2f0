/* A stepper combines the parts of a step: its keys (step_seeds.h), the batch, the
 * team's micro-batches, the reduction that adds up their sums (reduction.h), the
 * release (release.h) and the optimizer.
 *
 * stepper_sum cuts the batch into pieces and divides them into shares of about a
 * micro-batch. Each member of the team takes the next free share and runs it through
 * its micro-batch (micro_batch.h), which adds to the reduction. A cancelled sum is
 * zeroed. */
#include "engine/dp/stepper.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/dp/batch_split.h"
#include "engine/dp/stepper_state.h"
#include "engine/parallel/span.h"
#include "engine/rounding/small_floats.h"

static struct micro_batch_room room_of(const struct stepper_setup *setup)
{
    return (struct micro_batch_room){
        .capacity = micro_batch_capacity(setup->network, batch_split_rows_max(setup)),
        .two_points = setup->uses_differences,
        .keeps_inputs = setup->reads_inputs,
        .has_views = setup->views.count > 0};
}

uint64_t stepper_size(const struct stepper_setup *setup, unsigned threads)
{
    uint64_t dim = network_parameters(setup->network);
    uint64_t batch = 2 * setup->batch_size; /* a larger batch is very rare */
    uint64_t kept = setup->uses_error_memory
                        ? dim * sizeof(int64_t) + setup->records * sizeof(uint32_t)
                        : 0;
    if (setup->uses_differences)
        kept += parameter_step_size((size_t)dim);
    if (setup->uses_subsets)
        kept += fixed_size_subset_size((size_t)setup->records);
    if (!setup->drops_gradient)
        kept += dim * sizeof(float);
    return sizeof(struct stepper) + kept + reduction_size(setup->network) +
           optimizer_size(setup->optimizer, (size_t)dim) + batch * sizeof(uint32_t) +
           batch_split_count_max(setup, batch) * sizeof(struct piece) +
           threads * (micro_batch_size(setup->network, room_of(setup)) +
                      sizeof(struct noise_chunk));
}

static enum status create_extras(struct stepper *stepper, struct error *error)
{
    const struct stepper_setup *setup = &stepper->setup;
    enum status status = ST_OK;
    if (setup->uses_error_memory)
        status = partition_init(&stepper->partition, (size_t)setup->records, error);
    if (status == ST_OK && setup->uses_subsets)
        status =
            fixed_size_subset_init(&stepper->subset, (size_t)setup->records, error);
    if (status == ST_OK && setup->uses_differences)
        status = parameter_step_create(&stepper->parameter_step, stepper->dim, error);
    return status;
}

static enum status create_members(struct stepper *stepper, struct error *error)
{
    const struct stepper_setup *setup = &stepper->setup;
    unsigned size = team_size(setup->team);
    enum status status = ST_OK;
    stepper->micro_batches = calloc(size, sizeof(struct micro_batch *));
    stepper->squares = calloc(size, sizeof *stepper->squares);
    CHECK(stepper->micro_batches != NULL && stepper->squares != NULL);
    for (unsigned k = 0; k < size && status == ST_OK; k++)
        status = micro_batch_create(&stepper->micro_batches[k], setup->network,
                                    room_of(setup), error);
    return status;
}

enum status stepper_create(struct stepper **out, const struct stepper_setup *setup,
                           struct error *error)
{
    struct stepper *stepper = calloc(1, sizeof *stepper);
    size_t records = (size_t)setup->records;
    CHECK(stepper != NULL && setup->is_public == (setup->noise == NULL));
    CHECK(setup->records == matrix_units(setup->data));
    CHECK(!setup->is_public || network_unit_rows(setup->network) == 1);
    CHECK(setup->views.count == 0 || (!setup->is_public && !setup->uses_differences));
    /* Dropout identifies the rows of a micro-batch by these numbers. */
    CHECK(setup->records <= UINT32_MAX / network_unit_rows(setup->network));
    stepper->setup = *setup;
    stepper->setup.group = setup->group != NULL ? setup->group : &group_alone;
    stepper->dim = network_parameters(setup->network);
    stepper->sampler = sampler_create(setup->team);
    step_seeds_open(&stepper->keys, setup->seed);
    stepper->setup.seed = NULL;
    enum status status =
        reduction_init(&stepper->reduction, setup->network, stepper->setup.group,
                       setup->uses_error_memory, error);
    if (status == ST_OK)
        status = release_init(&stepper->release, setup->team, &stepper->keys.noise,
                              stepper->dim, error);
    if (status == ST_OK)
        status = create_extras(stepper, error);
    if (status == ST_OK)
        status = batch_init(&stepper->batch, records,
                            batch_split_count_max(setup, records), error);
    if (status == ST_OK)
        status = optimizer_create(&stepper->optimizer, setup->optimizer, stepper->dim,
                                  setup->steps, error);
    if (status == ST_OK)
        status = create_members(stepper, error);
    if (status != ST_OK) {
        stepper_destroy(stepper);
        return status;
    }
    stepper->setup.optimizer = NULL;
    *out = stepper;
    return ST_OK;
}

static void destroy_members(struct stepper *stepper)
{
    unsigned size = team_size(stepper->setup.team);
    for (unsigned k = 0; k < size && stepper->micro_batches != NULL; k++)
        micro_batch_destroy(stepper->micro_batches[k]);
    if (stepper->squares != NULL)
        hash_zero(stepper->squares, size * sizeof *stepper->squares);
    free(stepper->micro_batches);
    free(stepper->squares);
}

void stepper_destroy(struct stepper *stepper)
{
    if (stepper == NULL)
        return;
    destroy_members(stepper);
    optimizer_destroy(stepper->optimizer);
    batch_fini(&stepper->batch);
    sampler_destroy(stepper->sampler);
    step_seeds_close(&stepper->keys);
    reduction_fini(&stepper->reduction);
    release_fini(&stepper->release);
    partition_fini(&stepper->partition);
    fixed_size_subset_fini(&stepper->subset);
    parameter_step_destroy(stepper->parameter_step);
    hash_zero(stepper, sizeof *stepper);
    free(stepper);
}

struct workspace *stepper_workspace(struct stepper *stepper, unsigned member)
{
    return micro_batch_workspace(stepper->micro_batches[member]);
}

void stepper_use_features(struct stepper *stepper, struct feature_rows features)
{
    stepper->features = features;
}

const float *stepper_parameters(const struct stepper *stepper)
{
    return stepper->setup.parameters;
}

void stepper_begin_step(struct stepper *stepper, uint64_t step)
{
    step_seeds_next(&stepper->keys);
    release_begin_step(&stepper->release);
    stepper->step = step;
    atomic_store(&stepper->diverged, false);
    batch_drawn(&stepper->batch, 0);
}

void stepper_sample(struct stepper *stepper, double rate)
{
    const struct stepper_setup *setup = &stepper->setup;
    struct index_range own = {0, (size_t)setup->records};
    if (setup->group->size > 1)
        own = group_records(setup->group, &setup->noise->grid);
    size_t count = sampler_draw(stepper->sampler, stepper->batch.indices, own, rate,
                                &stepper->keys.sampling);
    hash_zero(&stepper->keys.sampling, sizeof stepper->keys.sampling);
    batch_drawn(&stepper->batch, count);
}

void stepper_deal(struct stepper *stepper, size_t batches)
{
    partition_deal(&stepper->partition, batches, &stepper->keys.sampling);
    hash_zero(&stepper->keys.sampling, sizeof stepper->keys.sampling);
}

void stepper_take(struct stepper *stepper, size_t batch)
{
    size_t count = partition_take(&stepper->partition, stepper->batch.indices, batch);
    batch_drawn(&stepper->batch, count);
}

void stepper_take_range(struct stepper *stepper, struct index_range range)
{
    batch_take_range(&stepper->batch, range);
}

void stepper_draw_subset(struct stepper *stepper, struct index_range range, size_t size)
{
    uint32_t *indices = stepper->batch.indices;
    if (stepper->setup.group->rank == 0)
        fixed_size_subset_draw(&stepper->subset, indices, range, size,
                               &stepper->keys.sampling);
    group_tell(stepper->setup.group, indices, size * sizeof *indices);
    hash_zero(&stepper->keys.sampling, sizeof stepper->keys.sampling);
    batch_drawn(&stepper->batch, size);
}

const struct parameter_step *stepper_move_from(struct stepper *stepper,
                                               const float *previous)
{
    parameter_step_set(stepper->parameter_step, stepper->setup.parameters, previous);
    return stepper->parameter_step;
}

struct sum_work {
    struct stepper *stepper;
    struct task task;
    unsigned shares;  /* of the batch, each about a micro-batch */
    atomic_uint next; /* the first free share */
    /* True if floats below the normal range are read as zeros. This is not done for
     * gradient differences: if the smaller of two terms vanished, their difference
     * would become longer (noise.md 2.4). */
    bool drops_small;
};

/* The number of shares is a multiple of the number of members, so that they finish
 * together; a delayed member takes fewer. */
static unsigned share_count(const struct stepper *stepper)
{
    const struct batch *batch = &stepper->batch;
    unsigned size = team_size(stepper->setup.team);
    size_t pieces = batch->piece_count > 0 ? batch->piece_count : 1;
    size_t at_once =
        size * micro_batch_pieces(stepper->micro_batches[0], batch->count / pieces);
    return size * (unsigned)((pieces + at_once - 1) / at_once);
}

/* The number of members that can get a part of a sum, by public numbers: the number of
 * empty cells must not be visible. */
static size_t share_limit(const struct stepper *stepper, const struct batch_sum *sum)
{
    return stepper->setup.noise != NULL ? (size_t)sum->grid->cells
                                        : stepper->batch.piece_count;
}

static void sum_member(void *context, unsigned member)
{
    struct sum_work *work = context;
    const struct stepper *stepper = work->stepper;
    unsigned size = team_size(stepper->setup.team);
    size_t tiles = network_tile_count(stepper->setup.network);
    struct small_floats before = small_floats_drop();
    if (!work->drops_small)
        small_floats_restore(before);
    for (unsigned k; (k = atomic_fetch_add(&work->next, 1)) < work->shares;) {
        struct micro_batch_share share = {
            .first = batch_share(&stepper->batch, k, work->shares),
            .end = batch_share(&stepper->batch, k + 1, work->shares),
            .tile = tiles * member / size,
        };
        micro_batch_run(stepper->micro_batches[member], &work->task, share);
    }
    small_floats_restore(before);
}

/* The cost of a batch of the expected size: the realised size must not be visible. */
static double sum_flops(const struct stepper_setup *setup)
{
    size_t views = setup->views.count > 0 ? setup->views.count : 1;
    double rows =
        (double)setup->batch_size * (double)(network_unit_rows(setup->network) * views);
    return network_flops(setup->network) * rows * (setup->uses_differences ? 2 : 1);
}

enum status stepper_sum(struct stepper *stepper, const struct batch_sum *sum,
                        struct error *error)
{
    const struct stepper_setup *setup = &stepper->setup;
    struct sum_work work = {
        .stepper = stepper,
        .task = {.network = setup->network,
                 .data = setup->data,
                 .features = stepper->features,
                 .parameters = setup->parameters,
                 .batch = &stepper->batch,
                 .sum = sum,
                 .drop_key = stepper->keys.drop.bytes,
                 .class_weights = setup->class_weights,
                 .rows_key = stepper->keys.rows.bytes,
                 .views = setup->views.count > 0 ? &setup->views : NULL,
                 .views_key = stepper->keys.views.bytes,
                 .reduction = &stepper->reduction,
                 .cancel = setup->cancel},
    };
    CHECK(sum->clip != NULL || sum->bins != NULL || setup->is_public); /* P5 */
    CHECK((batch_sum_counters(sum) == 0 && sum->parameter_step == NULL) ||
          sum->clip != NULL);
    CHECK(sum->clip_rest == NULL || (sum->clip != NULL && !sum->by_layer &&
                                     stepper->reduction.error_memory != NULL));
    CHECK(!stepper->reduction.has_met);
    stepper->counters = batch_sum_counters(sum);
    if (setup->group->size > 1)
        batch_keep(&stepper->batch, group_records(setup->group, sum->grid));
    if (setup->noise != NULL)
        batch_cut_cells(&stepper->batch, sum->grid);
    else
        batch_cut_evenly(&stepper->batch, batch_split_even_rows(setup));
    work.shares = share_count(stepper);
    work.drops_small = sum->parameter_step == NULL;
    team_run(setup->team,
             &(struct team_work){.run = sum_member,
                                 .context = &work,
                                 .shares = share_limit(stepper, sum),
                                 .flops = sum_flops(setup) / setup->group->size});
    if (group_all(setup->group, setup->cancel == NULL || !atomic_load(setup->cancel)))
        return ST_OK;
    reduction_clear(&stepper->reduction);
    return error_set(error, ST_CANCELLED, "cancelled");
}

/* A member's part of the parameters that this rank updates, and of all vectors of the
 * same length. */
static struct span part_of(const struct stepper *stepper, unsigned member)
{
    return span_part(stepper->reduction.slice, member, team_size(stepper->setup.team),
                     NOISE_CHUNK);
}

/* The cost of a coordinate, counted as in team.h; all three are memory-bound. */
enum { MEASURE_FLOPS = 10, FEEDBACK_FLOPS = 40, UPDATE_FLOPS = 20 };

static void run_on_spans(struct stepper *stepper,
                         void (*run)(void *context, unsigned member), void *context,
                         int flops)
{
    size_t count = stepper->reduction.slice.count;
    team_run(stepper->setup.team,
             &(struct team_work){.run = run,
                                 .context = context,
                                 .shares = span_shares(count, NOISE_CHUNK),
                                 .flops = flops * (double)count});
}

struct error_feedback_work {
    struct stepper *stepper;
    double share;
};

static void measure_member(void *context, unsigned member)
{
    struct stepper *stepper = context;
    struct span span = part_of(stepper, member);
    struct error_memory_squares *squares = &stepper->squares[member];
    *squares = (struct error_memory_squares){0};
    error_memory_measure(squares, stepper->reduction.error_memory + span.first,
                         span.count);
}

static void error_feedback_member(void *context, unsigned member)
{
    const struct error_feedback_work *work = context;
    struct reduction *reduction = &work->stepper->reduction;
    struct span span = part_of(work->stepper, member);
    error_memory_feedback(reduction->sum + span.first,
                          reduction->error_memory + span.first, span.count,
                          work->share);
}

void stepper_error_feedback(struct stepper *stepper, double radius)
{
    struct error_memory_squares squares = {0};
    struct error_feedback_work work = {.stepper = stepper};
    run_on_spans(stepper, measure_member, stepper, MEASURE_FLOPS);
    for (unsigned k = 0; k < team_size(stepper->setup.team); k++)
        error_memory_squares_add(&squares, &stepper->squares[k]);
    work.share = error_memory_share(&squares, radius);
    run_on_spans(stepper, error_feedback_member, &work, FEEDBACK_FLOPS);
    hash_zero(&squares, sizeof squares);
    hash_zero(&work, sizeof work);
}

void stepper_forget_error(struct stepper *stepper)
{
    hash_zero(stepper->reduction.error_memory,
              stepper->dim * sizeof *stepper->reduction.error_memory);
}

/* The variance of a coordinate's noise in sum / divisor. */
static double variance_of(const struct grid *grid, double divisor)
{
    double stddev = GRID_NOISE_STDDEV / (grid->scale * divisor);
    return stddev * stddev;
}

void stepper_release(struct stepper *stepper, const struct grid *grid, double divisor)
{
    stepper->noise_variance = variance_of(grid, divisor);
    release_sum(&stepper->release, &stepper->reduction, grid, divisor, NULL);
}

void stepper_release_counts(struct stepper *stepper, const struct grid *grid,
                            double *out)
{
    release_counts(&stepper->release, &stepper->reduction, stepper->counters, grid,
                   out);
}

double stepper_release_norm(struct stepper *stepper, const struct norm_grid *norm)
{
    return release_norm(&stepper->release, &stepper->reduction, norm);
}

void stepper_average(struct stepper *stepper, const struct grid *grid, double divisor)
{
    CHECK(stepper->setup.is_public); /* only public sums have no noise */
    stepper->noise_variance = 0;
    release_average(&stepper->release, &stepper->reduction, grid, divisor);
}

float *stepper_gradient(struct stepper *stepper)
{
    return stepper->release.gradient;
}

/* The squares are added in the same order with any number of threads. */
double stepper_gradient_square(struct stepper *stepper)
{
    float *gradient = stepper->release.gradient;
    double total = 0;
    group_gather(stepper->setup.group, gradient, stepper->dim);
    for (size_t first = 0; first < stepper->dim; first += NOISE_CHUNK) {
        size_t left = stepper->dim - first;
        size_t end = first + (left < NOISE_CHUNK ? left : NOISE_CHUNK);
        double part = 0;
        for (size_t j = first; j < end; j++)
            part += (double)gradient[j] * (double)gradient[j];
        total += part;
    }
    return total;
}

void stepper_gradient_scale(struct stepper *stepper, double factor)
{
    float *gradient = stepper->release.gradient;
    for (size_t j = 0; j < stepper->dim; j++)
        gradient[j] = (float)((double)gradient[j] * factor);
    stepper->noise_variance *= factor * factor;
}

/* Updates the parameters of span; gradient begins at span.first. */
static void move(void *context, const float *gradient, struct span span)
{
    struct stepper *stepper = context;
    if (!optimizer_apply(stepper->optimizer, stepper->setup.parameters, gradient, span))
        atomic_store(&stepper->diverged, true);
}

static void move_member(void *context, unsigned member)
{
    struct stepper *stepper = context;
    struct span span = part_of(stepper, member);
    move(stepper, stepper->release.gradient + span.first, span);
}

/* Completes an update: fails if a parameter of any rank is not finite; otherwise
 * gathers the parameters of all ranks. */
static enum status moved(struct stepper *stepper, struct error *error)
{
    const struct stepper_setup *setup = &stepper->setup;
    if (!group_all(setup->group, !atomic_load(&stepper->diverged)))
        return error_set(error, ST_INTERNAL, "diverged");
    group_gather(setup->group, setup->parameters, stepper->dim);
    return ST_OK;
}

enum status stepper_update(struct stepper *stepper, struct error *error)
{
    optimizer_begin_step(stepper->optimizer, stepper->step, stepper->noise_variance);
    run_on_spans(stepper, move_member, stepper, UPDATE_FLOPS);
    return moved(stepper, error);
}

enum status stepper_descend(struct stepper *stepper, const struct batch_sum *sum,
                            double divisor, struct error *error)
{
    const struct release_use use = {move, stepper};
    enum status status = stepper_sum(stepper, sum, error);
    if (status != ST_OK)
        return status;
    optimizer_begin_step(stepper->optimizer, stepper->step,
                         variance_of(sum->grid, divisor));
    release_sum(&stepper->release, &stepper->reduction, sum->grid, divisor, &use);
    return moved(stepper, error);
}
