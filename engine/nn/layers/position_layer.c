/* A weight layer with several rows per record. positions.h computes its products,
 * position_gradients.h the norms and sums of its gradients. */
#include "engine/nn/layers/position_layer.h"

#include <stdlib.h>

#include "base/check.h"
#include "engine/difference/difference_work.h"
#include "engine/nn/position_gradients.h"
#include "engine/nn/translation.h"
#include "engine/nn/weight_work.h"

static struct position_pass pass_of(const struct node_work *work,
                                    const float *parameters, size_t set)
{
    const struct position_layer *layer = node_of(work)->plan;
    const float *gathered = gathered_of(work->workspace, node_of(work)->layer, set);
    bool has_bias = row_layer_has_bias(&layer->rows);
    return (struct position_pass){
        .layer = layer,
        .weights = gathered != NULL ? gathered : parameters + layer->rows.weight,
        .bias = has_bias ? parameters + layer->rows.bias : NULL,
        .scratch = work->workspace->node_scratch};
}

void position_layer_forward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    struct position_pass pass = pass_of(work, work->parameters, 0);
    positions_forward(&pass, activations_of(work, node->to),
                      activations_of(work, node->from));
}

/* Forms the bias gradients of the records, from b. */
void position_layer_form_bias(const struct node_work *work, struct rows b)
{
    if (layer_of(work)->frozen)
        return;
    position_gradients_bias(node_of(work)->plan, per_example_at(work), b);
    reset_clip_factors(work);
}

static void go_below(const struct node_work *work)
{
    const struct node *node = node_of(work);
    struct position_pass pass = pass_of(work, work->parameters, 0);
    if (has_gradient(work, node->from))
        positions_backward(&pass, gradients_of(work, node->from),
                           gradients_of(work, node->to));
}

void position_layer_backward(const struct node_work *work)
{
    position_layer_form_bias(work, gradients_of(work, node_of(work)->to));
    go_below(work);
}

static void difference_forward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    struct row_pair a = activation_pair(&d->work, node->from);
    struct rows dz = activation_pair(&d->work, node->to).difference;
    struct position_pass new = pass_of(&d->work, d->points.parameters, NEW_WEIGHTS);
    struct position_pass step = pass_of(&d->work, d->points.step, WEIGHT_STEPS);

    new.bias = NULL;
    if (a.difference.data != NULL)
        positions_forward(&new, dz, a.difference);
    step.adds = a.difference.data != NULL;
    positions_forward(&step, dz, a.at);
}

static void difference_backward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    struct row_pair b = gradient_pair(&d->work, node->to);
    struct position_pass new = pass_of(&d->work, d->points.parameters, NEW_WEIGHTS);
    struct position_pass step = pass_of(&d->work, d->points.step, WEIGHT_STEPS);

    if (has_gradient(&d->work, node->from)) {
        struct rows below = gradient_pair(&d->work, node->from).difference;
        step.adds = true;
        positions_backward(&new, below, b.difference);
        positions_backward(&step, below, b.at);
        go_below(&d->work);
        difference_advance(d, &b);
    }
    position_layer_form_bias(&d->work, b.difference);
}

/* A sum of differences reads the differences that measure forms for each record. */
static const char *refuses_difference(const struct node *node)
{
    const struct position_layer *layer = node->plan;
    return layer->form == NORM_PER_EXAMPLE
               ? NULL
               : "convolution with more than three weights an activation";
}

static double measure_one(const struct weight_work *work, struct row_range unit)
{
    const struct position_layer *layer = weights_of(work)->plan;
    float *scratch = work->workspace->node_scratch;
    struct rows per_example = cut(per_example_of(work->workspace, work->layer), unit);

    if (work->workspace->holds_differences) {
        struct row_factors pairs = cut_pairs(pairs_of(work), unit);
        CHECK(unit.count == 1);
        return position_gradients_measure_pair(layer, &pairs, per_example.data,
                                               scratch);
    }
    position_gradients_gather(layer, per_example);
    struct position_rows rows = {cut(layer_inputs(work), unit),
                                 cut(layer_gradients(work), unit)};
    return position_gradients_measure(layer, &rows, per_example.data, scratch);
}

