#include "engine/nn/positions.h"

#include <math.h>
#include <string.h>
#include <cblas.h>

#include "engine/nn/per_example_gradients.h"
#include "engine/parallel/vector_math.h"

/* Gram is the faster form up to these r = T (d + p) / (p d), as its products are in
 * double; the limit on T bounds its scratch (README.md). */
static const double gram_short = 0.45, gram_long = 0.75;
enum { GRAM_SHORT = 64, GRAM_LONGEST = 256 };

/* A gradient is stored where it has up to so many times the floats that its layer stores
 * anyway. It takes the place of a product in double, and needs neither spread nor more
 * terms than records (README.md). */
static const double per_example_ratio = 3.0;

/* How many rows a product has: enough to repay packing the weights, and few enough to
 * stay in cache. One record is a product of its own where that is as fast, so that its
 * rounding does not depend on its place even where rows round unlike (README.md). */
enum {
    ROWS_FEW = 256,
    ROWS_MANY = 512,
    SINGLE_LEAST = 24,
    SINGLE_ALWAYS = 128,
    RECORDS_STEP = 16,
    CHUNK_FLOATS = 1 << 19
};
static const double small_product = 1e6; /* OpenBLAS packs nothing up to this size */

static size_t positions(const struct position_layer *layer)
{
    return window_positions(&layer->window);
}

static size_t image_floats(const struct position_layer *layer)
{
    const struct image *image = &layer->window.image;
    return image->height * image->width * image->channels;
}

/* Whether the unfolded rows are the image itself. */
static bool is_plain(const struct position_layer *layer)
{
    const struct window *window = &layer->window;
    return window_taps(window) == 1 && window->stride == 1 && window->top == 0 &&
           window->left == 0 &&
           window_positions(window) == window->image.height * window->image.width;
}

size_t positions_of_unit(const struct position_layer *layer)
{
    return positions(layer) * (layer->unit_rows > 1 ? layer->unit_rows : 1);
}

static enum norm_form choose_form(const struct position_layer *layer)
{
    double t = (double)positions_of_unit(layer), d = (double)layer->rows.inputs;
    double p = (double)layer->rows.outputs, r = t * (d + p) / (p * d);
    double stored = (double)positions(layer) * p + (double)image_floats(layer);

    if (p * d <= per_example_ratio * stored)
        return NORM_PER_EXAMPLE;
    if (t <= GRAM_SHORT ? r <= gram_short : r <= gram_long && t <= GRAM_LONGEST)
        return NORM_GRAM;
    return NORM_EXPLICIT;
}

void positions_plan(struct position_layer *layer)
{
    layer->first = window_trim(&layer->window);
    layer->rows.inputs = window_taps(&layer->window) * layer->window.image.channels;
    layer->form = choose_form(layer);
}

static size_t tensor_channels(const struct position_layer *layer)
{
    return layer->window.image.channels * layer->copies;
}

size_t positions_row_floats(const struct position_layer *layer)
{
    return layer->kernel_height * layer->kernel_width * tensor_channels(layer);
}

/* records_of gives how many records of a block one product takes; where a record takes
 * several products, chunk_of gives how many positions each has. */
static size_t records_of(const struct position_layer *layer, size_t block)
{
    size_t t = positions(layer), records = 1;
    double products =
        (double)t * (double)layer->rows.inputs * (double)layer->rows.outputs;

    if (block % RECORDS_STEP != 0 || t >= SINGLE_ALWAYS ||
        (t >= SINGLE_LEAST && products <= small_product))
        return 1;
    while (records < RECORDS_STEP && records * t < ROWS_FEW)
        records *= 2;
    for (size_t more = 2 * RECORDS_STEP; more <= block && more * t <= ROWS_MANY;
         more += RECORDS_STEP)
        if (block % more == 0 && records >= RECORDS_STEP)
            records = more;
    return records;
}

static size_t chunk_of(const struct position_layer *layer)
{
    size_t most = CHUNK_FLOATS / rows_stride(layer->rows.inputs) / 16 * 16;
    most = most < ROWS_FEW ? ROWS_FEW : most;
    return positions(layer) < most ? positions(layer) : most;
}

size_t positions_unfolded(const struct position_layer *layer)
{
    size_t single = chunk_of(layer);
    size_t rows = positions(layer) < SINGLE_ALWAYS ? ROWS_MANY : single;
    return (rows > single ? rows : single) * rows_stride(layer->rows.inputs);
}

size_t positions_gathered(const struct position_layer *layer)
{
    size_t all = positions_row_floats(layer);
    return all == layer->rows.inputs ? 0 : layer->rows.outputs * layer->rows.inputs;
}

/* Where the tap at (ky, kx) of the window stands in a row of the tensor. */
static size_t tap_offset(const struct position_layer *layer, size_t ky, size_t kx)
{
    return ((layer->first.y + ky) * layer->kernel_width + layer->first.x + kx) *
           tensor_channels(layer);
}

