/*
 * line_fixture.h - models that can be worked out by hand: z = w . x without a bias
 * under squared loss, with gradient (z - y) x for each record, and a cloud of points
 * that such lines fit.
 */
#ifndef TESTS_ENGINE_DP_LINE_FIXTURE_H
#define TESTS_ENGINE_DP_LINE_FIXTURE_H

#include <math.h>

#include "tests/engine/dp/algorithm_fixture.h"
#include "engine/nn/layers/registry.h"
#include "tests/engine/draw_fixture.h"

static struct layer_spec line_layer = {.kind = &layer_dense, .out = 1, .bias = false};
static const struct model_spec line = {
    .layer_count = 1, .layers = &line_layer, .loss = LOSS_SQUARED};

/* x (records, features), y (records): borrowed. */
static inline struct matrix line_data(size_t records, size_t features, const float *x,
                                      const float *y)
{
    return (struct matrix){.records = records,
                           .features = (uint32_t)features,
                           .element = ELEMENT_F32,
                           .scale = 1,
                           .rows = x,
                           .values = y};
}

/* y = 1/2 + x_1 + 2 x_2 + 3 x_3 and so on, x uniform in [-1, 1). */
static inline void line_fill(float *x, float *y, size_t records, size_t features)
{
    uint64_t seed = 41;
    for (size_t i = 0; i < records; i++) {
        y[i] = 0.5F;
        for (size_t j = 0; j < features; j++) {
            float drawn = (float)(2 * draw_uniform(&seed) - 1);
            x[i * features + j] = drawn;
            y[i] += drawn * (float)(j + 1);
        }
    }
}

/* A job whose steps take all records of data at a rate, on one thread; the caller sets
 * the noise. */
static inline struct kit_setup line_setup(const struct matrix *data, double rate)
{
    return (struct kit_setup){.data = data,
                              .model = &line,
                              .optimizer = {.kind = OPTIMIZER_SGD,
                                            .learning_rate = rate,
                                            .learning_rate_final = rate},
                              .batch_size = data->records,
                              .threads = 1,
                              .key = 9};
}

enum { POINTS_MAX = 60 };
struct points {
    float x[POINTS_MAX], y[POINTS_MAX];
    struct matrix data;
};

/* Makes count points with x in [.3, 1.3], y within swing of mean. */
static inline void points_make(struct points *points, size_t count, double mean,
                               double swing)
{
    for (size_t i = 0; i < count; i++) {
        points->x[i] = (float)(0.3 + fabs(sin(3.7 * (double)i)));
        points->y[i] = (float)(mean + swing * cos(1.9 * (double)i));
    }
    points->data = line_data(count, 1, points->x, points->y);
}

#endif