static void measure(const struct weight_work *work, struct record_squares to,
                    const double *input_squares)
{
    size_t rows = active_rows(work->workspace);
    size_t unit = work->workspace->network->unit_rows;
    (void)input_squares;

    for (size_t i = 0; i < rows; i += unit) {
        to.squares[i] += measure_one(work, (struct row_range){i, unit});
        to.spreads[i] = to.squares[i]; /* one term per record: M = nu */
    }
}

static void form_gradients(const struct weight_work *work)
{
    struct rows per_example = per_example_of(work->workspace, work->layer);

    if (weights_of(work)->per_example != PER_EXAMPLE_ON_MEASURE)
        return;
    for (size_t i = 0; i < work->workspace->count; i++) {
        struct position_rows rows = {row_at(layer_inputs(work), i),
                                     row_at(layer_gradients(work), i)};
        position_gradients_weight(weights_of(work)->plan,
                                  per_example.data + i * per_example.stride, &rows,
                                  work->workspace->node_scratch);
    }
}

static void sum(const struct weight_work *work, const struct weight_tile *tile,
                struct row_range range, float *block)
{
    const struct position_layer *layer = weights_of(work)->plan;
    struct row_span span = {.row = tile->row, .count = tile->rows};
    float *scratch = block + tile->scratch;

    CHECK(!work->workspace->holds_differences || work->workspace->has_per_example);
    struct per_example_gradients gradients = per_example_rows(work, range);
    if (tile->bias)
        per_example_gradients_sum(&gradients, span, block);
    else if (sums_per_example(work))
        position_gradients_sum_per_example(layer, span, block, &gradients, scratch);
    else
        position_gradients_sum(
            layer, span, block,
            &(struct weighed_positions){
                {cut(layer_inputs(work), range), cut(layer_gradients(work), range)},
                gradients.clip_factors},
            scratch);
}

static size_t gathered(const struct weight_layer *layer)
{
    return positions_gathered(layer->plan);
}

static void gather(const struct weight_layer *layer, const float *parameters, float *to)
{
    positions_gather(layer->plan, parameters, to);
}

static size_t sum_scratch(const struct weight_layer *layer, size_t rows)
{
    return position_gradients_sum_scratch(layer->plan, rows);
}

size_t position_layer_scratch(const struct node *node)
{
    size_t passes = positions_scratch(node->plan),
           gradients = position_gradients_scratch(node->plan);
    return passes > gradients ? passes : gradients;
}

const struct weight_kind position_layer_weights = {.has_factors = true,
                                                   .has_positions = true,
                                                   .gathered = gathered,
                                                   .gather = gather,
                                                   .measure = measure,
                                                   .form_gradients = form_gradients,
                                                   .sum_scratch = sum_scratch,
                                                   .sum = sum};

static const struct difference_rule rule = {.refuses = refuses_difference,
                                            .ends_backward = true,
                                            .forward = difference_forward,
                                            .backward = difference_backward};

/* Repeats an image of one channel as often as the weight reads it. */
static const char *copied(const struct translation *t, const char *name, size_t copies)
{
    const char **inputs = calloc(copies, sizeof *inputs);
    CHECK(inputs != NULL);
    for (size_t i = 0; i < copies; i++)
        inputs[i] = name;
    const char *all = onnx_node_of_many(t->graph, "Concat", inputs, copies);
    onnx_attribute_int(t->graph, "axis", 1);
    free(inputs);
    return all;
}

/* The window does not have the taps that never meet the image. The tensor has them, so
 * the padding is that of the whole kernel. */
static void onnx(const struct translation *t)
{
    const struct position_layer *plan = t->node->plan;
    const struct conv_window *window = &plan->window;
    const int64_t stride = (int64_t)window->stride,
                  dilation = (int64_t)window->dilation,
                  top = (int64_t)plan->first.y * dilation - window->top,
                  left = (int64_t)plan->first.x * dilation - window->left;
    const int64_t strides[] = {stride, stride}, dilations[] = {dilation, dilation},
                  pads[] = {top, left, top, left};
    const char *image =
        onnx_value_as(t->graph, t->node->from, translation_image(window->image));
    struct onnx_inputs inputs = {
        {plan->copies > 1 ? copied(t, image, plan->copies) : image,
         translation_tensor(
             t, plan->rows.weight,
             (struct onnx_dimensions){4,
                                      {plan->rows.outputs,
                                       window->image.channels * plan->copies,
                                       plan->kernel_height, plan->kernel_width}})}};
    const struct onnx_dimensions own = {0};

    if (row_layer_has_bias(&plan->rows))
        inputs.names[2] = translation_tensor(t, plan->rows.bias, own);
    const char *z = onnx_node(t->graph, "Conv", inputs);
    onnx_attribute_ints(t->graph, "strides", strides, 2);
    onnx_attribute_ints(t->graph, "dilations", dilations, 2);
    onnx_attribute_ints(t->graph, "pads", pads, 4);
    onnx_give(
        t->graph, t->node->to, z,
        (struct onnx_image){plan->rows.outputs, window->out_height, window->out_width});
}

