/*
 * network_oracle.h - a second, simple implementation of networks: loops over single
 * numbers, double precision, one record at a time, explicit gradients, images channel
 * by channel and parameters in the order of PyTorch's files. It shares only the
 * description of a model with engine/nn. Include after tests/expect.h.
 */
#ifndef TESTS_ENGINE_NN_NETWORK_ORACLE_H
#define TESTS_ENGINE_NN_NETWORK_ORACLE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "tests/engine/nn/column_oracle.h"
#include "tests/engine/nn/oracle_state.h"
#include "tests/engine/nn/scatter_oracle.h"
#include "tests/engine/nn/sequence_oracle.h"
#include "tests/engine/nn/shapes_oracle.h"

/* Loss at outputs z, and its derivative dz. */
static inline double oracle_loss(const struct model_spec *model, const double *z,
                                 double *dz, size_t width,
                                 const struct oracle_record *record)
{
    double sum = 0.0, delta = model->huber_delta;
    switch (model->loss) {
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
    case LOSS_HUBER:
        sum = z[0] - record->value;
        dz[0] = fmax(-delta, fmin(delta, sum));
        return fabs(sum) > delta ? delta * fabs(sum) - 0.5 * delta * delta
                                 : 0.5 * sum * sum;
    }
    return NAN;
}

/* Computes all products of a dense layer or a convolution: output o at pixel (y, x) of
 * out, input i of in, weight w. back is false in a forward pass. */
static inline void oracle_products(struct oracle *oracle, struct oracle_layer *layer,
                                   const double *dy, double *dx)
{
    const struct layer_spec *spec = layer->spec;
    bool conv = oracle_kind(spec) == ORACLE_CONV2D;
    size_t l = (size_t)(spec - oracle->model->layers);
    bool pixels = conv || oracle_pixelwise(oracle->model, l, layer->in);
    struct oracle_shape in = layer->in, out = layer->out;
    if (!pixels)
        in = (struct oracle_shape){oracle_size(in), 1, 1};
    size_t kh = conv ? spec->kernel_height : 1, kw = conv ? spec->kernel_width : 1;
    size_t stride = conv ? spec->stride : 1, dilation = conv ? spec->dilation : 1;
    size_t bias = layer->at + out.c * in.c * kh * kw;
    ptrdiff_t padding = conv ? (ptrdiff_t)spec->padding : 0;

    for (size_t o = 0; o < out.c; o++)
        for (size_t y = 0; y < out.h; y++)
            for (size_t x = 0; x < out.w; x++) {
                size_t at = (o * out.h + y) * out.w + x;
                if (dy == NULL)
                    layer->y[at] = spec->bias ? oracle->parameters[bias + o] : 0.0;
                else if (spec->bias)
                    oracle->gradient[bias + o] += dy[at];
                for (size_t c = 0; c < in.c; c++)
                    for (size_t ky = 0; ky < kh; ky++)
                        for (size_t kx = 0; kx < kw; kx++) {
                            ptrdiff_t iy =
                                (ptrdiff_t)(y * stride + ky * dilation) - padding;
                            ptrdiff_t ix =
                                (ptrdiff_t)(x * stride + kx * dilation) - padding;
                            if (iy < 0 || iy >= (ptrdiff_t)in.h || ix < 0 ||
                                ix >= (ptrdiff_t)in.w)
                                continue;
                            size_t from = (c * in.h + (size_t)iy) * in.w + (size_t)ix;
                            size_t w = layer->at + ((o * in.c + c) * kh + ky) * kw + kx;
                            if (dy == NULL) {
                                layer->y[at] += oracle->parameters[w] * layer->x[from];
                                continue;
                            }
                            oracle->gradient[w] += dy[at] * layer->x[from];
                            dx[from] += dy[at] * oracle->parameters[w];
                        }
            }
}

