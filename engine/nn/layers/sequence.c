#include "engine/nn/layers/sequence.h"

#include "engine/nn/layers/registry.h"

size_t sequence_length(const float *ids, size_t positions)
{
    size_t length = 0;
    while (length < positions && ids[length] >= 0.0F)
        length++;
    return length;
}

struct rows sequence_ids(const struct node_work *work)
{
    return activations_of(work, 0);
}

enum status sequence_check(const struct builder *builder)
{
    const struct view *view = &builder->view;
    bool keeps_positions = view->image.height == builder->network->shape.features &&
                           view->image.width == 1;

    if (view->tokens && keeps_positions && !view->flat)
        return ST_OK;
    return builder_refuse(builder, "/type",
                          "must come after embedding, with a row for each token");
}

enum status sequence_check_model(const struct model_spec *model, uint32_t vocabulary,
                                 struct error *error)
{
    const bool preset = model->preset != PRESET_NONE;
    const struct layer_spec *first = model->layers;
    const bool reads_ids = model->layer_count > 0 && first->kind == &layer_embedding;
    if (reads_ids && first->rows == vocabulary)
        return ST_OK;
    if (!reads_ids)
        return error_set_at(error, ST_INVALID,
                            preset ? "/model" : "/model/layers/0/type",
                            "must be embedding: the records are texts, as ids of %u "
                            "tokens",
                            vocabulary);
    return error_set_at(
        error, ST_INVALID, preset ? "/model/vocabulary" : "/model/layers/0/vocabulary",
        "must be %u, the number of tokens of the dataset's tokenizer", vocabulary);
}

const char *sequence_columns(const struct translation *t, size_t value)
{
    size_t positions = t->network->shape.features;
    const int64_t shape[] = {0, (int64_t)(t->network->values[value].width / positions),
                             (int64_t)positions};
    return onnx_reshape(t->graph, onnx_value(t->graph, value), shape, 3);
}

const char *sequence_mask(const struct translation *t)
{
    const float zero = 0.0F;
    const char *is_token =
        onnx_node(t->graph, "GreaterOrEqual",
                  (struct onnx_inputs){{onnx_value_as(t->graph, 0, onnx_vector),
                                        onnx_floats(t->graph, &zero, 0)}});
    return onnx_cast(t->graph, is_token, ONNX_FLOAT);
}

void sequence_give(const struct translation *t, const char *name, size_t width)
{
    struct onnx_image image = {width, t->network->shape.features, 1};
    onnx_give(t->graph, t->node->to, onnx_shaped(t->graph, name, image), image);
}