static const struct node_kind position_node = {.plan_size =
                                                   sizeof(struct position_layer),
                                               .unread = UNREAD_FROM | UNREAD_TO,
                                               .weights = &position_layer_weights,
                                               .scratch = position_layer_scratch,
                                               .forward = position_layer_forward,
                                               .backward = position_layer_backward,
                                               .onnx = onnx,
                                               .difference = &rule};

/* Sets the members of a layer that follow from the form of its norms. */
static void take_form(struct weight_layer *layer)
{
    const struct position_layer *plan = layer->plan;
    bool formed = plan->form == NORM_PER_EXAMPLE;

    layer->positions = conv_window_positions(&plan->window);
    layer->per_example = formed ? PER_EXAMPLE_ON_MEASURE : PER_EXAMPLE_BIAS;
    layer->per_example_floats = position_gradients_floats(plan);
}

struct weight_layer *position_layer_append(struct builder *builder, struct node *node,
                                           const struct position_weight *weight)
{
    const struct conv_window *window = &weight->window;
    struct position_layer *plan = node->plan;
    size_t row_floats =
        conv_window_taps(window) * window->image.channels * weight->copies;

    *plan = (struct position_layer){.rows = {.outputs = weight->tensor.shape[0]},
                                    .window = *window,
                                    .kernel_height = window->kernel_height,
                                    .kernel_width = window->kernel_width,
                                    .copies = weight->copies,
                                    .unit_rows = builder->network->unit_rows};
    struct weight_layer *layer =
        builder_weights(builder, node, &plan->rows, row_floats);
    builder_parameters_of_part(builder, &plan->rows, weight->tensor, weight->bias,
                               weight->part);
    positions_plan(plan);
    if (layer->bias_only)
        plan->form = NORM_BIAS;
    take_form(layer);
    return layer;
}

enum status position_layer_build(struct builder *builder, const struct layer_spec *spec,
                                 const struct conv_window *window, struct tensor weight)
{
    return position_layer_build_part(
        builder, &position_node, spec,
        &(struct position_weight){*window, weight, spec->bias, 1, ""});
}

enum status position_layer_build_part(struct builder *builder,
                                      const struct node_kind *kind,
                                      const struct layer_spec *spec,
                                      const struct position_weight *weight)
{
    const struct conv_window *window = &weight->window;
    struct position_weight own = *weight;
    size_t width = conv_window_positions(window) * spec->out;
    enum status status = builder_check_width(builder, width);

    own.copies = builder->view.copies;
    if (status == ST_OK)
        status = builder_check_weights(builder, spec,
                                       conv_window_taps(window) *
                                           window->image.channels * own.copies);
    if (status != ST_OK)
        return status;
    builder_interleave(builder);
    position_layer_append(builder, builder_node(builder, kind, width), &own);
    builder->view.image =
        (struct image){window->out_height, window->out_width, spec->out};
    builder->view.copies = 1;
    return ST_OK;
}

void position_layer_at_one_pixel(struct builder *builder, const struct node_kind *kind,
                                 const struct layer_spec *spec, struct tensor weight)
{
    const struct conv_window_demand pixel = {1, 1, 1, 0, 1};
    struct position_weight one = {
        .tensor = weight, .bias = spec->bias, .copies = 1, .part = ""};

    CHECK(conv_window_fit(&one.window, (struct image){1, 1, builder_width(builder)},
                          &pixel));
    position_layer_append(builder, builder_node(builder, kind, spec->out), &one);
}

void position_layer_force_form(struct network *network, enum norm_form form)
{
    for (size_t i = 0; i < network->node_count; i++) {
        struct node *node = &network->nodes[i];
        struct position_layer *plan = node->plan;
        if (node->kind->weights != &position_layer_weights || plan->form == NORM_BIAS)
            continue;
        plan->form = form;
        take_form(&network->layers[node->layer]);
    }
}