/* Pooling; dy and dx are NULL in a forward pass. */
static inline void oracle_pool(struct oracle_layer *layer, const double *dy, double *dx)
{
    const struct layer_spec *spec = layer->spec;
    struct oracle_shape in = layer->in, out = layer->out;
    bool global = oracle_kind(spec) == ORACLE_GLOBAL_AVG_POOL;
    bool greatest = oracle_kind(spec) == ORACLE_MAX_POOL2D;
    size_t kh = global ? in.h : spec->kernel_height, stride = global ? 1 : spec->stride;
    size_t kw = global ? in.w : spec->kernel_width;
    ptrdiff_t padding = (ptrdiff_t)spec->padding;

    for (size_t at = 0; at < oracle_size(out); at++) {
        size_t c = at / (out.h * out.w), y = at / out.w % out.h, x = at % out.w;
        double best = -INFINITY, sum = 0.0;
        size_t best_at = SIZE_MAX;
        for (size_t k = 0; k < kh * kw; k++) {
            ptrdiff_t iy = (ptrdiff_t)(y * stride + k / kw) - padding;
            ptrdiff_t ix = (ptrdiff_t)(x * stride + k % kw) - padding;
            if (iy < 0 || iy >= (ptrdiff_t)in.h || ix < 0 || ix >= (ptrdiff_t)in.w)
                continue;
            size_t from = (c * in.h + (size_t)iy) * in.w + (size_t)ix;
            sum += layer->x[from];
            if (layer->x[from] > best)
                best = layer->x[from], best_at = from;
            if (dy != NULL && !greatest)
                dx[from] += dy[at] / (double)(kh * kw);
        }
        if (dy == NULL)
            layer->y[at] = greatest ? best : sum / (double)(kh * kw);
        else if (greatest)
            dx[best_at] += dy[at];
    }
}

static inline double oracle_activation(enum oracle_kind kind, double z, bool slope)
{
    double logistic = 1.0 / (1.0 + exp(-z));
    if (kind == ORACLE_SIGMOID)
        return slope ? logistic * (1.0 - logistic) : logistic;
    if (kind == ORACLE_SOFTPLUS)
        return slope ? logistic : log1p(exp(z));
    if (kind == ORACLE_GELU) {
        double below = 0.5 * (1.0 + erf(z / sqrt(2.0)));
        return slope ? below + z * exp(-0.5 * z * z) / sqrt(2.0 * M_PI) : z * below;
    }
    if (kind == ORACLE_GELU_TANH) {
        double t = tanh(sqrt(2.0 / M_PI) * (z + 0.044715 * z * z * z));
        double steep = sqrt(2.0 / M_PI) * (1.0 + 0.134145 * z * z);
        return slope ? 0.5 * (1.0 + t) + 0.5 * z * (1.0 - t * t) * steep
                     : 0.5 * z * (1.0 + t);
    }
    if (kind == ORACLE_TANH)
        return slope ? 1.0 - tanh(z) * tanh(z) : tanh(z);
    return slope ? (z > 0.0 ? 1.0 : 0.0) : (z > 0.0 ? z : 0.0);
}

/* Group norm from its formulas; dy and dx are NULL in a forward pass. The derivative of
 * x_j -> y_i is written out: (delta_ij - 1 / m - xh_i xh_j / m) r. */
static inline void oracle_group(struct oracle *oracle, struct oracle_layer *layer,
                                size_t g, const double *dy, double *dx)
{
    size_t pixels = layer->in.h * layer->in.w,
           width = layer->in.c / layer->spec->groups;
    size_t first = g * width * pixels, m = width * pixels;
    const double *x = layer->x + first;
    double mean = 0.0, variance = 0.0;
    for (size_t j = 0; j < m; j++)
        mean += x[j] / (double)m;
    for (size_t j = 0; j < m; j++)
        variance += (x[j] - mean) * (x[j] - mean) / (double)m;
    double r = 1.0 / sqrt(variance + layer->spec->epsilon);
    for (size_t i = 0; i < m; i++) {
        size_t c = (first + i) / pixels;
        double xh = (x[i] - mean) * r, gamma = oracle->parameters[layer->at + c];
        if (dy == NULL) {
            layer->y[first + i] =
                gamma * xh + oracle->parameters[layer->at + layer->in.c + c];
            continue;
        }
        oracle->gradient[layer->at + c] += dy[first + i] * xh;
        oracle->gradient[layer->at + layer->in.c + c] += dy[first + i];
        for (size_t j = 0; j < m; j++)
            dx[first + j] += dy[first + i] * gamma * r *
                             ((i == j ? 1.0 : 0.0) - 1.0 / (double)m -
                              xh * (x[j] - mean) * r / (double)m);
    }
}

