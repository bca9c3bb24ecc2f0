/*
 * floor_fixture.h - the least work that a step needs: only the matrix products of a
 * model on a batch, in a loop, and one coordinate of noise for each parameter, each
 * split between threads.
 *
 *   products  forward, backward and sum of every layer, one cblas_sgemm each, over
 *             micro-batches of at most PRODUCT_RECORDS records; a convolution takes at
 *             most POSITION_ROWS rows at a time, as if its images were unfolded
 *   noise     noise_draw, DRAWN_AT_ONCE chunks a call
 */
#ifndef TESTS_BENCH_FLOOR_FIXTURE_H
#define TESTS_BENCH_FLOOR_FIXTURE_H

#include <math.h>
#include <cblas.h>

#include "engine/noise/noise.h"
#include "engine/parallel/team.h"
#include "tests/bench/workload_fixture.h"

enum {
    PRODUCT_RECORDS = 512,
    POSITION_ROWS = 4096,
    THREADS_MAX = 2,
    LAYERS_MAX = 8,
    DRAWN_AT_ONCE = 64
};

struct layer_size {
    size_t in, out;
    size_t rows; /* for each record: 1, or the positions of a convolution */
};

struct floor_buffers { /* per thread; a and b hold a layer's inputs and outputs */
    float *a, *b, *sum;
    int64_t *noise;
    struct noise *source;
};

struct bench_floor {
    struct team *team;
    struct layer_size layers[LAYERS_MAX];
    size_t layer_count, batch, parameters;
    float *weights;
    struct floor_buffers buffers[THREADS_MAX];
};

static inline float *floats(size_t count)
{
    float *f = aligned_alloc(64, (count * sizeof *f + 63) / 64 * 64);
    CHECK(f != NULL);
    for (size_t i = 0; i < count; i++)
        f[i] = (float)(i % 101) * 0.01F - 0.5F;
    return f;
}

/* cnn_mnist: 8 x 8 filters at 14 x 14 positions, 4 x 4 filters on 16 channels at 5 x 5
 * positions, two dense layers. */
static inline void add_layers(struct bench_floor *f, const struct shape *shape)
{
    static const struct layer_size cnn[] = {
        {64, 16, 196}, {256, 32, 25}, {512, 32, 1}, {32, CLASSES, 1}};
    f->layer_count = shape->is_cnn ? 4 : shape->hidden_count + 1;
    for (size_t l = 0; l < f->layer_count; l++) {
        f->layers[l] =
            shape->is_cnn
                ? cnn[l]
                : (struct layer_size){.in = l == 0 ? FEATURES : shape->hidden[l - 1],
                                      .out = l < shape->hidden_count ? shape->hidden[l]
                                                                     : CLASSES,
                                      .rows = 1};
        f->parameters += (f->layers[l].in + 1) * f->layers[l].out;
    }
    if (shape->is_cnn) /* the first layer has three copies of one channel */
        f->parameters += 2 * cnn[0].in * cnn[0].out;
}

static inline size_t product_rows(const struct layer_size *layer)
{
    return layer->rows == 1 ? PRODUCT_RECORDS : POSITION_ROWS;
}

static inline struct bench_floor floor_of(const struct shape *shape, size_t batch,
                                          unsigned threads)
{
    struct bench_floor f = {.batch = batch};
    size_t largest = 0, buffer = 0;
    CHECK(team_create(&f.team, threads, NULL) == ST_OK);
    add_layers(&f, shape);
    for (size_t l = 0; l < f.layer_count; l++) {
        const struct layer_size *layer = &f.layers[l];
        size_t wide = layer->in > layer->out ? layer->in : layer->out;
        size_t count = layer->in * layer->out, floats = product_rows(layer) * wide;
        largest = count > largest ? count : largest;
        buffer = floats > buffer ? floats : buffer;
    }
    f.weights = floats(largest);
    for (unsigned k = 0; k < threads; k++)
        f.buffers[k] = (struct floor_buffers){
            .a = floats(buffer),
            .b = floats(buffer),
            .sum = floats(largest),
            .noise = malloc(DRAWN_AT_ONCE * NOISE_CHUNK * sizeof(int64_t)),
            .source = noise_create(),
        };
    return f;
}