const float *positions_gather(const struct position_layer *layer,
                              const float *parameters, float *to)
{
    size_t channels = layer->window.image.channels, copies = layer->copies;
    const float *weight = parameters + layer->rows.weight;
    float *next = to;

    if (positions_gathered(layer) == 0)
        return weight;
    for (size_t o = 0; o < layer->rows.outputs;
         o++, weight += positions_row_floats(layer))
        for (size_t ky = 0; ky < layer->window.kernel_height; ky++)
            for (size_t kx = 0; kx < layer->window.kernel_width; kx++)
                for (size_t c = 0; c < channels; c++) {
                    const float *copy = weight + tap_offset(layer, ky, kx) + c * copies;
                    float sum = copy[0];
                    for (size_t k = 1; k < copies; k++)
                        sum += copy[k];
                    *next++ = sum;
                }
    return to;
}

void positions_scatter(const struct position_layer *layer, float *row,
                       const float *gathered)
{
    size_t channels = layer->window.image.channels, copies = layer->copies;

    memset(row, 0, positions_row_floats(layer) * sizeof *row);
    for (size_t ky = 0; ky < layer->window.kernel_height; ky++)
        for (size_t kx = 0; kx < layer->window.kernel_width; kx++)
            for (size_t c = 0; c < channels; c++, gathered++)
                for (size_t k = 0; k < copies; k++)
                    row[tap_offset(layer, ky, kx) + c * copies + k] = *gathered;
}

struct rows positions_unfold(const struct position_layer *layer, struct rows a,
                             struct position_step step, float *scratch)
{
    size_t channels = layer->window.image.channels;
    size_t stride = rows_stride(layer->rows.inputs);
    bool contiguous = step.records == 1 || a.stride == image_floats(layer);
    const float *image = a.data + step.record * a.stride;
    struct rows out = {scratch, stride, step.count};

    if (is_plain(layer) && contiguous)
        return (struct rows){a.data + step.record * a.stride + step.first * channels,
                             channels, step.records * step.count};
    for (size_t i = 0; i < step.records; i++, image += a.stride) {
        window_unfold(&layer->window, out, image, step.first);
        out.data += step.count * stride;
    }
    return (struct rows){scratch, stride, step.records * step.count};
}

bool positions_next(const struct position_layer *layer, struct position_step *step,
                    struct rows z)
{
    size_t all = positions(layer);
    bool contiguous = z.stride == all * layer->rows.outputs;
    size_t records = contiguous ? records_of(layer, z.count) : 1;
    size_t chunk = records > 1 ? all : chunk_of(layer);

    step->first += step->count;
    if (step->first == all) {
        step->first = 0;
        step->record += step->records;
    }
    step->records = records;
    step->count = all - step->first < chunk ? all - step->first : chunk;
    return step->record < z.count;
}

struct rows positions_outputs(const struct position_layer *layer, struct rows z,
                              struct position_step step)
{
    size_t outputs = layer->rows.outputs;
    return (struct rows){z.data + step.record * z.stride + step.first * outputs,
                         outputs, step.records * step.count};
}

void positions_forward(const struct position_pass *pass, struct rows z, struct rows a)
{
    const struct position_layer *layer = pass->layer;
    size_t inputs = layer->rows.inputs, outputs = layer->rows.outputs;
    struct position_step step = {0};

    while (positions_next(layer, &step, z)) {
        struct rows u = positions_unfold(layer, a, step, pass->scratch);
        struct rows out = positions_outputs(layer, z, step);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)u.count,
                    (blasint)outputs, (blasint)inputs, 1.0F, u.data, (blasint)u.stride,
                    pass->weights, (blasint)inputs, pass->adds ? 1.0F : 0.0F, out.data,
                    (blasint)out.stride);
        if (pass->bias != NULL)
            rows_add(out, pass->bias, outputs);
    }
}

void positions_backward(const struct position_pass *pass, struct rows da, struct rows b)
{
    const struct position_layer *layer = pass->layer;
    size_t inputs = layer->rows.inputs, outputs = layer->rows.outputs;
    struct position_step step = {0};

    for (size_t i = 0; i < da.count && !pass->adds; i++)
        memset(da.data + i * da.stride, 0, da.stride * sizeof *da.data);
    while (positions_next(layer, &step, b)) {
        struct rows in = positions_outputs(layer, b, step);
        struct rows du = {pass->scratch, rows_stride(inputs), step.count};
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)in.count,
                    (blasint)inputs, (blasint)outputs, 1.0F, in.data,
                    (blasint)in.stride, pass->weights, (blasint)inputs, 0.0F, du.data,
                    (blasint)du.stride);
        for (size_t i = 0; i < step.records; i++, du.data += du.count * du.stride)
            window_fold(&layer->window, da.data + (step.record + i) * da.stride, du,
                        step.first);
    }
}
