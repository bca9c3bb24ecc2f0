/*
 * oracle_state.h - what the oracle of network_oracle.h keeps while it evaluates a record.
 */
#ifndef TESTS_ENGINE_NN_ORACLE_STATE_H
#define TESTS_ENGINE_NN_ORACLE_STATE_H

#include "engine/nn/model_spec.h"
#include "tests/engine/nn/shapes_oracle.h"

enum { ORACLE_LAYERS_MAX = 128, ORACLE_WIDTH_MAX = 16384 };

struct oracle_record {
    const float *features;
    size_t feature_count;
    uint32_t class_index;    /* softmax cross-entropy, logistic */
    double value;            /* squared, huber */
    const uint8_t *drop_key; /* of dropout, or NULL: nothing is dropped */
    uint32_t index;
};

struct oracle_layer {
    const struct layer_spec *spec;
    struct oracle_shape in, out;
    size_t at; /* first parameter */
    double *x, *y;
    double *mask; /* of dropout */
    double *ends; /* of attention: q, k and v */
};

struct oracle {
    const struct model_spec *model;
    const struct oracle_record *record;
    const double *parameters;
    double *gradient; /* or NULL */
    size_t next;      /* parameter */
    uint32_t drops;   /* dropout layers so far */
    struct oracle_layer layers[ORACLE_LAYERS_MAX];
};

#endif