/* Layer norm from its formulas, for the channels of pixel t of an image stored channel
 * by channel; dy and dx are NULL in a forward pass. */
static inline void oracle_position(struct oracle *oracle, struct oracle_layer *layer,
                                   size_t t, const double *dy, double *dx)
{
    size_t m = layer->in.c, pixels = layer->in.h * layer->in.w;
    const double *gamma = oracle->parameters + layer->at, *beta = gamma + m;
    double *d_gamma = oracle->gradient != NULL ? oracle->gradient + layer->at : NULL;
    double mean = 0.0, variance = 0.0;
    for (size_t c = 0; c < m; c++)
        mean += layer->x[c * pixels + t] / (double)m;
    for (size_t c = 0; c < m; c++)
        variance += pow(layer->x[c * pixels + t] - mean, 2) / (double)m;
    double deviation = sqrt(variance + layer->spec->epsilon);
    for (size_t i = 0; i < m; i++) {
        size_t at = i * pixels + t;
        double xh = (layer->x[at] - mean) / deviation;
        if (dy == NULL) {
            layer->y[at] = gamma[i] * xh + beta[i];
            continue;
        }
        d_gamma[i] += dy[at] * xh;
        d_gamma[m + i] += dy[at];
        /* d xh_i / d x_j */
        for (size_t j = 0; j < m; j++) {
            double other = (layer->x[j * pixels + t] - mean) / deviation;
            double own = i == j ? 1.0 : 0.0;
            dx[j * pixels + t] +=
                dy[at] * gamma[i] * (own - (1.0 + xh * other) / (double)m) / deviation;
        }
    }
}

/* engine/nn has channels last: value j of channel c takes the word at its place in that
 * order. */
static inline void oracle_draw_mask(struct oracle *oracle, struct oracle_layer *layer)
{
    const struct oracle_record *record = oracle->record;
    size_t pixels = layer->in.h * layer->in.w, size = oracle_size(layer->in);
    uint64_t nonce = (uint64_t)oracle->drops++ << 32 | record->index;
    uint32_t *words = calloc(size, sizeof *words);
    struct stream *stream = stream_create();
    layer->mask = calloc(size, sizeof *layer->mask);
    if (record->drop_key != NULL)
        stream_read(stream, words, size * sizeof *words,
                    &(struct stream_position){.key = record->drop_key, .nonce = nonce});
    for (size_t j = 0; j < size; j++) {
        uint32_t word = words[j % pixels * layer->in.c + j / pixels];
        bool dropped = (double)word < floor(layer->spec->rate * 4294967296.0);
        layer->mask[j] = record->drop_key == NULL ? 1.0
                         : dropped                ? 0.0
                                                  : 1.0 / (1.0 - layer->spec->rate);
    }
    stream_destroy(stream);
    free(words);
}

/* Transforms each channel separately and writes the maps of one channel after those of
 * another. Filters and the latest maps are kept for each size of image and are never
 * freed. */
static inline void oracle_scatter(struct oracle_layer *layer)
{
    static struct scatter_oracle made[4];
    size_t pixels = layer->in.h * layer->in.w, k = 0;
    size_t out = SCATTER_ORACLE_MAPS * layer->out.h * layer->out.w;
    while (made[k].height != 0 &&
           (made[k].height != layer->in.h + 8 || made[k].width != layer->in.w + 8))
        assert_true(++k < sizeof made / sizeof *made);
    if (made[k].height == 0)
        scatter_oracle_init(&made[k], layer->in.h, layer->in.w);
    for (size_t t = 0; t < oracle_size(layer->in); t++)
        layer->x[t] -= (double)(float)layer->spec->centre;
    for (size_t c = 0; c < layer->in.c; c++)
        scatter_oracle_maps(&made[k], layer->y + c * out, layer->x + c * pixels);
}

