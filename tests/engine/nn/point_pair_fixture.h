/*
 * point_pair_fixture.h - a random batch whose workspace has two parameter points,
 * networks of each kind that supports differences, and the oracle's differences.
 * Include after random_batch_fixture.h.
 */
#ifndef TESTS_ENGINE_NN_POINT_PAIR_FIXTURE_H
#define TESTS_ENGINE_NN_POINT_PAIR_FIXTURE_H

#include "engine/difference/difference.h"
#include "tests/engine/nn/record_oracle.h"

struct family {
    const char *layers;
    enum loss loss;
    size_t features, count;
    struct model_input input; /* or 0: vectors */
};

static const struct family families[] = {
    {"d10", LOSS_SOFTMAX_CROSS_ENTROPY, 64, 37, {0}},
    {"D3", LOSS_SOFTMAX_CROSS_ENTROPY, 5, 16, {0}},
    {"d23rd4", LOSS_SOFTMAX_CROSS_ENTROPY, 17, 50, {0}},
    {"d17td33td7", LOSS_SOFTMAX_CROSS_ENTROPY, 31, 33, {0}},
    {"rd9trtd5", LOSS_SOFTMAX_CROSS_ENTROPY, 12, 21, {0}},
    {"d48rD16rd2", LOSS_SOFTMAX_CROSS_ENTROPY, 33, 64, {0}},
    {"d1", LOSS_LOGISTIC, 29, 40, {0}},
    {"d8td1", LOSS_LOGISTIC, 3, 19, {0}},
    {"D1", LOSS_SQUARED, 8, 16, {0}},
    {"td12rd6td1", LOSS_SQUARED, 9, 45, {0}},
    {"d6rd1t", LOSS_SQUARED, 1, 18, {0}},
    {"d14sd9sd3", LOSS_SOFTMAX_CROSS_ENTROPY, 11, 30, {0}},
    {"d9td1", LOSS_HUBER, 6, 40, {0}},
    {"d15pD8pd1", LOSS_SQUARED, 7, 25, {0}},
    {"d12ud9Ud4", LOSS_SOFTMAX_CROSS_ENTROPY, 10, 28, {0}},
    {"ud7pud1", LOSS_LOGISTIC, 8, 20, {0}},
    {"d12ro3d9o2td4", LOSS_SOFTMAX_CROSS_ENTROPY, 10, 28, {0}},
    {"d11[d7td11]r[d5|d5]sd3", LOSS_SOFTMAX_CROSS_ENTROPY, 6, 20, {0}},
    {"[d8td6]d2", LOSS_SOFTMAX_CROSS_ENTROPY, 6, 16, {0}},
    {"[t|d6]rd3", LOSS_SOFTMAX_CROSS_ENTROPY, 6, 16, {0}},
    {"c4,3rfd3", LOSS_SOFTMAX_CROSS_ENTROPY, 50, 18, {5, 5, 2}},
    {"c5,3,1,1rm2,2c4,2tm2,1fd8rd4", LOSS_SOFTMAX_CROSS_ENTROPY, 64, 17, {8, 8, 1}},
    {"x3c4,3,2,1sc5,2a2,1fd1", LOSS_SQUARED, 81, 16, {9, 9, 1}},
    {"m2,1C3,2um3,2,1d4tgd1", LOSS_LOGISTIC, 98, 16, {7, 7, 2}},
    {"k6c4,3,1,1[c3,3,1,1tc4,1]ro1m2,2fd4",
     LOSS_SOFTMAX_CROSS_ENTROPY,
     64,
     17,
     {8, 8, 1}},
    {"C6,3,1,2rm2,2fd5", LOSS_SOFTMAX_CROSS_ENTROPY, 25, 33, {5, 5, 1}},
};

enum { FAMILIES = sizeof families / sizeof *families };

/* A batch, which is the first member, whose workspace has two points; theta is the new
 * point. */
struct pair {
    struct batch batch;
    float *previous;
    struct parameter_step *step;
};

/* Changes every parameter by about size times the root mean square of the
 * parameters. */
static inline void pair_move(struct pair *pair, double size)
{
    struct batch *batch = &pair->batch;
    double square = 0.0;
    for (size_t j = 0; j < batch->parameters; j++)
        square += (double)batch->theta[j] * (double)batch->theta[j];
    double step = size * sqrt(square / (double)batch->parameters);
    for (size_t j = 0; j < batch->parameters; j++)
        pair->previous[j] = (float)((double)batch->theta[j] +
                                    step * (double)batch_normal(&batch->state));
    parameter_step_set(pair->step, batch->theta, pair->previous);
}

static inline void pair_make_batch(struct batch *batch, const struct family *family)
{
    batch_make(batch, &(struct batch_demand){.layers = family->layers,
                                             .loss = family->loss,
                                             .features = family->features,
                                             .count = family->count,
                                             .input = family->input,
                                             .form = -1});
}

static inline void pair_start(struct pair *pair, const struct family *family,
                              double size)
{
    struct batch *batch = &pair->batch;
    pair_make_batch(batch, family);
    assert_int_equal(network_check_differences(batch->network, NULL), ST_OK);
    workspace_destroy(batch->workspace);
    assert_int_equal(workspace_create_two_points(&batch->workspace, batch->network,
                                                 batch->rows, NULL),
                     ST_OK);
    workspace_drop(batch->workspace, (struct drop){batch->drop_key, batch->indices});
    pair->previous = calloc(batch->parameters, sizeof *pair->previous);
    assert_int_equal(parameter_step_create(&pair->step, batch->parameters, NULL),
                     ST_OK);
    pair_move(pair, size);
}

static inline void pair_finish(struct pair *pair)
{
    parameter_step_destroy(pair->step);
    free(pair->previous);
    batch_fini(&pair->batch);
}

/* batch_pass at two points, for the batch of a pair. */
static inline void pair_pass(struct batch *batch, size_t count)
{
    struct pair *pair = (struct pair *)batch;
    workspace_difference(batch->workspace, pair->step, count);
    workspace_measure(batch->workspace, NULL);
}

static inline void pair_run(struct pair *pair)
{
    batch_place_all(&pair->batch);
    pair_pass(&pair->batch, pair->batch.count);
}

/* out = g - g' for record i. */
static inline void record_difference(const struct pair *pair, size_t i, double *out)
{
    const struct batch *batch = &pair->batch;
    double *before = calloc(batch->parameters, sizeof *before);
    record_gradient(batch, batch->theta, i, out);
    record_gradient(batch, pair->previous, i, before);
    for (size_t j = 0; j < batch->parameters; j++)
        out[j] -= before[j];
    free(before);
}

#endif
