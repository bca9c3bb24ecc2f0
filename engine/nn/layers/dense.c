/* A dense layer reads the record itself, a vector or a flattened image as one vector.
 * Any other image it reads pixel by pixel, which is a convolution with a kernel of one.
 * If units have several rows, the gradient of a unit has one term per row: its norm and
 * its sum are then computed as in a layer with positions, each row being one
 * position. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "engine/difference/difference_work.h"
#include "engine/nn/layers/adapter.h"
#include "engine/nn/layers/image_window.h"
#include "engine/nn/layers/position_layer.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/translation.h"
#include "engine/nn/weight_work.h"

/* Returns the rows that a product writes: those of records. The rows after them are
 * zeros. */
static struct rows records_of(const struct node_work *work, struct rows rows)
{
    size_t left = work->workspace->count - work->range.first;
    size_t count = left < rows.count ? left : rows.count;
    memset(rows.data + count * rows.stride, 0,
           (rows.count - count) * rows.stride * sizeof *rows.data);
    rows.count = count;
    return rows;
}

static void forward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    struct rows z = records_of(work, activations_of(work, node->to));
    struct rows a = activations_of(work, node->from);
    a.count = z.count;
    row_layer_forward(node->plan, work->parameters, z, a);
}

static void backward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    if (!has_gradient(work, node->from))
        return;
    struct rows da = records_of(work, gradients_of(work, node->from));
    struct rows b = gradients_of(work, node->to);
    b.count = da.count;
    row_layer_backward(node->plan, work->parameters, da, b);
}

static void difference_forward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    struct row_pair a = activation_pair(&d->work, node->from);
    struct rows dz = activation_pair(&d->work, node->to).difference;
    row_difference_forward(node->plan, &d->points, dz, &a);
}

static void difference_backward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    struct row_pair b = gradient_pair(&d->work, node->to);

    if (!has_gradient(&d->work, node->from))
        return;
    struct rows below = gradient_pair(&d->work, node->from).difference;
    row_difference_backward(node->plan, &d->points, below, &b);
    backward(&d->work);
    difference_advance(d, &b);
}

/* Value 0 is the records, and no node writes it: a node works in place only after a
 * weight layer (builder_may_overwrite). */
static bool reads_records(const struct weight_layer *layer)
{
    return layer->from == 0;
}

/* A record's gradient is b. */
static void measure_bias(struct record_squares to, struct rows b)
{
    rows_square(to.squares, b);
    for (size_t i = 0; i < b.count; i++)
        if (!(to.squares[i] <= NORM_SQUARE_MAX))
            to.squares[i] = (double)INFINITY;
    memcpy(to.spreads, to.squares, b.count * sizeof *to.spreads);
}

static void measure(const struct weight_work *work, struct record_squares to,
                    const double *input_squares)
{
    const struct weight_layer *layer = weights_of(work);
    double *scratch = work->workspace->scratch;
    struct rows b = layer_gradients(work);

    if (work->workspace->holds_differences) {
        struct row_factors pairs = pairs_of(work);
        row_difference_measure(layer->rows,
                               &(struct row_measure){to.squares, to.spreads, scratch},
                               &pairs);
        return;
    }
    if (layer->bias_only) {
        measure_bias(to, b);
        return;
    }
    bool known = input_squares != NULL && reads_records(layer);
    double *a_squares = scratch, *b_squares = scratch + b.count;
    struct row_squares of = {known ? input_squares : a_squares, b_squares, b.count};
    if (!known)
        rows_square(a_squares, layer_inputs(work));
    rows_square(b_squares, b);
    row_layer_measure(layer->rows, to.squares, of);
    memcpy(to.spreads, to.squares, b.count * sizeof *to.spreads); /* M = nu */
}

static void sum(const struct weight_work *work, const struct weight_tile *tile,
                struct row_range range, float *block)
{
    const struct row_layer *rows = weights_of(work)->rows;
    struct row_span span = {.row = tile->row, .count = tile->rows};

    if (work->workspace->holds_differences) {
        struct row_factors pairs = cut_pairs(pairs_of(work), range);
        if (tile->bias)
            row_layer_sum_bias(span, block, pairs.b.difference);
        else
            row_difference_sum(rows, span, block, &pairs);
        return;
    }
    struct rows b = cut(layer_gradients(work), range);
    if (tile->bias)
        row_layer_sum_bias(span, block, b);
    else
        row_layer_sum(rows, span, block, cut(layer_inputs(work), range), b);
}

static const struct weight_kind weights = {
    .has_factors = true, .measure = measure, .sum = sum};

static const struct difference_rule rule = {.ends_backward = true,
                                            .forward = difference_forward,
                                            .backward = difference_backward};