static inline void oracle_forward_list(struct oracle *oracle, size_t first,
                                       size_t count, struct oracle_shape shape,
                                       double *x, double *y);
static inline double *oracle_backward_list(struct oracle *oracle, size_t first,
                                           size_t count, double *dy);

/* y = body(x) + shortcut(x) */
static inline void oracle_branches(struct oracle *oracle, struct oracle_layer *layer)
{
    size_t l = (size_t)(layer->spec - oracle->model->layers);
    size_t size = oracle_size(layer->out);
    double *other = calloc(size, sizeof *other);
    oracle_forward_list(oracle, l + 1, layer->spec->body, layer->in, layer->x,
                        layer->y);
    oracle_forward_list(oracle, l + 1 + layer->spec->body, layer->spec->shortcut,
                        layer->in, layer->x, other);
    for (size_t j = 0; j < size; j++)
        layer->y[j] += other[j];
    free(other);
}

static inline void oracle_branches_back(struct oracle *oracle,
                                        struct oracle_layer *layer, const double *dy,
                                        double *dx)
{
    size_t l = (size_t)(layer->spec - oracle->model->layers);
    size_t firsts[] = {l + 1, l + 1 + layer->spec->body};
    size_t counts[] = {layer->spec->body, layer->spec->shortcut};
    for (int k = 0; k < 2; k++) {
        double *own = calloc(oracle_size(layer->out), sizeof *own);
        memcpy(own, dy, oracle_size(layer->out) * sizeof *own);
        own = oracle_backward_list(oracle, firsts[k], counts[k], own);
        for (size_t j = 0; j < oracle_size(layer->in); j++)
            dx[j] += own[j];
        free(own);
    }
}

enum { ORACLE_ENDS = 3 }; /* branches of attention */

static inline void oracle_attention(struct oracle *oracle, struct oracle_layer *layer)
{
    const struct layer_spec *spec = layer->spec;
    size_t l = (size_t)(spec - oracle->model->layers) + 1;
    size_t counts[ORACLE_ENDS] = {spec->body, spec->shortcut, spec->third};
    size_t size = oracle_size(layer->out);
    layer->ends = calloc(ORACLE_ENDS * size, sizeof *layer->ends);
    for (size_t k = 0; k < ORACLE_ENDS; l += counts[k++])
        oracle_forward_list(oracle, l, counts[k], layer->in, layer->x,
                            layer->ends + k * size);
    oracle_heads(oracle, layer, NULL, NULL);
}

static inline void oracle_attention_back(struct oracle *oracle,
                                         struct oracle_layer *layer, const double *dy,
                                         double *dx)
{
    const struct layer_spec *spec = layer->spec;
    size_t l = (size_t)(spec - oracle->model->layers) + 1;
    size_t counts[ORACLE_ENDS] = {spec->body, spec->shortcut, spec->third};
    size_t size = oracle_size(layer->out);
    double *d_ends = calloc(ORACLE_ENDS * size, sizeof *d_ends);
    oracle_heads(oracle, layer, dy, d_ends);
    for (size_t k = 0; k < ORACLE_ENDS; l += counts[k++]) {
        double *own = calloc(size, sizeof *own);
        memcpy(own, d_ends + k * size, size * sizeof *own);
        own = oracle_backward_list(oracle, l, counts[k], own);
        for (size_t j = 0; j < oracle_size(layer->in); j++)
            dx[j] += own[j];
        free(own);
    }
    free(d_ends);
}

