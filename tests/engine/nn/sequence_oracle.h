/*
 * sequence_oracle.h - the layers of sequences for network_oracle.h: tables, and layers
 * that combine positions. A value of a sequence is an image of positions x 1 pixels,
 * channel by channel: channel c of position t is at c * positions + t.
 */
#ifndef TESTS_ENGINE_NN_SEQUENCE_ORACLE_H
#define TESTS_ENGINE_NN_SEQUENCE_ORACLE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static inline double oracle_logistic(double z)
{
    return 1.0 / (1.0 + exp(-z));
}

/* An LSTM by its formulas, as torch.nn.LSTM states them; its parameters are weight_ih,
 * bias_ih, weight_hh and bias_hh, with the gates i, f, g, o as parts of the rows. */
struct oracle_lstm {
    const double *weight_ih, *bias_ih, *weight_hh, *bias_hh;
    double *d_weight_ih, *d_bias_ih, *d_weight_hh, *d_bias_hh;
    size_t inputs, hidden, positions, own;
    double *gates, *c,
        *h; /* (own, 4 hidden), (own + 1, hidden) twice: from t = -1 on */
};

/* gates, c and h of the record. */
static inline void oracle_lstm_run(struct oracle_lstm *l, const double *x)
{
    size_t n = l->hidden;
    for (size_t t = 0; t < l->own; t++) {
        double *gates = l->gates + t * 4 * n;
        for (size_t r = 0; r < 4 * n; r++) {
            double z = l->bias_ih[r] + l->bias_hh[r];
            for (size_t k = 0; k < l->inputs; k++)
                z += l->weight_ih[r * l->inputs + k] * x[k * l->positions + t];
            for (size_t k = 0; k < n; k++)
                z += l->weight_hh[r * n + k] * l->h[t * n + k];
            gates[r] = r / n == 2 ? tanh(z) : oracle_logistic(z);
        }
        for (size_t j = 0; j < n; j++) {
            double c = gates[n + j] * l->c[t * n + j] + gates[j] * gates[2 * n + j];
            l->c[(t + 1) * n + j] = c;
            l->h[(t + 1) * n + j] = gates[3 * n + j] * tanh(c);
        }
    }
}

/* The derivative of the loss in gate r of position t before its function, from that in
 * h_t and c_t. */
static inline double oracle_lstm_gate(const struct oracle_lstm *l, size_t t, size_t r,
                                      double dh, double dc)
{
    size_t n = l->hidden, j = r % n;
    const double *gates = l->gates + t * 4 * n;
    const double by[] = {gates[2 * n + j], l->c[t * n + j], gates[j]};
    if (r / n == 3)
        return dh * tanh(l->c[(t + 1) * n + j]) * gates[r] * (1.0 - gates[r]);
    double slope = r / n == 2 ? 1.0 - gates[r] * gates[r] : gates[r] * (1.0 - gates[r]);
    return dc * by[r / n] * slope;
}

/* One position of the way back. dh and dc (hidden): the derivatives in h_t and c_t, which
 * become those in h_(t-1) and c_(t-1). */
static inline void oracle_lstm_back(const struct oracle_lstm *l, size_t t,
                                    const double *x, double *dh, double *dc, double *dx)
{
    size_t n = l->hidden;
    double *below = calloc(n, sizeof *below);
    for (size_t j = 0; j < n; j++)
        dc[j] += dh[j] * l->gates[t * 4 * n + 3 * n + j] *
                 (1.0 - pow(tanh(l->c[(t + 1) * n + j]), 2));
    for (size_t r = 0; r < 4 * n; r++) {
        double dz = oracle_lstm_gate(l, t, r, dh[r % n], dc[r % n]);
        l->d_bias_ih[r] += dz;
        l->d_bias_hh[r] += dz;
        for (size_t k = 0; k < l->inputs; k++) {
            l->d_weight_ih[r * l->inputs + k] += dz * x[k * l->positions + t];
            dx[k * l->positions + t] += dz * l->weight_ih[r * l->inputs + k];
        }
        for (size_t k = 0; k < n; k++) {
            l->d_weight_hh[r * n + k] += dz * l->h[t * n + k];
            below[k] += dz * l->weight_hh[r * n + k];
        }
    }
    for (size_t j = 0; j < n; j++)
        dc[j] *= l->gates[t * 4 * n + n + j];
    memcpy(dh, below, n * sizeof *dh);
    free(below);
}

static inline void oracle_lstm_place(struct oracle_lstm *l, const double *parameters,
                                     double *gradient)
{
    size_t input = 4 * l->hidden * l->inputs, gates = 4 * l->hidden;
    size_t recurrent = gates * l->hidden;
    l->weight_ih = parameters;
    l->bias_ih = l->weight_ih + input;
    l->weight_hh = l->bias_ih + gates;
    l->bias_hh = l->weight_hh + recurrent;
    if (gradient == NULL)
        return;
    l->d_weight_ih = gradient;
    l->d_bias_ih = l->d_weight_ih + input;
    l->d_weight_hh = l->d_bias_ih + gates;
    l->d_bias_hh = l->d_weight_hh + recurrent;
}

