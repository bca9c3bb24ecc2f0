/* This file holds a training together: what it allocates, the batch of a step, the pass
 * over it, and the residue. What leaves a training is in training_release.c.
 *
 * A pass cuts the batch into pieces, deals them out in shares of about a micro-batch, and
 * runs the team: each member takes the next share that nobody has taken and hands it to
 * its worker (worker.h), which adds to the one shared sum. The sum consists of integers,
 * so it does not matter who adds what when. A cancelled pass zeroes the sum.
 *
 * Flat vectors of the length of the parameters (sum, residue, gradient) are parted among
 * the members in spans of whole noise chunks (training_span). */
#include "engine/dp/training.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/dp/training_inside.h"

/* How many records' sum on public data is one product. It is a whole number of blocks, so
 * that a record's row does not depend on threads; enough for a fast product, and few
 * enough that each of two threads gets some of a batch of 256. */
static size_t even_rows(const struct training_setup *setup)
{
    enum { SMALL_BLOCK = 32, FEW = 144, MANY = 2 * FEW, MANY_FROM = 1536 };
    size_t block = setup->rows.block, rows = setup->batch_size < MANY_FROM ? FEW : MANY;
    if (setup->rows.tallest == block && block <= SMALL_BLOCK)
        return 2 * block;
    CHECK(block <= rows);
    return rows / block * block;
}

/* The most pieces that a batch of that many records is cut into: by the grid with more
 * cells, or evenly where there is no grid. */
static size_t pieces_max(const struct training_setup *setup, uint64_t records)
{
    const struct grid *grid = setup->grid, *local = setup->local_grid;
    if (grid == NULL)
        return (size_t)records / even_rows(setup) + 1;
    return (size_t)(local != NULL && local->cells > grid->cells ? local->cells
                                                                : grid->cells);
}

static struct worker_room room_of(const struct training_setup *setup)
{
    const struct grid *grid = setup->grid, *local = setup->local_grid;
    size_t rows = grid != NULL ? grid->cell_rows_max : even_rows(setup);
    if (local != NULL && local->cell_rows_max > rows)
        rows = local->cell_rows_max;
    return (struct worker_room){.capacity = worker_capacity(&setup->rows, rows),
                                .two_points = setup->uses_differences};
}

uint64_t training_size(const struct training_setup *setup, unsigned threads)
{
    uint64_t dim = network_parameters(setup->network);
    uint64_t batch = 2 * setup->batch_size; /* hardly any batch is larger */
    uint64_t kept = setup->keeps_residue
                        ? dim * sizeof(int64_t) + setup->records * sizeof(uint32_t)
                        : 0;
    if (setup->uses_differences)
        kept += parameter_step_size((size_t)dim);
    if (setup->uses_subsets)
        kept += selection_size((size_t)setup->records);
    return sizeof(struct training) + kept + dim * (sizeof(int64_t) + sizeof(float)) +
           optimizer_size(setup->optimizer, (size_t)dim) + batch * sizeof(uint32_t) +
           pieces_max(setup, batch) * sizeof(struct piece) +
           network_tile_count(setup->network) * sizeof(pthread_mutex_t) +
           threads * (worker_size(setup->network, room_of(setup)) +
                      sizeof(struct noise_chunk));
}

/* Tests give one seed, and sampling and dropping then start from keys derived from it. */
static void open_sources(struct training *training, const struct noise_key *seed)
{
    struct noise_key sampling, drop;
    if (seed != NULL) {
        struct stream *stream = stream_create();
        struct stream_position from = {.key = seed->bytes, .nonce = UINT64_MAX - 1};
        stream_read(stream, sampling.bytes, sizeof sampling.bytes, &from);
        from.nonce = UINT64_MAX - 2;
        stream_read(stream, drop.bytes, sizeof drop.bytes, &from);
        stream_destroy(stream);
    }
    training->noise_source = noise_source_open(seed);
    training->sampling_source = noise_source_open(seed != NULL ? &sampling : NULL);
    training->drop_source = noise_source_open(seed != NULL ? &drop : NULL);
    hash_zero(&sampling, sizeof sampling);
    hash_zero(&drop, sizeof drop);
}

static enum status create_vectors(struct training *training, struct error *error)
{
    const struct training_setup *setup = &training->setup;
    size_t tiles = network_tile_count(setup->network), size = team_size(setup->team);
    training->sum.sum = calloc(training->dim, sizeof *training->sum.sum);
    training->sum.locks = calloc(tiles, sizeof *training->sum.locks);
    training->gradient = calloc(training->dim, sizeof *training->gradient);
    training->workers = calloc(size, sizeof(struct worker *));
    training->noises = calloc(size, sizeof(struct noise *));
    training->finite = calloc(size, sizeof *training->finite);
    if (training->sum.sum == NULL || training->sum.locks == NULL ||
        training->gradient == NULL || training->workers == NULL ||
        training->noises == NULL || training->finite == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for %zu parameters",
                         training->dim);
    for (; training->lock_count < tiles; training->lock_count++)
        pthread_mutex_init(&training->sum.locks[training->lock_count], NULL);
    return ST_OK;
}