static inline void oracle_forward(struct oracle *oracle, struct oracle_layer *layer)
{
    size_t size = oracle_size(layer->in);
    switch (oracle_kind(layer->spec)) {
    case ORACLE_DENSE:
    case ORACLE_CONV2D: oracle_products(oracle, layer, NULL, NULL); break;
    case ORACLE_RELU:
    case ORACLE_TANH:
    case ORACLE_SIGMOID:
    case ORACLE_SOFTPLUS:
    case ORACLE_GELU:
    case ORACLE_GELU_TANH:
        for (size_t j = 0; j < size; j++)
            layer->y[j] =
                oracle_activation(oracle_kind(layer->spec), layer->x[j], false);
        break;
    case ORACLE_MAX_POOL2D:
    case ORACLE_AVG_POOL2D:
    case ORACLE_GLOBAL_AVG_POOL: oracle_pool(layer, NULL, NULL); break;
    case ORACLE_FLATTEN: memcpy(layer->y, layer->x, size * sizeof *layer->x); break;
    case ORACLE_GROUP_NORM:
        for (size_t g = 0; g < layer->spec->groups; g++)
            oracle_group(oracle, layer, g, NULL, NULL);
        break;
    case ORACLE_LAYER_NORM:
        for (size_t t = 0; t < layer->in.h * layer->in.w; t++)
            oracle_position(oracle, layer, t, NULL, NULL);
        break;
    case ORACLE_DROPOUT:
        oracle_draw_mask(oracle, layer);
        for (size_t j = 0; j < size; j++)
            layer->y[j] = layer->x[j] * layer->mask[j];
        break;
    case ORACLE_RESIDUAL: oracle_branches(oracle, layer); break;
    case ORACLE_ATTENTION: oracle_attention(oracle, layer); break;
    case ORACLE_SCATTER: oracle_scatter(layer); break;
    case ORACLE_EMBEDDING:
    case ORACLE_POSITION:
    case ORACLE_TOKEN_TYPE:
    case ORACLE_TAKE:
    case ORACLE_TAKE_LAST:
    case ORACLE_TAKE_MEAN:
    case ORACLE_LSTM: oracle_sequence(oracle, layer, NULL, NULL); break;
    case ORACLE_EMBED_COLUMNS: oracle_embed_columns(oracle, layer, NULL); break;
    case ORACLE_CROP:
        for (size_t j = 0; j < oracle_size(layer->out); j++) {
            size_t side = layer->spec->out, top = (layer->in.h - side) / 2;
            size_t y = j / side % side + top, c = j / (side * side);
            size_t x = j % side + (layer->in.w - side) / 2;
            layer->y[j] = layer->x[(c * layer->in.h + y) * layer->in.w + x];
        }
        break;
    case ORACLE_REPLICATE:
        for (size_t k = 0; k < layer->spec->out; k++)
            memcpy(layer->y + k * size, layer->x, size * sizeof *layer->x);
        break;
    }
}

/* dx starts as zeros. */
static inline void oracle_backward(struct oracle *oracle, struct oracle_layer *layer,
                                   const double *dy, double *dx)
{
    size_t size = oracle_size(layer->in);
    switch (oracle_kind(layer->spec)) {
    case ORACLE_DENSE:
    case ORACLE_CONV2D: oracle_products(oracle, layer, dy, dx); break;
    case ORACLE_RELU:
    case ORACLE_TANH:
    case ORACLE_SIGMOID:
    case ORACLE_SOFTPLUS:
    case ORACLE_GELU:
    case ORACLE_GELU_TANH:
        for (size_t j = 0; j < size; j++)
            dx[j] =
                dy[j] * oracle_activation(oracle_kind(layer->spec), layer->x[j], true);
        break;
    case ORACLE_MAX_POOL2D:
    case ORACLE_AVG_POOL2D:
    case ORACLE_GLOBAL_AVG_POOL: oracle_pool(layer, dy, dx); break;
    case ORACLE_FLATTEN: memcpy(dx, dy, size * sizeof *dx); break;
    case ORACLE_GROUP_NORM:
        for (size_t g = 0; g < layer->spec->groups; g++)
            oracle_group(oracle, layer, g, dy, dx);
        break;
    case ORACLE_LAYER_NORM:
        for (size_t t = 0; t < layer->in.h * layer->in.w; t++)
            oracle_position(oracle, layer, t, dy, dx);
        break;
    case ORACLE_DROPOUT:
        for (size_t j = 0; j < size; j++)
            dx[j] = dy[j] * layer->mask[j];
        break;
    case ORACLE_RESIDUAL: oracle_branches_back(oracle, layer, dy, dx); break;
    case ORACLE_ATTENTION: oracle_attention_back(oracle, layer, dy, dx); break;
    case ORACLE_EMBEDDING:
    case ORACLE_POSITION:
    case ORACLE_TOKEN_TYPE:
    case ORACLE_TAKE:
    case ORACLE_TAKE_LAST:
    case ORACLE_TAKE_MEAN:
    case ORACLE_LSTM: oracle_sequence(oracle, layer, dy, dx); break;
    case ORACLE_EMBED_COLUMNS: oracle_embed_columns(oracle, layer, dy); break;
    case ORACLE_SCATTER: /* nothing before it has a gradient */
    case ORACLE_CROP:
    case ORACLE_REPLICATE: break; /* its input is the record itself */
    }
}

