/*
 * sequence_oracle.h - the layers of sequences for network_oracle.h: tables, and layers
 * that combine positions. A value of a sequence is an image of positions x 1 pixels,
 * channel by channel: channel c of position t is at c * positions + t.
 */
#ifndef TESTS_ENGINE_NN_SEQUENCE_ORACLE_H
#define TESTS_ENGINE_NN_SEQUENCE_ORACLE_H

#include "tests/engine/nn/oracle_state.h"

/* The number of tokens before the first id that is none. */
static inline size_t oracle_tokens(const struct oracle_record *record)
{
    size_t count = 0;
    while (count < record->feature_count && record->features[count] >= 0.0F)
        count++;
    return count;
}

/* The row of the table that position t reads; rows of the table: none. */
static inline size_t oracle_table_row(const struct oracle *oracle,
                                      const struct layer_spec *spec, size_t t)
{
    const float *ids = oracle->record->features;
    bool own = t < oracle_tokens(oracle->record);
    if (oracle_kind(spec) == ORACLE_POSITION)
        return t + spec->offset;
    if (oracle_kind(spec) == ORACLE_EMBEDDING)
        return own && ids[t] < (float)spec->rows ? (size_t)ids[t] : spec->rows;
    for (size_t s = 0; s < t; s++)
        if (ids[s] == (float)spec->separator)
            return spec->rows - 1;
    return 0;
}

static inline void oracle_table(struct oracle *oracle, struct oracle_layer *layer,
                                const double *dy, double *dx)
{
    const struct layer_spec *spec = layer->spec;
    size_t width = layer->out.c, positions = layer->out.h;
    bool adds = oracle_kind(spec) != ORACLE_EMBEDDING;
    for (size_t t = 0; t < positions; t++)
        for (size_t c = 0; c < width; c++) {
            size_t at = c * positions + t, row = oracle_table_row(oracle, spec, t);
            size_t w = layer->at + row * width + c;
            if (dy == NULL)
                layer->y[at] = (adds ? layer->x[at] : 0.0) +
                               (row < spec->rows ? oracle->parameters[w] : 0.0);
            else if (row < spec->rows)
                oracle->gradient[w] += dy[at];
            if (dy != NULL && adds)
                dx[at] += dy[at];
        }
}

/* The weight of position t in the vector that a take layer makes. */
static inline double oracle_share(const struct oracle *oracle, enum oracle_kind kind,
                                  size_t t)
{
    size_t own = oracle_tokens(oracle->record);
    if (kind == ORACLE_TAKE)
        return t == 0 ? 1.0 : 0.0;
    if (kind == ORACLE_TAKE_LAST)
        return t + 1 == own ? 1.0 : 0.0;
    return t < own ? 1.0 / (double)own : 0.0;
}

static inline void oracle_take(struct oracle *oracle, struct oracle_layer *layer,
                               const double *dy, double *dx)
{
    size_t positions = layer->in.h;
    for (size_t c = 0; c < layer->in.c; c++)
        for (size_t t = 0; t < positions; t++) {
            double share = oracle_share(oracle, oracle_kind(layer->spec), t);
            if (dy == NULL)
                layer->y[c] += share * layer->x[c * positions + t];
            else
                dx[c * positions + t] += share * dy[c];
        }
}

/* dy and dx are NULL in a forward pass. */
static inline void oracle_sequence(struct oracle *oracle, struct oracle_layer *layer,
                                   const double *dy, double *dx)
{
    enum oracle_kind kind = oracle_kind(layer->spec);
    if (kind == ORACLE_TAKE || kind == ORACLE_TAKE_LAST || kind == ORACLE_TAKE_MEAN)
        oracle_take(oracle, layer, dy, dx);
    else
        oracle_table(oracle, layer, dy, dx);
}

#endif
