/*
 * column_oracle.h - the layer embed_columns for network_oracle.h: goes through the
 * features of a record, one at a time, and asks of each to which column it belongs.
 */
#ifndef TESTS_ENGINE_NN_COLUMN_ORACLE_H
#define TESTS_ENGINE_NN_COLUMN_ORACLE_H

#include "tests/engine/nn/oracle_state.h"

/* Returns the column that begins at a feature, or NULL. */
static inline const struct named_column *
oracle_column_at(const struct model_spec *model, size_t feature)
{
    for (size_t g = 0; g < model->embedded.count; g++)
        if (model->embedded.list[g].first == feature)
            return &model->embedded.list[g];
    return NULL;
}

/* dy is NULL in a forward pass. No gradient goes to the record. */
static inline void oracle_embed_columns(struct oracle *oracle,
                                        struct oracle_layer *layer, const double *dy)
{
    size_t width = layer->spec->out, at = 0, row = 0, feature = 0;
    while (feature < layer->in.c) {
        const struct named_column *column = oracle_column_at(oracle->model, feature);
        if (column == NULL) {
            if (dy == NULL)
                layer->y[at] = layer->x[feature];
            feature++;
            at++;
            continue;
        }
        size_t word = column->words;
        for (size_t j = column->words; j-- > 0 && word == column->words;)
            if (layer->x[feature + j] > 0.5)
                word = j;
        for (size_t k = 0; k < width && word < column->words; k++) {
            size_t w = layer->at + (row + word) * width + k;
            if (dy == NULL)
                layer->y[at + k] = oracle->parameters[w];
            else
                oracle->gradient[w] += dy[at + k];
        }
        feature += column->words;
        row += column->words;
        at += width;
    }
}

#endif
