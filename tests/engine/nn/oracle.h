/*
 * oracle.h - the network layer written once more, naively: loops over single numbers,
 * double precision, one record at a time, explicit gradients, images channel by channel
 * and parameters as PyTorch's files have them. Shares no code with engine/nn but the
 * description of a model. Include after tests/expect.h.
 */
#ifndef TESTS_ENGINE_NN_ORACLE_H
#define TESTS_ENGINE_NN_ORACLE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/nn/model_spec.h"

enum { ORACLE_LAYERS_MAX = 32, ORACLE_WIDTH_MAX = 16384 };

struct oracle_record {
    const float *features;
    size_t feature_count;
    uint32_t class_index; /* softmax cross-entropy, logistic */
    double value;         /* squared */
};

/* c channels of h x w; a vector is c x 1 x 1. */
struct oracle_shape {
    size_t c, h, w;
};

struct oracle_layer {
    const struct layer_spec *spec;
    struct oracle_shape in, out;
    size_t at; /* first parameter */
    double *x, *y;
};

struct oracle {
    const struct model_spec *model;
    const double *parameters;
    double *gradient; /* or NULL */
    size_t next;      /* parameter */
    struct oracle_layer layers[ORACLE_LAYERS_MAX];
};

static inline size_t oracle_size(struct oracle_shape s)
{
    return s.c * s.h * s.w;
}

static inline size_t oracle_out(size_t in, size_t kernel, const struct layer_spec *spec)
{
    size_t dilation = spec->kind == LAYER_CONV2D ? spec->dilation : 1;
    return (in + 2 * spec->padding - dilation * (kernel - 1) - 1) / spec->stride + 1;
}

/* A dense layer takes the whole of the record, of a vector, and of what was flattened;
 * of an image it takes each pixel. */
static inline bool oracle_pixelwise(const struct model_spec *model, size_t l,
                                    struct oracle_shape in)
{
    bool is_record = true;
    for (size_t k = 0; k < l; k++)
        if (model->layers[k].kind == LAYER_FLATTEN)
            return false;
        else
            is_record = false;
    return !is_record && in.h * in.w > 1;
}

static inline struct oracle_shape oracle_shape_out(const struct model_spec *model,
                                                   size_t l, struct oracle_shape in)
{
    const struct layer_spec *spec = &model->layers[l];
    switch (spec->kind) {
    case LAYER_DENSE:
        if (oracle_pixelwise(model, l, in))
            return (struct oracle_shape){spec->out, in.h, in.w};
        return (struct oracle_shape){spec->out, 1, 1};
    case LAYER_RELU:
    case LAYER_TANH: return in;
    case LAYER_CONV2D:
        return (struct oracle_shape){spec->out,
                                     oracle_out(in.h, spec->kernel_height, spec),
                                     oracle_out(in.w, spec->kernel_width, spec)};
    case LAYER_MAX_POOL2D:
    case LAYER_AVG_POOL2D:
        return (struct oracle_shape){in.c, oracle_out(in.h, spec->kernel_height, spec),
                                     oracle_out(in.w, spec->kernel_width, spec)};
    case LAYER_GLOBAL_AVG_POOL: return (struct oracle_shape){in.c, 1, 1};
    case LAYER_FLATTEN: return (struct oracle_shape){oracle_size(in), 1, 1};
    case LAYER_REPLICATE: return (struct oracle_shape){spec->out * in.c, in.h, in.w};
    }
    return in;
}

static inline size_t oracle_layer_parameters(const struct model_spec *model, size_t l,
                                             struct oracle_shape in)
{
    const struct layer_spec *spec = &model->layers[l];
    size_t bias = spec->bias ? spec->out : 0;
    if (spec->kind == LAYER_DENSE)
        return bias +
               spec->out * (oracle_pixelwise(model, l, in) ? in.c : oracle_size(in));
    if (spec->kind == LAYER_CONV2D)
        return bias + spec->out * in.c * spec->kernel_height * spec->kernel_width;
    return 0;
}

static inline struct oracle_shape oracle_start(const struct model_spec *model,
                                               size_t features)
{
    struct oracle_shape shape = {model->input.channels, model->input.height,
                                 model->input.width};
    return shape.c > 0 ? shape : (struct oracle_shape){features, 1, 1};
}

