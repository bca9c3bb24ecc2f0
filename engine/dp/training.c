#include "engine/dp/training.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/dp/batch.h"
#include "engine/dp/noise.h"
#include "engine/dp/partition.h"
#include "engine/dp/poisson.h"
#include "engine/dp/residue.h"
#include "engine/dp/worker.h"

enum { SPAN_STEP = NOISE_CHUNK }; /* a member's part of a vector is whole chunks */

struct training {
    struct training_setup setup;
    size_t dim;
    uint64_t step, query; /* query: releases of this step */
    size_t bins;          /* of the last pass's histogram */
    struct noise_source *noise_source, *sampling_source;
    struct noise_key noise_key, sampling_key; /* of this step */
    struct poisson *poisson;
    struct batch batch;
    struct shared_sum sum;
    struct partition partition;              /* where the setup keeps a residue */
    struct residue_squares *residue_squares; /* (team size) */
    size_t lock_count;                       /* initialised */
    float *gradient;                         /* (dim) released */
    struct optimizer *optimizer;
    struct worker **workers; /* (team size) */
    struct noise **noises;   /* (team size) */
    bool *finite;            /* (team size) of the last update */
};

/* Records whose sum on public data is one product: a whole number of blocks. */
static size_t even_rows(const struct row_classes *rows)
{
    return 2 * rows->block;
}

static size_t pieces_max(const struct training_setup *setup, uint64_t records)
{
    return setup->grid != NULL ? (size_t)setup->grid->cells
                               : (size_t)records / even_rows(&setup->rows) + 1;
}

static size_t capacity_of(const struct training_setup *setup)
{
    return worker_capacity(&setup->rows, setup->grid != NULL
                                             ? setup->grid->cell_rows_max
                                             : even_rows(&setup->rows));
}

uint64_t training_size(const struct training_setup *setup, unsigned threads)
{
    uint64_t dim = network_parameters(setup->network);
    uint64_t batch = 2 * setup->batch_size; /* passed by next to no batch */
    uint64_t kept = setup->keeps_residue
                        ? dim * sizeof(int64_t) + setup->records * sizeof(uint32_t)
                        : 0;
    return sizeof(struct training) + kept + dim * (sizeof(int64_t) + sizeof(float)) +
           optimizer_size(setup->optimizer, (size_t)dim) + batch * sizeof(uint32_t) +
           pieces_max(setup, batch) * sizeof(struct piece) +
           network_tile_count(setup->network) * sizeof(pthread_mutex_t) +
           threads * (worker_size(setup->network, capacity_of(setup)) +
                      sizeof(struct noise_chunk));
}

/* Tests give one seed; sampling then starts from a key derived from it. */
static void open_sources(struct training *training, const struct noise_key *seed)
{
    struct noise_key sampling;
    if (seed != NULL) {
        struct stream *stream = stream_create();
        stream_read(stream, sampling.bytes, sizeof sampling.bytes, seed->bytes,
                    UINT64_MAX - 1, 0);
        stream_destroy(stream);
    }
    training->noise_source = noise_source_open(seed);
    training->sampling_source = noise_source_open(seed != NULL ? &sampling : NULL);
    hash_zero(&sampling, sizeof sampling);
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

static enum status create_members(struct training *training, struct error *error)
{
    const struct training_setup *setup = &training->setup;
    enum status status = ST_OK;
    for (unsigned k = 0; k < team_size(setup->team) && status == ST_OK; k++) {
        training->noises[k] = noise_create();
        status = worker_create(&training->workers[k], setup->network, &setup->rows,
                               capacity_of(setup), error);
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
    training->poisson = poisson_create();
    open_sources(training, setup->seed);
    training->setup.seed = NULL;
    enum status status = create_vectors(training, error);
    if (status == ST_OK)
        status = create_residue(training, error);
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
    poisson_destroy(training->poisson);
    noise_source_close(training->noise_source);
    noise_source_close(training->sampling_source);
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
    training->step = step;
    training->query = 0;
    batch_drawn(&training->batch, 0);
}

void training_sample(struct training *training, double rate)
{
    size_t count = poisson_draw(training->poisson, training->batch.indices,
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

struct pass_work {
    struct training *training;
    struct task task;
};

static void pass_member(void *context, unsigned member)
{
    const struct pass_work *work = context;
    const struct training *training = work->training;
    unsigned size = team_size(training->setup.team);
    size_t tiles = network_tile_count(training->setup.network);
    struct worker_share share = {
        .first = batch_share(&training->batch, member, size),
        .end = batch_share(&training->batch, member + 1, size),
        .tile = tiles * member / size,
    };
    worker_run(training->workers[member], &work->task, share);
}

static void clear_counts(struct training *training)
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
                 .sum = &training->sum,
                 .cancel = setup->cancel},
    };
    CHECK(pass->histogram == NULL || pass->weigh != NULL);
    CHECK(pass->weigh_rest == NULL ||
          (pass->weigh != NULL && !pass->by_layer && training->sum.residue != NULL));
    training->bins = pass->histogram != NULL ? pass->histogram->bins : 0;
    if (setup->grid != NULL)
        batch_cut_cells(&training->batch, pass->grid);
    else
        batch_cut_evenly(&training->batch, even_rows(&setup->rows));
    team_run(setup->team, pass_member, &work);
    if (setup->cancel == NULL || !atomic_load(setup->cancel))
        return ST_OK;
    memset(training->sum.sum, 0, training->dim * sizeof *training->sum.sum);
    clear_counts(training);
    return error_set(error, ST_CANCELLED, "cancelled");
}

/* A member's part of the flat vector. */
static struct span span_of(const struct training *training, unsigned member)
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
    struct span span = span_of(training, member);
    struct residue_squares *squares = &training->residue_squares[member];
    *squares = (struct residue_squares){0};
    residue_measure(squares, training->sum.residue + span.first, span.count);
}

