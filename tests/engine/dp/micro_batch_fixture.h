/*
 * micro_batch_fixture.h - a micro-batch with a network, records, a grid and flat
 * clipping at norm 1, and the integer sums that it makes of them. Include after
 * tests/expect.h.
 *
 * Ownership: bench_fini releases what bench_make and bench_init acquire.
 */
#ifndef TESTS_ENGINE_DP_MICRO_BATCH_FIXTURE_H
#define TESTS_ENGINE_DP_MICRO_BATCH_FIXTURE_H

#include <string.h>

#include "base/random.h"
#include "engine/dp/micro_batch.h"
#include "engine/nn/initial_values.h"
#include "tests/engine/small_network_fixture.h"

struct bench {
    struct network *network;
    struct matrix data;
    float *x, *parameters;
    uint32_t *targets;
    size_t dim, records;
    struct grid grid;
    struct flat_clip clip;
    struct reduction reduction;
    struct batch batch;
    struct micro_batch *micro_batch;
    const struct view_spec *views; /* set before the rows; NULL: none */
};

/* Plans cells of about 128 rows, or single cells, for this number of units. */
static inline void bench_plan(struct bench *bench, size_t units, bool single)
{
    struct grid_spec spec = {.clip_norm = 1,
                             .noise_multiplier = 1.1,
                             .sampling_rate = 1,
                             .records = units,
                             .dim = bench->dim,
                             .cell_mean =
                                 128 / (uint32_t)network_unit_rows(bench->network),
                             .single = single,
                             .spread = 1};
    assert_int_equal(grid_plan(&bench->grid, &spec, NULL), ST_OK);
    batch_fini(&bench->batch);
    assert_int_equal(
        batch_init(&bench->batch, units, single ? 0 : bench->grid.cells, NULL), ST_OK);
}

/* Takes ownership of network. */
static inline void bench_make(struct bench *bench, struct network *network,
                              size_t records)
{
    struct network_shape shape = network_shape(network);
    memset(bench, 0, sizeof *bench);
    bench->network = network;
    bench->dim = network_parameters(bench->network);
    bench->records = records;
    bench->x = calloc(records * shape.features, sizeof *bench->x);
    bench->targets = calloc(records, sizeof *bench->targets);
    bench->parameters = calloc(bench->dim, sizeof *bench->parameters);
    network_init(bench->network, bench->parameters, 5);
    bench->data = (struct matrix){.records = records,
                                  .features = shape.features,
                                  .classes = shape.outputs,
                                  .element = ELEMENT_F32,
                                  .rows = bench->x,
                                  .targets = bench->targets};
    assert_int_equal(
        reduction_init(&bench->reduction, bench->network, &group_alone, false, NULL),
        ST_OK);
    bench->clip = (struct flat_clip){.clip_norm = 1, .spread = 1};
    bench_plan(bench, records, false);
}

/* Dense layers from shape[0] features through shape[1] units to shape[2] classes. */
static inline void bench_init(struct bench *bench, const uint32_t shape[3],
                              size_t records)
{
    bench_make(bench, small_network_dense(shape[0], shape[1], shape[2]), records);
}

/* Makes a micro_batch with buffers of capacity rows. */
static inline void bench_worker(struct bench *bench, size_t capacity)
{
    micro_batch_destroy(bench->micro_batch);
    assert_int_equal(
        micro_batch_create(&bench->micro_batch, bench->network,
                           (struct micro_batch_room){.capacity = capacity,
                                                     .has_views = bench->views != NULL},
                           NULL),
        ST_OK);
}

static inline void bench_rows(struct bench *bench)
{
    bench_worker(bench,
                 micro_batch_capacity(bench->network, bench->grid.cell_rows_max));
}

static inline void bench_fini(struct bench *bench)
{
    reduction_fini(&bench->reduction);
    micro_batch_destroy(bench->micro_batch);
    batch_fini(&bench->batch);
    network_destroy(bench->network);
    free(bench->x);
    free(bench->targets);
    free(bench->parameters);
}

/* Draws the batch of all records but absent (SIZE_MAX: all records). */
static inline void bench_draw(struct bench *bench, size_t absent)
{
    size_t count = 0;
    for (uint32_t i = 0; i < bench->records; i++)
        if (i != absent)
            bench->batch.indices[count++] = i;
    batch_drawn(&bench->batch, count);
    batch_cut_cells(&bench->batch, &bench->grid);
}

static inline struct task bench_task(struct bench *bench, const struct batch_sum *sum)
{
    static const uint8_t drop_key[STREAM_KEY_SIZE] = {0x5e, 0xed};
    static const uint8_t rows_key[STREAM_KEY_SIZE] = {0xd4, 0x3e};
    static const uint8_t views_key[STREAM_KEY_SIZE] = {0x1d, 0xea};
    return (struct task){.network = bench->network,
                         .data = &bench->data,
                         .parameters = bench->parameters,
                         .batch = &bench->batch,
                         .sum = sum,
                         .drop_key = drop_key,
                         .rows_key = rows_key,
                         .views = bench->views,
                         .views_key = views_key,
                         .reduction = &bench->reduction};
}

/* out = the sum over all records but absent, of one cell or (SIZE_MAX) of all cells. */
static inline void sum_without(struct bench *bench, size_t absent, size_t cell,
                               int64_t *out)
{
    struct batch_sum sum = {
        .grid = &bench->grid, .clip = clip_flat, .clip_context = &bench->clip};
    struct task task = bench_task(bench, &sum);
    bench_draw(bench, absent);
    struct micro_batch_share share = {.end = bench->batch.piece_count, .tile = 1};
    if (cell != SIZE_MAX)
        share = (struct micro_batch_share){.first = cell, .end = cell + 1};
    memset(bench->reduction.sum, 0, bench->dim * sizeof *bench->reduction.sum);
    micro_batch_run(bench->micro_batch, &task, share);
    memcpy(out, bench->reduction.sum, bench->dim * sizeof *out);
}

/* ||a - b|| in units of G C. */
static inline double moved(const struct bench *bench, const int64_t *a,
                           const int64_t *b)
{
    double squares = 0;
    for (size_t j = 0; j < bench->dim; j++)
        squares += (double)(a[j] - b[j]) * (double)(a[j] - b[j]);
    return sqrt(squares) / bench->grid.scale;
}

static inline void fill_generic(struct bench *bench)
{
    size_t features = bench->data.features;
    for (size_t i = 0; i < bench->records; i++) {
        float size = (float)exp2(sin((double)i) * 6); /* some clipped, some not */
        for (size_t j = 0; j < features; j++)
            bench->x[i * features + j] =
                size * (float)sin((double)(i * 31 + j * j) * 0.61);
        bench->targets[i] = (uint32_t)(i * 7 % bench->data.classes);
    }
}

#endif