static enum status create_residue(struct training *training, struct error *error)
{
    const struct training_setup *setup = &training->setup;
    if (!setup->keeps_residue)
        return ST_OK;
    training->sum.residue = calloc(training->dim, sizeof *training->sum.residue);
    training->residue_squares =
        calloc(team_size(setup->team), sizeof *training->residue_squares);
    if (training->sum.residue == NULL || training->residue_squares == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for %zu parameters",
                         training->dim);
    return partition_init(&training->partition, (size_t)setup->data->records, error);
}

static enum status create_extras(struct training *training, struct error *error)
{
    const struct training_setup *setup = &training->setup;
    enum status status = create_residue(training, error);
    if (status == ST_OK && setup->uses_subsets)
        status =
            selection_init(&training->selection, (size_t)setup->data->records, error);
    if (status == ST_OK && setup->uses_differences)
        status = parameter_step_create(&training->motion, training->dim, error);
    return status;
}

static enum status create_members(struct training *training, struct error *error)
{
    const struct training_setup *setup = &training->setup;
    enum status status = ST_OK;
    for (unsigned k = 0; k < team_size(setup->team) && status == ST_OK; k++) {
        training->noises[k] = noise_create();
        status = worker_create(&training->workers[k], setup->network, &setup->rows,
                               room_of(setup), error);
    }
    return status;
}

enum status training_create(struct training **out, const struct training_setup *setup,
                            struct error *error)
{
    struct training *training = calloc(1, sizeof *training);
    size_t records = (size_t)setup->data->records;
    CHECK(training != NULL && setup->is_public == (setup->grid == NULL));
    training->setup = *setup;
    training->dim = network_parameters(setup->network);
    training->sampler = sampler_create(setup->team);
    open_sources(training, setup->seed);
    training->setup.seed = NULL;
    enum status status = create_vectors(training, error);
    if (status == ST_OK)
        status = create_extras(training, error);
    if (status == ST_OK)
        status =
            batch_init(&training->batch, records, pieces_max(setup, records), error);
    if (status == ST_OK)
        status = optimizer_create(&training->optimizer, setup->optimizer, training->dim,
                                  setup->steps, error);
    if (status == ST_OK)
        status = create_members(training, error);
    if (status != ST_OK) {
        training_destroy(training);
        return status;
    }
    training->setup.optimizer = NULL;
    *out = training;
    return ST_OK;
}

static void destroy_members(struct training *training)
{
    unsigned size = team_size(training->setup.team);
    for (unsigned k = 0; k < size && training->workers != NULL; k++)
        worker_destroy(training->workers[k]);
    for (unsigned k = 0; k < size && training->noises != NULL; k++)
        noise_destroy(training->noises[k]);
    free(training->workers);
    free(training->noises);
    free(training->finite);
}

void training_destroy(struct training *training)
{
    if (training == NULL)
        return;
    destroy_members(training);
    optimizer_destroy(training->optimizer);
    batch_fini(&training->batch);
    sampler_destroy(training->sampler);
    noise_source_close(training->noise_source);
    noise_source_close(training->sampling_source);
    noise_source_close(training->drop_source);
    for (size_t k = 0; k < training->lock_count; k++)
        pthread_mutex_destroy(&training->sum.locks[k]);
    free(training->sum.locks);
    if (training->sum.sum != NULL)
        hash_zero(training->sum.sum, training->dim * sizeof *training->sum.sum);
    if (training->sum.residue != NULL)
        training_forget(training);
    if (training->residue_squares != NULL)
        hash_zero(training->residue_squares,
                  team_size(training->setup.team) * sizeof *training->residue_squares);
    partition_fini(&training->partition);
    selection_fini(&training->selection);
    parameter_step_destroy(training->motion);
    free(training->sum.sum);
    free(training->sum.residue);
    free(training->residue_squares);
    free(training->gradient);
    hash_zero(training, sizeof *training);
    free(training);
}

struct workspace *training_workspace(struct training *training, unsigned member)
{
    return worker_workspace(training->workers[member]);
}

const float *training_parameters(const struct training *training)
{
    return training->setup.parameters;
}

void training_begin_step(struct training *training, uint64_t step)
{
    noise_source_next(training->noise_source, &training->noise_key);
    noise_source_next(training->sampling_source, &training->sampling_key);
    noise_source_next(training->drop_source, &training->drop_key);
    training->step = step;
    training->query = 0;
    batch_drawn(&training->batch, 0);
}

void training_sample(struct training *training, double rate)
{
    size_t count = sampler_draw(training->sampler, training->batch.indices,
                                (uint32_t)training->setup.data->records, rate,
                                &training->sampling_key);
    hash_zero(&training->sampling_key, sizeof training->sampling_key);
    batch_drawn(&training->batch, count);
}

void training_deal(struct training *training, size_t batches)
{
    partition_deal(&training->partition, batches, &training->sampling_key);
    hash_zero(&training->sampling_key, sizeof training->sampling_key);
}

void training_take(struct training *training, size_t batch)
{
    size_t count = partition_take(&training->partition, training->batch.indices, batch);
    batch_drawn(&training->batch, count);
}

