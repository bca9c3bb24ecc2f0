/*
 * diff2_fixture.h - a net of one hidden layer on records along a line, its gradients in
 * double, and runs of DIFF2 on it under negligible noise. Groups of tests use fill
 * as their set-up.
 */
#ifndef TESTS_ENGINE_DP_DIFF2_FIXTURE_H
#define TESTS_ENGINE_DP_DIFF2_FIXTURE_H

#include "tests/engine/dp/line_fixture.h"
#include "engine/nn/layers/registry.h"

enum {
    RECORDS = 3001,
    FEATURES = 4,
    HIDDEN = 5,
    DIM = FEATURES * HIDDEN + HIDDEN + HIDDEN + 1
};

static float features[RECORDS * FEATURES], values[RECORDS];
static const struct matrix points = {.records = RECORDS,
                                     .features = FEATURES,
                                     .element = ELEMENT_F32,
                                     .scale = 1,
                                     .rows = features,
                                     .values = values};
static struct layer_spec layers[] = {
    {.kind = &layer_dense, .out = HIDDEN, .bias = true},
    {.kind = &layer_tanh},
    {.kind = &layer_dense, .out = 1, .bias = true}};
static const struct model_spec net = {
    .layer_count = 3, .layers = layers, .loss = LOSS_SQUARED};

static inline int fill(void **state)
{
    (void)state;
    line_fill(features, values, RECORDS, FEATURES);
    return 0;
}

/* The gradient of (z - y)^2 / 2, where z is the net's output; weights (HIDDEN,
 * FEATURES), biases, weights, bias. */
static inline void gradient(const void *context, size_t i, const double *x, double *out)
{
    (void)context;
    const double *bias = x + FEATURES * HIDDEN, *top = bias + HIDDEN;
    const float *a = features + i * FEATURES;
    double h[HIDDEN], z = top[HIDDEN];
    for (size_t k = 0; k < HIDDEN; k++) {
        double s = bias[k];
        for (size_t j = 0; j < FEATURES; j++)
            s += x[k * FEATURES + j] * (double)a[j];
        h[k] = tanh(s);
        z += top[k] * h[k];
    }
    double b = z - (double)values[i];
    for (size_t k = 0; k < HIDDEN; k++) {
        double below = b * top[k] * (1 - h[k] * h[k]);
        for (size_t j = 0; j < FEATURES; j++)
            out[k * FEATURES + j] = below * (double)a[j];
        out[FEATURES * HIDDEN + k] = below;
        out[FEATURES * HIDDEN + HIDDEN + k] = b * h[k];
    }
    out[DIM - 1] = b;
}

static const double quiet = 0x1p-6; /* the least noise multiplier a grid carries */

static inline struct kit_setup usual(uint64_t steps)
{
    struct kit_setup setup = line_setup(&points, 0.25);
    setup.model = &net;
    setup.steps = steps;
    setup.noise_multiplier = quiet;
    setup.threads = 2;
    return setup;
}

static inline void run_steps(const char *algorithm, const struct kit_setup *setup,
                             const char *const *names, const double *numbers,
                             float *out)
{
    struct kit kit;
    kit_spec(&kit, algorithm);
    for (size_t k = 0; names[k] != NULL; k++)
        kit_set(&kit, names[k], numbers[k]);
    kit_open(&kit, setup);
    for (uint64_t k = 0; k < setup->steps; k++)
        kit_step(&kit);
    memcpy(out, kit.parameters, network_parameters(kit.network) * sizeof *out);
    kit_close(&kit);
}

#endif
