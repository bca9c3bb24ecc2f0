/*
 * points_fixture.h - made-up records of classes and a small net on them, which every
 * private row can train: without biases, as some proofs require. The gradients have
 * very different lengths, many of them above the usual clip norm.
 *
 * Ownership: points_destroy releases what points_create returns.
 */
#ifndef TESTS_ENGINE_DP_POINTS_FIXTURE_H
#define TESTS_ENGINE_DP_POINTS_FIXTURE_H

#include "tests/engine/dp/ways_fixture.h"
#include "engine/nn/layers/registry.h"

enum { POINTS_CLASSES = 3 };

static struct layer_spec points_layers[] = {
    {.kind = &layer_dense, .out = 6},
    {.kind = &layer_relu},
    {.kind = &layer_dense, .out = POINTS_CLASSES}};
static const struct model_spec points_model = {
    .layer_count = 3, .layers = points_layers, .loss = LOSS_SOFTMAX_CROSS_ENTROPY};

struct points {
    struct matrix data;
    float *x;     /* (records, features) */
    uint32_t *of; /* (records) classes */
};

static inline void points_create(struct points *points, size_t records, size_t features,
                                 double phase)
{
    *points = (struct points){.x = calloc(records * features, sizeof *points->x),
                              .of = calloc(records, sizeof *points->of)};
    assert_true(points->x != NULL && points->of != NULL);
    for (size_t i = 0; i < records; i++) {
        double size = exp2(3 * sin(2.3 * (double)i + phase));
        for (size_t j = 0; j < features; j++)
            points->x[i * features + j] =
                (float)(size * sin((double)(i * 31 + j * j) * 0.61 + phase));
        points->of[i] = (uint32_t)((i * 7 + (size_t)phase) % POINTS_CLASSES);
    }
    points->data = (struct matrix){.records = records,
                                   .features = (uint32_t)features,
                                   .classes = POINTS_CLASSES,
                                   .element = ELEMENT_F32,
                                   .scale = 1,
                                   .rows = points->x,
                                   .targets = points->of};
}

static inline void points_destroy(struct points *points)
{
    free(points->x);
    free(points->of);
}

/* A job on these points, with one thread; the parameters stay near their start. */
static inline struct kit_setup points_setup(const struct points *points,
                                            uint64_t batch_size, uint64_t steps)
{
    return (struct kit_setup){.data = &points->data,
                              .model = &points_model,
                              .optimizer = {.kind = OPTIMIZER_SGD,
                                            .learning_rate = 1e-3,
                                            .learning_rate_final = 1e-3},
                              .batch_size = batch_size,
                              .steps = steps,
                              .noise_multiplier = 1.3,
                              .threads = 1};
}

#endif
