#include "engine/nn/layers/channel_scale.h"

#include <math.h>
#include <string.h>

#include "engine/nn/node_work.h"
#include "engine/nn/translation.h"
#include "engine/nn/weight_work.h"
#include "engine/parallel/vector_math.h"

struct plan {
    struct channels channels;
    struct row_layer rows; /* gamma as a weight of one column, and beta */
};

VECTOR_CLONES
static void scale_and_shift(float *restrict y, const float *restrict xh,
                            const float *restrict gamma, const float *restrict beta,
                            struct channels of)
{
    for (size_t t = 0; t < of.positions; t++)
        for (size_t c = 0; c < of.channels; c++) {
            size_t at = t * of.channels + c;
            y[at] = gamma[c] * xh[at] + beta[c];
        }
}

static void forward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    const struct plan *plan = node->plan;
    struct rows y = activations_of(work, node->to),
                xh = activations_of(work, node->from);
    const float *gamma = work->parameters + plan->rows.weight;
    const float *beta = work->parameters + plan->rows.bias;

    for (size_t i = 0; i < y.count; i++)
        scale_and_shift(y.data + i * y.stride, xh.data + i * xh.stride, gamma, beta,
                        plan->channels);
}

/* Sums in double. */
static size_t scratch(const struct node *node)
{
    const struct plan *plan = node->plan;
    return 2 * rows_stride(plan->channels.channels);
}

static void narrow(float *to, const double *from, size_t count)
{
    for (size_t c = 0; c < count; c++)
        to[c] = (float)from[c];
}

/* Forms the gradients of gamma, if it is trained, then of beta, of each record. */
static void form_gradients(const struct node_work *work)
{
    const struct node *node = node_of(work);
    const struct channels of = ((const struct plan *)node->plan)->channels;
    bool bias_only = layer_of(work)->bias_only;
    struct rows gradients = per_example_at(work);
    struct rows dy = gradients_of(work, node->to),
                xh = activations_of(work, node->from);
    double *sums = (double *)(void *)work->workspace->node_scratch;

    for (size_t i = 0; i < gradients.count; i++) {
        const float *b = dy.data + i * dy.stride;
        float *to = gradients.data + i * gradients.stride;

        if (!bias_only) {
            channels_sum_products(sums, b, xh.data + i * xh.stride, of);
            narrow(to, sums, of.channels);
            to += of.channels;
        }
        channels_sum(sums, b, of);
        narrow(to, sums, of.channels);
    }
    reset_clip_factors(work);
}

static void backward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    const struct plan *plan = node->plan;
    struct rows q, dy = gradients_of(work, node->to);

    if (!layer_of(work)->frozen)
        form_gradients(work);
    if (!has_gradient(work, node->from))
        return;
    q = gradients_of(work, node->from);
    for (size_t i = 0; i < q.count; i++)
        channels_multiply(q.data + i * q.stride, dy.data + i * dy.stride,
                          work->parameters + plan->rows.weight, plan->channels);
}

/* Writes a unit's gradient, the sum of the gradients of its rows, to the first row, and
 * zeros to the other rows. */
static void gather_unit(struct rows unit, size_t width)
{
    for (size_t k = 1; k < unit.count; k++) {
        float *row = unit.data + k * unit.stride;
        for (size_t j = 0; j < width; j++)
            unit.data[j] += row[j];
        memset(row, 0, width * sizeof *row);
    }
}

/* Sums read the stored gradients, so the norm is that of the stored floats. */
static void measure(const struct weight_work *work, struct record_squares to,
                    const double *input_squares)
{
    struct rows gradients = per_example_of(work->workspace, work->layer);
    size_t width = weights_of(work)->per_example_floats;
    size_t unit = work->workspace->network->unit_rows;
    (void)input_squares;

    for (size_t i = 0; i < gradients.count; i += unit) {
        gather_unit(cut(gradients, (struct row_range){i, unit}), width);
        double square = floats_square(gradients.data + i * gradients.stride, width);
        to.squares[i] += square <= NORM_SQUARE_MAX ? square : (double)INFINITY;
        to.spreads[i] = to.squares[i];
    }
}

/* The gradients of gamma, if it is trained, come before those of beta. */
static void sum(const struct weight_work *work, const struct weight_tile *tile,
                struct row_range range, float *block)
{
    const struct weight_layer *layer = weights_of(work);
    size_t before_beta = layer->bias_only ? 0 : layer->rows->outputs;
    struct per_example_gradients gradients = per_example_rows(work, range);
    struct row_span span = {.row = tile->row + (tile->bias ? before_beta : 0),
                            .count = tile->rows};
    per_example_gradients_sum(&gradients, span, block);
}

static const struct weight_kind weights = {.measure = measure, .sum = sum};

static void onnx(const struct translation *t)
{
    const struct plan *plan = t->node->plan;
    struct channels of = plan->channels;
    struct onnx_image image = translation_channels(t, of.positions, of.channels);
    const struct onnx_dimensions shape = {of.positions > 1 ? 3 : 1,
                                          {of.channels, 1, 1}};
    const char *xh = onnx_value_as(t->graph, t->node->from, image);
    const struct onnx_inputs product = {
        {xh, translation_tensor(t, plan->rows.weight, shape)}};
    const struct onnx_inputs sum = {{onnx_node(t->graph, "Mul", product),
                                     translation_tensor(t, plan->rows.bias, shape)}};
    onnx_give(t->graph, t->node->to, onnx_node(t->graph, "Add", sum), image);
}

static const struct node_kind scale_node = {.plan_size = sizeof(struct plan),
                                            .unread = UNREAD_FROM | UNREAD_TO,
                                            .weights = &weights,
                                            .scratch = scratch,
                                            .forward = forward,
                                            .backward = backward,
                                            .onnx = onnx};

void channel_scale_build(struct builder *builder, struct channels channels)
{
    struct node *node = builder_node(builder, &scale_node, builder_width(builder));
    struct tensor tensor = {.rank = 1, .shape = {channels.channels}, .taps = 1};
    struct plan *plan = node->plan;

    *plan = (struct plan){.channels = channels,
                          .rows = {.inputs = 1, .outputs = channels.channels}};
    struct weight_layer *layer = builder_weights(builder, node, &plan->rows, 1);
    layer->per_example = PER_EXAMPLE_ON_BACKWARD;
    layer->per_example_floats = (layer->bias_only ? 1 : 2) * channels.channels;
    tensor.initial = INITIAL_ONES;
    builder_tensor(builder, &plan->rows.weight, "weight", tensor);
    tensor.initial = INITIAL_ZEROS;
    builder_tensor(builder, &plan->rows.bias, "bias", tensor);
}