static inline void floor_free(struct bench_floor *f)
{
    for (unsigned k = 0; k < team_size(f->team); k++) {
        noise_destroy(f->buffers[k].source);
        free(f->buffers[k].noise);
        free(f->buffers[k].sum);
        free(f->buffers[k].b);
        free(f->buffers[k].a);
    }
    free(f->weights);
    team_destroy(f->team);
}

static inline size_t share(size_t total, unsigned k, unsigned n)
{
    return total * (k + 1) / n - total * k / n;
}

static inline void layer_products(const struct bench_floor *f, size_t l,
                                  const struct floor_buffers *to, size_t rows,
                                  float keep)
{
    blasint in = (blasint)f->layers[l].in, out = (blasint)f->layers[l].out;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)rows, out, in, 1,
                to->a, in, f->weights, in, 0, to->b, out);
    if (l > 0)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, in, out,
                    1, to->b, out, f->weights, in, 0, to->a, in);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, out, in, (blasint)rows, 1,
                to->b, out, to->a, in, keep, to->sum, in);
}

static inline void products_member(void *context, unsigned member)
{
    const struct bench_floor *f = context;
    size_t records = share(f->batch, member, team_size(f->team));
    for (size_t l = 0; l < f->layer_count; l++) {
        size_t left = records * f->layers[l].rows, most = product_rows(&f->layers[l]);
        for (float keep = 0; left > 0; keep = 1) {
            size_t rows = left < most ? left : most;
            layer_products(f, l, &f->buffers[member], rows, keep);
            left -= rows;
        }
    }
}

static inline void run_products(void *context)
{
    struct bench_floor *f = context;
    team_run(f->team, &(struct team_work){.run = products_member,
                                          .context = f,
                                          .shares = team_size(f->team),
                                          .flops = TEAM_FLOPS_MIN});
}

static inline void noise_member(void *context, unsigned member)
{
    static const struct noise_key key = {{1}};
    const struct bench_floor *f = context;
    const struct noise_address address = {.key = &key};
    size_t chunks = (f->parameters + NOISE_CHUNK - 1) / NOISE_CHUNK;
    size_t count = share(chunks, member, team_size(f->team));
    for (size_t k = 0; k < count; k += DRAWN_AT_ONCE) /* each call wipes once */
        noise_draw(f->buffers[member].source, f->buffers[member].noise, &address, k,
                   count - k < DRAWN_AT_ONCE ? count - k : DRAWN_AT_ONCE);
}

static inline void run_noise(void *context)
{
    struct bench_floor *f = context;
    team_run(f->team, &(struct team_work){.run = noise_member,
                                          .context = f,
                                          .shares = team_size(f->team),
                                          .flops = TEAM_FLOPS_MIN});
}

/* Multiplications and additions in the products of one record. */
static inline double floor_flops(const struct bench_floor *f)
{
    double flops = 0;
    for (size_t l = 0; l < f->layer_count; l++)
        flops += (l == 0 ? 4.0 : 6.0) * (double)f->layers[l].rows *
                 (double)f->layers[l].in * (double)f->layers[l].out;
    return flops;
}

/* Bytes that one step moves, by the same model: each record is gathered at one byte a
 * feature; each layer reads and writes its rows forward, backward, to measure and to
 * sum; a convolution unfolds its rows three times; and each cell's block is written
 * twice, read twice and added to the sum. */
static inline double floor_bytes(const struct bench_floor *f)
{
    double record = FEATURES * (1.0 + sizeof(float));
    double cells = ceil((double)f->batch / 128);
    for (size_t l = 0; l < f->layer_count; l++) {
        const struct layer_size *layer = &f->layers[l];
        double rows = (double)layer->rows * sizeof(float);
        double unfolded = layer->rows > 1 ? 6 * rows * (double)layer->in : 0;
        record += (l == 0 ? 3 : 4) * rows * (double)(layer->in + layer->out) + unfolded;
    }
    return record * (double)f->batch +
           cells * (double)f->parameters * (4 * sizeof(float) + 2 * sizeof(int64_t));
}

#endif
