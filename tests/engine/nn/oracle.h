/*
 * oracle.h - the network layer written once more, naively: three loops, double
 * precision, one record at a time, explicit gradients. Shares no code with engine/nn
 * but the description of a model. Include after tests/expect.h.
 */
#ifndef TESTS_ENGINE_NN_ORACLE_H
#define TESTS_ENGINE_NN_ORACLE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/nn/model_spec.h"

enum { ORACLE_LAYERS_MAX = 16, ORACLE_WIDTH_MAX = 96 };

struct oracle_record {
    const float *features;
    size_t feature_count;
    uint32_t class_index; /* softmax cross-entropy, logistic */
    double value;         /* squared */
};

static inline size_t oracle_parameters(const struct model_spec *model, size_t features)
{
    size_t count = 0, width = features;
    for (size_t l = 0; l < model->layer_count; l++)
        if (model->layers[l].kind == LAYER_DENSE) {
            count += model->layers[l].out * (width + (model->layers[l].bias ? 1 : 0));
            width = model->layers[l].out;
        }
    return count;
}

/* Loss at outputs z, and its derivative dz. */
static inline double oracle_loss(enum loss loss, const double *z, double *dz,
                                 size_t width, const struct oracle_record *record)
{
    double sum = 0.0;
    switch (loss) {
    case LOSS_SOFTMAX_CROSS_ENTROPY:
        for (size_t j = 0; j < width; j++)
            sum += exp(z[j]);
        for (size_t j = 0; j < width; j++)
            dz[j] = exp(z[j]) / sum - (j == record->class_index ? 1.0 : 0.0);
        return log(sum) - z[record->class_index];
    case LOSS_LOGISTIC:
        dz[0] = 1.0 / (1.0 + exp(-z[0])) - record->class_index;
        return log(1.0 + exp(z[0])) - z[0] * record->class_index;
    case LOSS_SQUARED: dz[0] = z[0] - record->value; return 0.5 * dz[0] * dz[0];
    }
    return NAN;
}

/* Returns the record's loss; gradient (oracle_parameters) is written unless it is NULL,
 * and outputs (of the last layer) unless that is NULL. */
static inline double oracle_evaluate(const struct model_spec *model,
                                     const double *parameters,
                                     const struct oracle_record *record,
                                     double *gradient, double *outputs)
{
    static double x[ORACLE_LAYERS_MAX + 1][ORACLE_WIDTH_MAX];
    double dx[ORACLE_WIDTH_MAX], before[ORACLE_WIDTH_MAX];
    size_t width[ORACLE_LAYERS_MAX + 1], at[ORACLE_LAYERS_MAX], next = 0;
    size_t count = model->layer_count;

    assert_true(count <= ORACLE_LAYERS_MAX &&
                record->feature_count <= ORACLE_WIDTH_MAX);
    width[0] = record->feature_count;
    for (size_t i = 0; i < width[0]; i++)
        x[0][i] = (double)record->features[i];
    for (size_t l = 0; l < count; l++) {
        const struct layer_spec *layer = &model->layers[l];
        width[l + 1] = layer->kind == LAYER_DENSE ? layer->out : width[l];
        at[l] = next;
        for (size_t j = 0; j < width[l + 1]; j++) {
            if (layer->kind != LAYER_DENSE) {
                double z = x[l][j];
                x[l + 1][j] = layer->kind == LAYER_TANH ? tanh(z) : z > 0.0 ? z : 0.0;
                continue;
            }
            x[l + 1][j] =
                layer->bias ? parameters[at[l] + layer->out * width[l] + j] : 0.0;
            for (size_t i = 0; i < width[l]; i++)
                x[l + 1][j] += parameters[at[l] + j * width[l] + i] * x[l][i];
        }
        if (layer->kind == LAYER_DENSE)
            next += layer->out * (width[l] + (layer->bias ? 1 : 0));
    }
    if (outputs != NULL)
        memcpy(outputs, x[count], width[count] * sizeof *outputs);
    double loss = oracle_loss(model->loss, x[count], dx, width[count], record);
    if (gradient == NULL)
        return loss;
    for (size_t l = count; l-- > 0;) {
        const struct layer_spec *layer = &model->layers[l];
        if (layer->kind != LAYER_DENSE) {
            for (size_t j = 0; j < width[l]; j++)
                dx[j] *= layer->kind == LAYER_TANH ? 1.0 - x[l + 1][j] * x[l + 1][j]
                         : x[l][j] > 0.0           ? 1.0
                                                   : 0.0;
            continue;
        }
        memset(before, 0, sizeof before);
        for (size_t j = 0; j < width[l + 1]; j++) {
            for (size_t i = 0; i < width[l]; i++) {
                gradient[at[l] + j * width[l] + i] = dx[j] * x[l][i];
                before[i] += dx[j] * parameters[at[l] + j * width[l] + i];
            }
            if (layer->bias)
                gradient[at[l] + layer->out * width[l] + j] = dx[j];
        }
        memcpy(dx, before, sizeof dx);
    }
    return loss;
}

#endif