/* y = the layers [first, first + count) of x; each layer keeps copies of its own. */
static inline void oracle_forward_list(struct oracle *oracle, size_t first,
                                       size_t count, struct oracle_shape shape,
                                       double *x, double *y)
{
    const struct model_spec *model = oracle->model;
    for (size_t l = first; l < first + count; l += oracle_extent(&model->layers[l])) {
        struct oracle_layer *layer = &oracle->layers[l];
        *layer = (struct oracle_layer){.spec = &model->layers[l],
                                       .in = shape,
                                       .out = oracle_shape_out(model, l, shape),
                                       .at = oracle->next};
        layer->x = calloc(oracle_size(shape), sizeof *x);
        layer->y = calloc(oracle_size(layer->out), sizeof *y);
        memcpy(layer->x, x, oracle_size(shape) * sizeof *x);
        if (!oracle_has_branches(layer->spec)) /* which count their own */
            oracle->next += oracle_layer_parameters(model, l, shape);
        oracle_forward(oracle, layer);
        x = layer->y;
        shape = layer->out;
    }
    memcpy(y, x, oracle_size(shape) * sizeof *y);
}

/* Takes dy, returns dx. */
static inline double *oracle_backward_list(struct oracle *oracle, size_t first,
                                           size_t count, double *dy)
{
    const struct model_spec *model = oracle->model;
    size_t order[ORACLE_LAYERS_MAX], entries = 0;
    for (size_t l = first; l < first + count; l += oracle_extent(&model->layers[l]))
        order[entries++] = l;
    while (entries-- > 0) {
        struct oracle_layer *layer = &oracle->layers[order[entries]];
        double *dx = calloc(oracle_size(layer->in), sizeof *dx);
        oracle_backward(oracle, layer, dy, dx);
        free(dy);
        dy = dx;
    }
    return dy;
}

/* Returns the record's loss; gradient (oracle_parameters) is written unless it is NULL,
 * and outputs (of the last layer) unless that is NULL. */
static inline double oracle_evaluate(const struct model_spec *model,
                                     const double *parameters,
                                     const struct oracle_record *record,
                                     double *gradient, double *outputs)
{
    struct oracle oracle = {.model = model,
                            .record = record,
                            .parameters = parameters,
                            .gradient = gradient};
    struct oracle_shape in = oracle_start(model, record->feature_count);
    size_t count = model->layer_count;
    size_t width = oracle_size(oracle_shape_after(model, 0, count, in));
    double *x = calloc(record->feature_count, sizeof *x);
    double *z = calloc(width, sizeof *z), *dy = calloc(width, sizeof *dy), loss;

    assert_true(count <= ORACLE_LAYERS_MAX);
    for (size_t i = 0; i < record->feature_count; i++)
        x[i] = (double)record->features[i];
    oracle_forward_list(&oracle, 0, count, in, x, z);
    loss = oracle_loss(model, z, dy, width, record);
    if (outputs != NULL)
        memcpy(outputs, z, width * sizeof *outputs);
    if (gradient != NULL) {
        memset(gradient, 0, oracle.next * sizeof *gradient);
        dy = oracle_backward_list(&oracle, 0, count, dy);
    }
    for (size_t l = 0; l < count; l++) {
        free(oracle.layers[l].x);
        free(oracle.layers[l].y);
        free(oracle.layers[l].mask);
        free(oracle.layers[l].ends);
    }
    free(dy);
    free(x);
    free(z);
    return loss;
}

#endif