/* In both file and graph the columns of a flattened image run channel by channel. */
static void onnx(const struct translation *t)
{
    const struct node *node = t->node;
    const struct row_layer *layer = node->plan;
    const struct onnx_dimensions own = {0};
    struct onnx_inputs inputs = {{onnx_value_as(t->graph, node->from, onnx_vector),
                                  translation_tensor(t, layer->weight, own)}};

    if (row_layer_has_bias(layer))
        inputs.names[2] = translation_tensor(t, layer->bias, own);
    const char *z = onnx_node(t->graph, "Gemm", inputs);
    onnx_attribute_int(t->graph, "transB", 1);
    onnx_give(t->graph, node->to, z, onnx_vector);
}

static const struct node_kind dense_node = {.plan_size = sizeof(struct row_layer),
                                            .unread = UNREAD_FROM | UNREAD_TO,
                                            .weights = &weights,
                                            .forward = forward,
                                            .backward = backward,
                                            .onnx = onnx,
                                            .difference = &rule};

static void unit_backward(const struct node_work *work)
{
    position_layer_form_bias(work, gradients_of(work, node_of(work)->to));
    backward(work);
}

/* Its plan is a struct position_layer, which begins with the row_layer that forward and
 * backward read. */
static const struct node_kind dense_unit_node = {.plan_size =
                                                     sizeof(struct position_layer),
                                                 .weights = &position_layer_weights,
                                                 .scratch = position_layer_scratch,
                                                 .forward = forward,
                                                 .backward = unit_backward};

_Static_assert(offsetof(struct position_layer, rows) == 0,
               "a plan of positions begins as one of rows");

static void append_rows(struct builder *builder, const struct layer_spec *spec,
                        struct tensor weight)
{
    size_t inputs = builder_width(builder);
    struct node *node = builder_node(builder, &dense_node, spec->out);
    struct row_layer *rows = node->plan;
    *rows = (struct row_layer){.inputs = inputs, .outputs = spec->out};
    builder_weights(builder, node, rows, inputs);
    builder_parameters(builder, rows, weight, spec->bias);
}

/* Adds a dense layer with one row per record. If the record is an image read as a
 * vector, the columns of the tensor run channel by channel in the file and pixel by
 * pixel here. */
static enum status build_vector(struct builder *builder, const struct layer_spec *spec)
{
    size_t inputs = builder_width(builder);
    const struct view view = builder->view;
    struct tensor weight = {.rank = 2, .shape = {spec->out, inputs}, .taps = 1};
    enum status status = builder_check_weights(builder, spec, inputs);

    if (status != ST_OK)
        return status;
    if (view.interleaved && view.image.channels > 0)
        weight.taps = view.image.height * view.image.width;
    builder->view = (struct view){.value = view.value, .copies = 1};
    if (builder->network->unit_rows > 1)
        position_layer_at_one_pixel(builder, &dense_unit_node, spec, weight);
    else
        append_rows(builder, spec, weight);
    return ST_OK;
}

/* Adds a dense layer at every pixel. */
static enum status build_pixels(struct builder *builder, const struct layer_spec *spec)
{
    const struct conv_window_demand pixel = {1, 1, 1, 0, 1};
    struct image image = builder->view.image;
    struct tensor weight = {.rank = 2, .shape = {spec->out, image.channels}, .taps = 1};
    struct conv_window window;

    CHECK(conv_window_fit(&window, image, &pixel));
    return position_layer_build(builder, spec, &window, weight);
}

static enum status build_plain(struct builder *builder, const struct layer_spec *spec)
{
    const struct view *view = &builder->view;
    bool pixels = view->image.height * view->image.width > 1;
    enum status status = image_window_check_copies(builder);

    if (status == ST_OK)
        status = builder_check_out(builder, spec->out);
    if (status != ST_OK)
        return status;
    /* A dense layer reads the record itself as a vector. */
    if (pixels && !view->flat && view->value != 0)
        return build_pixels(builder, spec);
    return build_vector(builder, spec);
}

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    return builder_adapts(builder) ? adapter_build(builder, spec, build_plain)
                                   : build_plain(builder, spec);
}

static const struct layer_member members[] = {
    {.name = "out",
     .kind = MEMBER_COUNT,
     .offset = offsetof(struct layer_spec, out),
     .low = 1,
     .high = MODEL_WIDTH_MAX},
    {.name = "bias",
     .kind = MEMBER_FLAG,
     .offset = offsetof(struct layer_spec, bias),
     .optional = true,
     .fallback = 1},
};

const struct layer_kind layer_dense = {
    .name = "dense",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .is_adaptable = true,
    .stretch = STRETCH_WEIGHT,
    .build = build,
};