static inline size_t oracle_parameters(const struct model_spec *model, size_t features)
{
    struct oracle_shape shape = oracle_start(model, features);
    size_t count = 0;
    for (size_t l = 0; l < model->layer_count; l++) {
        count += oracle_layer_parameters(model, l, shape);
        shape = oracle_shape_out(model, l, shape);
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

/* Each of the products of a dense layer or a convolution: output o at pixel (y, x) of
 * out, input i of in, weight w; back is false on the way forward. */
static inline void oracle_products(struct oracle *oracle, struct oracle_layer *layer,
                                   const double *dy, double *dx)
{
    const struct layer_spec *spec = layer->spec;
    bool conv = spec->kind == LAYER_CONV2D;
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

/* Pooling: dy and dx are NULL on the way forward. */
static inline void oracle_pool(struct oracle_layer *layer, const double *dy, double *dx)
{
    const struct layer_spec *spec = layer->spec;
    struct oracle_shape in = layer->in, out = layer->out;
    bool global = spec->kind == LAYER_GLOBAL_AVG_POOL;
    bool greatest = spec->kind == LAYER_MAX_POOL2D;
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

static inline double oracle_activation(enum layer_kind kind, double z, bool slope)
{
    if (kind == LAYER_TANH)
        return slope ? 1.0 - tanh(z) * tanh(z) : tanh(z);
    return slope ? (z > 0.0 ? 1.0 : 0.0) : (z > 0.0 ? z : 0.0);
}

static inline void oracle_forward(struct oracle *oracle, struct oracle_layer *layer)
{
    size_t size = oracle_size(layer->in);
    switch (layer->spec->kind) {
    case LAYER_DENSE:
    case LAYER_CONV2D: oracle_products(oracle, layer, NULL, NULL); break;
    case LAYER_RELU:
    case LAYER_TANH:
        for (size_t j = 0; j < size; j++)
            layer->y[j] = oracle_activation(layer->spec->kind, layer->x[j], false);
        break;
    case LAYER_MAX_POOL2D:
    case LAYER_AVG_POOL2D:
    case LAYER_GLOBAL_AVG_POOL: oracle_pool(layer, NULL, NULL); break;
    case LAYER_FLATTEN: memcpy(layer->y, layer->x, size * sizeof *layer->x); break;
    case LAYER_REPLICATE:
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
    switch (layer->spec->kind) {
    case LAYER_DENSE:
    case LAYER_CONV2D: oracle_products(oracle, layer, dy, dx); break;
    case LAYER_RELU:
    case LAYER_TANH:
        for (size_t j = 0; j < size; j++)
            dx[j] = dy[j] * oracle_activation(layer->spec->kind, layer->x[j], true);
        break;
    case LAYER_MAX_POOL2D:
    case LAYER_AVG_POOL2D:
    case LAYER_GLOBAL_AVG_POOL: oracle_pool(layer, dy, dx); break;
    case LAYER_FLATTEN: memcpy(dx, dy, size * sizeof *dx); break;
    case LAYER_REPLICATE: break; /* of the record itself */
    }
}

/* The values between the layers: values[l] goes into layer l. */
static inline double **oracle_run(struct oracle *oracle,
                                  const struct oracle_record *record)
{
    const struct model_spec *model = oracle->model;
    struct oracle_shape shape = oracle_start(model, record->feature_count);
    double **values = calloc(model->layer_count + 1, sizeof *values);
    assert_true(model->layer_count <= ORACLE_LAYERS_MAX);
    values[0] = calloc(record->feature_count, sizeof **values);
    for (size_t i = 0; i < record->feature_count; i++)
        values[0][i] = (double)record->features[i];
    for (size_t l = 0; l < model->layer_count; l++) {
        struct oracle_layer *layer = &oracle->layers[l];
        *layer = (struct oracle_layer){.spec = &model->layers[l],
                                       .in = shape,
                                       .out = oracle_shape_out(model, l, shape),
                                       .at = oracle->next,
                                       .x = values[l]};
        layer->y = values[l + 1] = calloc(oracle_size(layer->out), sizeof *layer->y);
        oracle->next += oracle_layer_parameters(model, l, shape);
        oracle_forward(oracle, layer);
        shape = layer->out;
    }
    return values;
}

/* Returns the record's loss; gradient (oracle_parameters) is written unless it is NULL,
 * and outputs (of the last layer) unless that is NULL. */
static inline double oracle_evaluate(const struct model_spec *model,
                                     const double *parameters,
                                     const struct oracle_record *record,
                                     double *gradient, double *outputs)
{
    struct oracle oracle = {
        .model = model, .parameters = parameters, .gradient = gradient};
    size_t count = model->layer_count;
    double **values = oracle_run(&oracle, record);
    size_t width = oracle_size(oracle.layers[count - 1].out);
    double *dy = calloc(width, sizeof *dy);
    double loss = oracle_loss(model->loss, values[count], dy, width, record);

    if (outputs != NULL)
        memcpy(outputs, values[count], width * sizeof *outputs);
    if (gradient != NULL)
        memset(gradient, 0, oracle.next * sizeof *gradient);
    for (size_t l = count; gradient != NULL && l-- > 0;) {
        double *dx = calloc(oracle_size(oracle.layers[l].in), sizeof *dx);
        oracle_backward(&oracle, &oracle.layers[l], dy, dx);
        free(dy);
        dy = dx;
    }
    free(dy);
    for (size_t l = 0; l <= count; l++)
        free(values[l]);
    free(values);
    return loss;
}

#endif
