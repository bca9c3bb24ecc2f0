/* An embedding looks up each token's id in a table of `vocabulary` rows:
 *
 *   y_t = W[id_t]   for the tokens of the record, 0 behind its end
 *
 * It begins a model of sequences: the record is a vector of ids (sequence.h). An id that
 * is not below `vocabulary` has a row of zeros.
 *
 * The gradient of row v is the sum of the gradients at the tokens whose id is v, in the
 * order of their positions. It is stored in the slot of the first of them (table.h). */
#include <string.h>

#include "engine/nn/layers/registry.h"
#include "engine/nn/layers/sequence.h"
#include "engine/nn/layers/table.h"

static void look_up(const struct node_work *work, float *to, const float *ids,
                    size_t positions)
{
    const struct table *table = node_of(work)->plan;
    size_t length = sequence_length(ids, positions), width = table->width;

    memset(to, 0, positions * width * sizeof *to);
    for (size_t t = 0; t < length; t++)
        if (ids[t] < (float)table->rows.outputs)
            memcpy(to + t * width, table_row(work, (size_t)ids[t]), width * sizeof *to);
}

static void forward(const struct node_work *work)
{
    struct rows ids = sequence_ids(work), y = activations_of(work, node_of(work)->to);
    size_t positions = width_of(work, 0);

    for (size_t i = 0; i < y.count; i++)
        look_up(work, y.data + i * y.stride, ids.data + i * ids.stride, positions);
}

/* place[v] = 1 + the position of the first token whose id is v, while a record's
 * gradient is formed. */
static void form(const struct node_work *work, size_t i, float *place, const float *b,
                 const float *ids)
{
    const struct table *table = node_of(work)->plan;
    struct table_gradient gradient = table_gradient_begin(work, i);
    size_t length = sequence_length(ids, gradient.slots);

    for (size_t t = 0; t < length; t++) {
        if (ids[t] >= (float)table->rows.outputs)
            continue;
        size_t id = (size_t)ids[t];
        if (place[id] == 0.0F)
            place[id] = (float)(t + 1);
        table_gradient_add(&gradient, (size_t)place[id] - 1, id, b + t * table->width);
    }
    for (size_t t = 0; t < length; t++)
        if (ids[t] < (float)table->rows.outputs)
            place[(size_t)ids[t]] = 0.0F;
}

static void backward(const struct node_work *work)
{
    const struct table *table = node_of(work)->plan;
    struct rows ids = sequence_ids(work), b = gradients_of(work, node_of(work)->to);
    float *place = work->workspace->node_scratch;

    if (layer_of(work)->frozen)
        return;
    memset(place, 0, table->rows.outputs * sizeof *place);
    for (size_t i = 0; i < b.count; i++)
        form(work, i, place, b.data + i * b.stride, ids.data + i * ids.stride);
    reset_clip_factors(work);
}

/* The ids behind the end look up row 0, which the mask then removes. */
static void onnx(const struct translation *t)
{
    static const int64_t turn[] = {0, 2, 1};
    const struct table *table = t->node->plan;
    const struct onnx_dimensions own = {0};
    const float zero = 0.0F;
    const int64_t shape[] = {0, 1, (int64_t)t->network->shape.features};
    const char *mask = onnx_reshape(t->graph, sequence_mask(t), shape, 3);
    const char *ids =
        onnx_node(t->graph, "Max",
                  (struct onnx_inputs){
                      {onnx_value(t->graph, 0), onnx_floats(t->graph, &zero, 0)}});
    ids = onnx_cast(t->graph, ids, ONNX_INT64);
    const char *rows = onnx_node(
        t->graph, "Gather",
        (struct onnx_inputs){{translation_tensor(t, table->rows.weight, own), ids}});
    rows = onnx_node(t->graph, "Transpose", (struct onnx_inputs){{rows}});
    onnx_attribute_ints(t->graph, "perm", turn, 3);
    rows = onnx_node(t->graph, "Mul", (struct onnx_inputs){{rows, mask}});
    sequence_give(t, rows, table->width);
}

static const struct node_kind embedding_node = {.plan_size = sizeof(struct table),
                                                .weights = &table_weights,
                                                .reads_record = true,
                                                .scratch = table_scratch,
                                                .forward = forward,
                                                .backward = backward,
                                                .onnx = onnx};

static enum status check(const struct builder *builder, const struct layer_spec *spec)
{
    size_t positions = builder_width(builder);
    enum status status = builder_check_out(builder, spec->out);

    if (status != ST_OK)
        return status;
    if (builder->view.value != 0 || builder->view.image.channels > 0)
        return builder_refuse(builder, "/type",
                              "must be the first layer: it reads the ids of a record");
    if (positions > MODEL_TOKENS_MAX)
        return builder_refuse(builder, "/type",
                              "a record has %zu tokens, and at most %d are supported",
                              positions, MODEL_TOKENS_MAX);
    status = builder_check_width(builder, positions * spec->out);
    return status == ST_OK ? table_check(builder, spec, spec->out) : status;
}

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    size_t positions = builder_width(builder);
    enum status status = check(builder, spec);

    if (status != ST_OK)
        return status;
    builder->view = (struct view){.image = {positions, 1, spec->out},
                                  .copies = 1,
                                  .interleaved = true,
                                  .tokens = true};
    table_build(builder, builder_node(builder, &embedding_node, positions * spec->out),
                spec, (struct table){.width = spec->out, .slots = positions});
    return ST_OK;
}

static const struct layer_member members[] = {
    {.name = "vocabulary",
     .kind = MEMBER_COUNT,
     .offset = offsetof(struct layer_spec, rows),
     .low = 1,
     .high = MODEL_VOCABULARY_MAX},
    {.name = "out",
     .kind = MEMBER_COUNT,
     .offset = offsetof(struct layer_spec, out),
     .low = 1,
     .high = MODEL_WIDTH_MAX},
};

const struct layer_kind layer_embedding = {
    .name = "embedding",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .moves_zero = true,
    .build = build,
};