void training_take_range(struct training *training, struct index_range range)
{
    batch_take_range(&training->batch, range);
}

void training_select(struct training *training, struct index_range range, size_t size)
{
    selection_draw(&training->selection, training->batch.indices, range, size,
                   &training->sampling_key);
    hash_zero(&training->sampling_key, sizeof training->sampling_key);
    batch_drawn(&training->batch, size);
}

const struct parameter_step *training_move_from(struct training *training,
                                                const float *previous)
{
    parameter_step_set(training->motion, training->setup.parameters, previous);
    return training->motion;
}

struct pass_work {
    struct training *training;
    struct task task;
    unsigned shares;  /* how many the batch has, each about a micro-batch */
    atomic_uint next; /* the first share that nobody has taken */
};

/* The number of shares is a multiple of the members, so that they end together; a member
 * that is held up takes fewer. */
static unsigned share_count(const struct training *training)
{
    const struct batch *batch = &training->batch;
    unsigned size = team_size(training->setup.team);
    size_t pieces = batch->piece_count > 0 ? batch->piece_count : 1;
    size_t at_once = size * worker_pieces(training->workers[0], batch->count / pieces);
    return size * (unsigned)((pieces + at_once - 1) / at_once);
}

static void pass_member(void *context, unsigned member)
{
    struct pass_work *work = context;
    const struct training *training = work->training;
    unsigned size = team_size(training->setup.team);
    size_t tiles = network_tile_count(training->setup.network);
    for (unsigned k; (k = atomic_fetch_add(&work->next, 1)) < work->shares;) {
        struct worker_share share = {
            .first = batch_share(&training->batch, k, work->shares),
            .end = batch_share(&training->batch, k + 1, work->shares),
            .tile = tiles * member / size,
        };
        worker_run(training->workers[member], &work->task, share);
    }
}

void training_clear_counts(struct training *training)
{
    for (size_t j = 0; j < HISTOGRAM_BINS_MAX; j++)
        atomic_store(&training->sum.counts[j], 0);
}

enum status training_pass(struct training *training, const struct pass *pass,
                          struct error *error)
{
    const struct training_setup *setup = &training->setup;
    struct pass_work work = {
        .training = training,
        .task = {.network = setup->network,
                 .data = setup->data,
                 .parameters = setup->parameters,
                 .batch = &training->batch,
                 .pass = pass,
                 .drop_key = training->drop_key.bytes,
                 .sum = &training->sum,
                 .cancel = setup->cancel},
    };
    CHECK(pass->weigh != NULL || setup->is_public); /* P5 */
    CHECK((pass->histogram == NULL && pass->motion == NULL) || pass->weigh != NULL);
    CHECK(pass->weigh_rest == NULL ||
          (pass->weigh != NULL && !pass->by_layer && training->sum.residue != NULL));
    training->bins = pass->histogram != NULL ? pass->histogram->bins : 0;
    if (setup->grid != NULL)
        batch_cut_cells(&training->batch, pass->grid);
    else
        batch_cut_evenly(&training->batch, even_rows(setup));
    work.shares = share_count(training);
    team_run(setup->team, pass_member, &work);
    if (setup->cancel == NULL || !atomic_load(setup->cancel))
        return ST_OK;
    memset(training->sum.sum, 0, training->dim * sizeof *training->sum.sum);
    training_clear_counts(training);
    return error_set(error, ST_CANCELLED, "cancelled");
}

struct span training_span(const struct training *training, unsigned member)
{
    size_t steps = (training->dim + SPAN_STEP - 1) / SPAN_STEP;
    unsigned size = team_size(training->setup.team);
    size_t first = steps * member / size * SPAN_STEP;
    size_t end = steps * (member + 1) / size * SPAN_STEP;
    end = end < training->dim ? end : training->dim;
    return (struct span){.first = first, .count = first < end ? end - first : 0};
}

struct feed_back_work {
    struct training *training;
    double share;
};

static void measure_member(void *context, unsigned member)
{
    struct training *training = context;
    struct span span = training_span(training, member);
    struct residue_squares *squares = &training->residue_squares[member];
    *squares = (struct residue_squares){0};
    residue_measure(squares, training->sum.residue + span.first, span.count);
}

static void feed_back_member(void *context, unsigned member)
{
    const struct feed_back_work *work = context;
    struct shared_sum *sum = &work->training->sum;
    struct span span = training_span(work->training, member);
    residue_feed_back(sum->sum + span.first, sum->residue + span.first, span.count,
                      work->share);
}

void training_feed_back(struct training *training, double radius)
{
    struct residue_squares squares = {0};
    struct feed_back_work work = {.training = training};
    team_run(training->setup.team, measure_member, training);
    for (unsigned k = 0; k < team_size(training->setup.team); k++)
        residue_squares_add(&squares, &training->residue_squares[k]);
    work.share = residue_share(&squares, radius);
    team_run(training->setup.team, feed_back_member, &work);
    hash_zero(&squares, sizeof squares);
    hash_zero(&work, sizeof work);
}

void training_forget(struct training *training)
{
    hash_zero(training->sum.residue, training->dim * sizeof *training->sum.residue);
}