static inline void oracle_lstm(struct oracle *oracle, struct oracle_layer *layer,
                               const double *dy, double *dx)
{
    size_t n = layer->out.c, positions = layer->in.h;
    struct oracle_lstm l = {.inputs = layer->in.c,
                            .hidden = n,
                            .positions = positions,
                            .own = oracle_tokens(oracle->record)};
    oracle_lstm_place(&l, oracle->parameters + layer->at,
                      dy != NULL ? oracle->gradient + layer->at : NULL);
    l.gates = calloc(positions * 4 * n, sizeof *l.gates);
    l.c = calloc((positions + 1) * n, sizeof *l.c);
    l.h = calloc((positions + 1) * n, sizeof *l.h);
    double *dh = calloc(n, sizeof *dh), *dc = calloc(n, sizeof *dc);
    oracle_lstm_run(&l, layer->x);
    for (size_t t = 0; dy == NULL && t < positions; t++)
        for (size_t j = 0; j < n; j++)
            layer->y[j * positions + t] = t < l.own ? l.h[(t + 1) * n + j] : 0.0;
    for (size_t t = l.own; dy != NULL && t-- > 0;) {
        for (size_t j = 0; j < n; j++)
            dh[j] += dy[j * positions + t];
        oracle_lstm_back(&l, t, layer->x, dh, dc, dx);
    }
    free(dh);
    free(dc);
    free(l.gates);
    free(l.c);
    free(l.h);
}

/* One head of attention: query, key and value of width numbers at each position, channel
 * by channel. */
struct oracle_head {
    const double *q, *k, *v;
    double *dq, *dk, *dv; /* unused in a forward pass */
    size_t positions, own, width;
};

static inline double oracle_at(const double *x, size_t c, size_t t, size_t positions)
{
    return x[c * positions + t];
}

/* shares (own) = the softmax of the scores of position t. */
static inline void oracle_shares(const struct oracle_head *head, size_t t,
                                 double *shares)
{
    double sum = 0.0;
    for (size_t s = 0; s < head->own; s++) {
        double score = 0.0;
        for (size_t c = 0; c < head->width; c++)
            score += oracle_at(head->q, c, t, head->positions) *
                     oracle_at(head->k, c, s, head->positions);
        shares[s] = exp(score / sqrt((double)head->width));
        sum += shares[s];
    }
    for (size_t s = 0; s < head->own; s++)
        shares[s] /= sum;
}

/* The derivatives that output c of position t, whose own is dy, adds: by the quotient
 * rule, the derivative of a share in its own score is p (1 - p), in another -p p'. */
static inline void oracle_head_back(const struct oracle_head *head, size_t t, size_t c,
                                    const double *shares, double dy)
{
    size_t positions = head->positions;
    double root = sqrt((double)head->width);
    for (size_t s = 0; s < head->own; s++) {
        double ds = 0.0;
        head->dv[c * positions + s] += shares[s] * dy;
        for (size_t r = 0; r < head->own; r++)
            ds += dy * oracle_at(head->v, c, r, positions) * shares[r] *
                  ((r == s ? 1.0 : 0.0) - shares[s]);
        for (size_t j = 0; j < head->width; j++) {
            head->dq[j * positions + t] +=
                ds * oracle_at(head->k, j, s, positions) / root;
            head->dk[j * positions + s] +=
                ds * oracle_at(head->q, j, t, positions) / root;
        }
    }
}

/* y = the head's attention, or adds to its derivatives if dy is not NULL. */
static inline void oracle_head(const struct oracle_head *head, double *y,
                               const double *dy)
{
    double *shares = calloc(head->positions, sizeof *shares);
    for (size_t t = 0; t < head->positions; t++) {
        oracle_shares(head, t, shares);
        for (size_t c = 0; c < head->width; c++) {
            size_t at = c * head->positions + t;
            for (size_t s = 0; s < head->own && dy == NULL; s++)
                y[at] += shares[s] * oracle_at(head->v, c, s, head->positions);
            if (dy != NULL)
                oracle_head_back(head, t, c, shares, dy[at]);
        }
    }
    free(shares);
}

/* All heads of a layer; ends and d_ends: q, then k, then v. */
static inline void oracle_heads(const struct oracle *oracle, struct oracle_layer *layer,
                                const double *dy, double *d_ends)
{
    size_t size = layer->out.c * layer->out.h, heads = layer->spec->groups;
    struct oracle_head head = {.positions = layer->out.h,
                               .own = oracle_tokens(oracle->record),
                               .width = layer->out.c / heads};
    for (size_t h = 0; h < heads; h++) {
        size_t first = h * head.width * head.positions;
        head.q = layer->ends + first;
        head.k = head.q + size;
        head.v = head.k + size;
        if (dy != NULL) {
            head.dq = d_ends + first;
            head.dk = head.dq + size;
            head.dv = head.dk + size;
        }
        oracle_head(&head, layer->y + first, dy != NULL ? dy + first : NULL);
    }
}

/* dy and dx are NULL in a forward pass. */
static inline void oracle_sequence(struct oracle *oracle, struct oracle_layer *layer,
                                   const double *dy, double *dx)
{
    enum oracle_kind kind = oracle_kind(layer->spec);
    if (kind == ORACLE_TAKE || kind == ORACLE_TAKE_LAST || kind == ORACLE_TAKE_MEAN)
        oracle_take(oracle, layer, dy, dx);
    else if (kind == ORACLE_LSTM)
        oracle_lstm(oracle, layer, dy, dx);
    else
        oracle_table(oracle, layer, dy, dx);
}

#endif
