/*
 * dense_families_fixture.h - networks of dense layers and activations, with each loss.
 * Include after random_batch_fixture.h.
 */
#ifndef TESTS_ENGINE_NN_DENSE_FAMILIES_FIXTURE_H
#define TESTS_ENGINE_NN_DENSE_FAMILIES_FIXTURE_H

#include "tests/engine/nn/network_oracle.h"

struct family {
    const char *layers;
    enum loss loss;
    size_t features, count;
};

static const struct family families[] = {
    {"d10", LOSS_SOFTMAX_CROSS_ENTROPY, 64, 37},
    {"D3", LOSS_SOFTMAX_CROSS_ENTROPY, 5, 16},
    {"d23rd4", LOSS_SOFTMAX_CROSS_ENTROPY, 17, 50},
    {"d17td33td7", LOSS_SOFTMAX_CROSS_ENTROPY, 31, 33},
    {"rd9trtd5", LOSS_SOFTMAX_CROSS_ENTROPY, 12, 21},
    {"d48rD16rd2", LOSS_SOFTMAX_CROSS_ENTROPY, 33, 64},
    {"d1", LOSS_LOGISTIC, 29, 40},
    {"d8td1", LOSS_LOGISTIC, 3, 19},
    {"D1", LOSS_SQUARED, 8, 16},
    {"td12rd6td1", LOSS_SQUARED, 9, 45},
    {"d6rd1t", LOSS_SQUARED, 1, 18},
};

enum { FAMILIES = sizeof families / sizeof *families };

static inline void dense_start(struct batch *batch, size_t family)
{
    const struct family *f = &families[family];
    batch_init(batch, f->layers, f->loss, f->features, f->count);
    assert_int_equal(batch->parameters,
                     oracle_parameters(&batch->model, batch->features));
}

#endif