static void feed_back_member(void *context, unsigned member)
{
    const struct feed_back_work *work = context;
    struct shared_sum *sum = &work->training->sum;
    struct span span = span_of(work->training, member);
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

struct release_work {
    struct training *training;
    struct noise_release release;
};

static void release_member(void *context, unsigned member)
{
    const struct release_work *work = context;
    struct training *training = work->training;
    struct span span = span_of(training, member);
    int64_t *sum = training->sum.sum + span.first;
    noise_release(training->noises[member], training->gradient + span.first, sum,
                  span.first, span.count, &work->release);
    memset(sum, 0, span.count * sizeof *sum);
}

void training_release(struct training *training, const struct grid *grid,
                      double divisor)
{
    struct release_work work = {
        .training = training,
        .release = {.address = {&training->noise_key, training->query},
                    .grid = grid,
                    .divisor = divisor},
    };
    training->query++;
    team_run(training->setup.team, release_member, &work);
}

void training_release_counts(struct training *training, const struct grid *grid,
                             double *out)
{
    int64_t counts[HISTOGRAM_BINS_MAX];
    struct noise_release release = {
        .address = {&training->noise_key, training->query}, .grid = grid, .divisor = 1};
    training->query++;
    for (size_t j = 0; j < training->bins; j++)
        counts[j] = atomic_load(&training->sum.counts[j]);
    noise_release_counts(training->noises[0], out, counts, training->bins, &release);
    hash_zero(counts, sizeof counts);
    clear_counts(training);
}

double training_release_norm(struct training *training, const struct norm_grid *norm)
{
    static const struct grid whole = {.scale = 1};
    int64_t steps = norm_measure(norm, training->sum.sum, training->dim);
    double released;
    struct noise_release release = {.address = {&training->noise_key, training->query},
                                    .grid = &whole,
                                    .divisor = norm->scale};
    training->query++;
    noise_release_counts(training->noises[0], &released, &steps, 1, &release);
    hash_zero(&steps, sizeof steps);
    return released;
}

/* In one order whatever the threads. */
double training_gradient_square(const struct training *training)
{
    double total = 0;
    for (size_t first = 0; first < training->dim; first += SPAN_STEP) {
        size_t left = training->dim - first;
        size_t end = first + (left < SPAN_STEP ? left : SPAN_STEP);
        double part = 0;
        for (size_t j = first; j < end; j++)
            part += (double)training->gradient[j] * (double)training->gradient[j];
        total += part;
    }
    return total;
}

void training_gradient_scale(struct training *training, double factor)
{
    for (size_t j = 0; j < training->dim; j++)
        training->gradient[j] = (float)((double)training->gradient[j] * factor);
}

struct average_work {
    struct training *training;
    double unit;
};

static void average_member(void *context, unsigned member)
{
    const struct average_work *work = context;
    struct span span = span_of(work->training, member);
    int64_t *sum = work->training->sum.sum + span.first;
    float *out = work->training->gradient + span.first;
    for (size_t j = 0; j < span.count; j++)
        out[j] = (float)((double)sum[j] * work->unit);
    memset(sum, 0, span.count * sizeof *sum);
}

void training_average(struct training *training, const struct grid *grid,
                      double divisor)
{
    struct average_work work = {.training = training,
                                .unit = 1 / (grid->scale * divisor)};
    CHECK(training->setup.is_public); /* nothing else goes without noise */
    team_run(training->setup.team, average_member, &work);
}

static void update_member(void *context, unsigned member)
{
    struct training *training = context;
    training->finite[member] =
        optimizer_apply(training->optimizer, training->setup.parameters,
                        training->gradient, span_of(training, member), training->step);
}

enum status training_update(struct training *training, struct error *error)
{
    team_run(training->setup.team, update_member, training);
    for (unsigned k = 0; k < team_size(training->setup.team); k++)
        if (!training->finite[k])
            return error_set(error, ST_INTERNAL, "diverged");
    return ST_OK;
}
