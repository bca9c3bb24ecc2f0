/*
 * small_network_fixture.h - small networks for classes: two dense layers, or a residual
 * block on images of one channel. Include after tests/expect.h; network_destroy
 * releases them.
 */
#ifndef TESTS_ENGINE_SMALL_NETWORK_FIXTURE_H
#define TESTS_ENGINE_SMALL_NETWORK_FIXTURE_H

#include "engine/nn/network.h"
#include "engine/nn/layers/registry.h"

/* Dense, relu, dense, with biases, for units of unit_rows rows. */
static inline struct network *small_network_dense_of_units(uint32_t features,
                                                           uint32_t hidden,
                                                           uint32_t outputs,
                                                           size_t unit_rows)
{
    struct layer_spec layers[] = {{.kind = &layer_dense, .out = hidden, .bias = true},
                                  {.kind = &layer_relu},
                                  {.kind = &layer_dense, .out = outputs, .bias = true}};
    struct model_spec model = {
        .layer_count = 3, .layers = layers, .loss = LOSS_SOFTMAX_CROSS_ENTROPY};
    struct network *network;
    struct network_shape shape = {features, outputs};
    assert_int_equal(network_create_of_units(&network, &model, shape, unit_rows, NULL),
                     ST_OK);
    return network;
}

static inline struct network *small_network_dense(uint32_t features, uint32_t hidden,
                                                  uint32_t outputs)
{
    return small_network_dense_of_units(features, hidden, outputs, 1);
}

/* A convolution of 3 x 3 pixels whose output image has the size of its input. */
static inline struct layer_spec small_network_conv(uint32_t out, bool bias)
{
    return (struct layer_spec){.kind = &layer_conv2d,
                               .out = out,
                               .bias = bias,
                               .kernel_height = 3,
                               .kernel_width = 3,
                               .stride = 1,
                               .padding = 1,
                               .dilation = 1};
}

struct small_residual {
    uint32_t side, channels, groups;
    bool bias;   /* of the convolutions */
    double rate; /* of the dropout */
    /* below the dense layer: &layer_flatten or a global pool */
    const struct layer_kind *end;
};

/* A network of convolutions with group norms, one of them in a residual, and dropout;
 * ten outputs. */
static inline struct network *
small_network_residual_of_units(const struct small_residual *sizes, size_t unit_rows)
{
    struct layer_spec conv = small_network_conv(sizes->channels, sizes->bias);
    struct layer_spec norm = {
        .kind = &layer_group_norm, .groups = sizes->groups, .epsilon = 1e-5};
    struct layer_spec layers[] = {conv,
                                  norm,
                                  {.kind = &layer_softplus},
                                  {.kind = &layer_residual, .body = 4},
                                  conv,
                                  norm,
                                  {.kind = &layer_gelu},
                                  {.kind = &layer_dropout, .rate = sizes->rate},
                                  {.kind = sizes->end},
                                  {.kind = &layer_dense, .out = 10, .bias = true}};
    struct model_spec model = {.layer_count = sizeof layers / sizeof *layers,
                               .layers = layers,
                               .input = {sizes->side, sizes->side, 1},
                               .loss = LOSS_SOFTMAX_CROSS_ENTROPY};
    struct network_shape shape = {sizes->side * sizes->side, 10};
    struct network *network;
    assert_int_equal(network_create_of_units(&network, &model, shape, unit_rows, NULL),
                     ST_OK);
    return network;
}

static inline struct network *small_network_residual(const struct small_residual *sizes)
{
    return small_network_residual_of_units(sizes, 1);
}

#endif
