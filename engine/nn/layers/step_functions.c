/* Two nodes: the first finds the rows of the table that a record reads, which depend on
 * nothing that is trained, so that a run can keep them (network_frozen_width); the second
 * adds them. The gradient of a record is b at each of its rows. Shapes have no row in
 * common, so shape s has slot s of the table's gradient (table.h). The weights begin at
 * zero: a cell that no record reads adds nothing. */
#include "engine/nn/layers/step_functions.h"

#include <string.h>

#include "engine/nn/layers/histograms_graph.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/layers/table.h"

struct plan {           /* of the second node */
    struct table table; /* first: the functions of a table read it */
    const struct histograms *histograms;
};

static void forward_cells(const struct node_work *work)
{
    const struct histograms *histograms = node_of(work)->plan;
    struct rows x = activations_of(work, node_of(work)->from);
    struct rows rows = activations_of(work, node_of(work)->to);

    for (size_t i = 0; i < rows.count; i++) {
        float *own = rows.data + i * rows.stride;
        histograms_rows(histograms, own, x.data + i * x.stride);
        memset(own + histograms->shapes, 0,
               (rows.stride - histograms->shapes) * sizeof *own);
    }
}

/* A comparison for each feature. */
static double flops(const struct node *node)
{
    const struct histograms *histograms = node->plan;
    double features = 0;
    for (size_t i = 0; i < histograms->columns; i++)
        features += histograms->widths[i];
    return features;
}

static void onnx_cells(const struct translation *translation)
{
    histograms_graph_cells(translation, translation->node->plan);
}

static const struct node_kind cells_node = {.plan_size = sizeof(struct histograms),
                                            .forward = forward_cells,
                                            .flops = flops,
                                            .onnx = onnx_cells};

static void forward(const struct node_work *work)
{
    const struct plan *plan = node_of(work)->plan;
    struct rows rows = activations_of(work, node_of(work)->from);
    struct rows y = activations_of(work, node_of(work)->to);
    size_t shapes = plan->histograms->shapes, outputs = plan->histograms->outputs;

    for (size_t i = 0; i < y.count; i++) {
        const float *own = rows.data + i * rows.stride;
        float *out = y.data + i * y.stride;
        memset(out, 0, y.stride * sizeof *out);
        for (size_t s = 0; s < shapes; s++) {
            const float *row = table_row(work, (size_t)own[s]);
            for (size_t o = 0; o < outputs; o++)
                out[o] += row[o];
        }
    }
}

static void backward(const struct node_work *work)
{
    const struct plan *plan = node_of(work)->plan;
    struct rows rows = activations_of(work, node_of(work)->from);
    struct rows b = gradients_of(work, node_of(work)->to);

    if (layer_of(work)->frozen)
        return;
    for (size_t i = 0; i < b.count; i++) {
        struct table_gradient gradient = table_gradient_begin(work, i);
        const float *own = rows.data + i * rows.stride;
        for (size_t s = 0; s < plan->histograms->shapes; s++)
            table_gradient_add(&gradient, s, (size_t)own[s], b.data + i * b.stride);
    }
    reset_clip_factors(work);
}

static void onnx(const struct translation *translation)
{
    const struct plan *plan = translation->node->plan;
    histograms_graph_sum(translation, plan->histograms, plan->table.rows.weight);
}

static const struct node_kind sum_node = {.plan_size = sizeof(struct plan),
                                          .weights = &table_weights,
                                          .scratch = table_scratch,
                                          .forward = forward,
                                          .backward = backward,
                                          .onnx = onnx};

static enum status check_columns(const struct builder *builder,
                                 const struct model_columns *columns)
{
    size_t features = 0, width = builder_width(builder);
    for (size_t i = 0; i < columns->count; i++)
        features += columns->widths[i];
    if (columns->count > 0 && features != width)
        return builder_refuse(builder, "",
                              "its columns have %zu features, and a record has %zu",
                              features, width);
    if (columns->count == 0 && width > MODEL_COLUMNS_MAX)
        return builder_refuse(builder, "",
                              "a record has %zu features, and at most %d columns are "
                              "supported",
                              width, MODEL_COLUMNS_MAX);
    size_t count = columns->count > 0 ? columns->count : width;
    for (size_t k = 0; k < columns->pair_count; k++) {
        const uint32_t *pair = columns->pairs[k];
        if (pair[0] >= count || pair[1] >= count || pair[0] == pair[1])
            return builder_refuse(builder, "/pairs",
                                  "a pair names two different columns of the %zu, "
                                  "counted from 0",
                                  count);
    }
    return ST_OK;
}

static enum status check_place(const struct builder *builder)
{
    if (builder->view.value != 0 || builder->view.image.channels > 0)
        return builder_refuse(builder, "/type",
                              "must be the first layer: it reads the columns of a "
                              "table");
    return ST_OK;
}

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    const struct model_columns *columns = &builder->model->columns;
    struct histograms histograms = {.outputs = spec->out};
    struct layer_spec sized = *spec;
    enum status status = check_place(builder);

    if (status == ST_OK)
        status = builder_check_out(builder, spec->out);
    if (status == ST_OK)
        status = check_columns(builder, columns);
    if (status != ST_OK)
        return status;
    uint64_t rows = histograms_lay_out(&histograms, columns, builder_width(builder));
    if (rows > MODEL_VOCABULARY_MAX)
        return builder_refuse(builder, "", "its table would have more than %d rows",
                              MODEL_VOCABULARY_MAX);
    sized.rows = (uint32_t)rows;
    status = table_check(builder, &sized, spec->out);
    if (status != ST_OK)
        return status;
    struct histograms *own =
        builder_node(builder, &cells_node, histograms.shapes)->plan;
    *own = histograms;
    struct node *node = builder_node(builder, &sum_node, spec->out);
    struct plan *plan = node->plan;
    table_build(builder, node, &sized,
                (struct table){.width = spec->out, .slots = histograms.shapes});
    plan->histograms = own;
    builder->network->tensors[builder->network->tensor_count - 1].initial =
        INITIAL_ZEROS;
    return ST_OK;
}

const struct histograms *step_functions_of(const struct network *network)
{
    const struct node *node = network->nodes;
    return network->node_count == 2 && node->kind == &cells_node ? node->plan : NULL;
}

bool step_functions_make_up(const struct model_spec *model)
{
    return model->preset == PRESET_HISTOGRAMS ||
           (model->layer_count == 1 && model->layers[0].kind == &layer_step_functions);
}

static const struct layer_member members[] = {
    {.name = "out",
     .kind = MEMBER_COUNT,
     .offset = offsetof(struct layer_spec, out),
     .low = 1,
     .high = MODEL_WIDTH_MAX},
};

const struct layer_kind layer_step_functions = {
    .name = "step_functions",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .moves_zero = true,
    .build = build,
};
