#include "engine/nn/layers/adapter.h"

#include "base/check.h"
#include "engine/nn/layers/fork.h"
#include "engine/nn/node_work.h"
#include "engine/nn/translation.h"

struct plan {
    float scale;
};

static void scale_rows(const struct node *node, struct rows to, struct rows from)
{
    const struct plan *plan = node->plan;
    CHECK(to.stride == from.stride);
    for (size_t j = 0; j < to.count * to.stride; j++)
        to.data[j] = plan->scale * from.data[j];
}

static void forward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    scale_rows(node, activations_of(work, node->to), activations_of(work, node->from));
}

static void backward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    scale_rows(node, gradients_of(work, node->from), gradients_of(work, node->to));
}

static void onnx(const struct translation *t)
{
    const struct node *node = t->node;
    const struct plan *plan = node->plan;
    const struct onnx_inputs inputs = {
        {onnx_value(t->graph, node->from), onnx_floats(t->graph, &plan->scale, 0)}};
    onnx_give_like(t->graph, node->to, onnx_node(t->graph, "Mul", inputs), node->from);
}

static const struct node_kind scale_node = {.plan_size = sizeof(struct plan),
                                            .unread = UNREAD_FROM | UNREAD_TO,
                                            .forward = forward,
                                            .backward = backward,
                                            .onnx = onnx};

/* Builds a matrix of out outputs, and says how its tensor begins. */
static enum status build_matrix(struct builder *builder, uint32_t out,
                                enum initial initial, adapter_layer *plain)
{
    struct network *network = builder->network;
    const struct layer_spec matrix = {.out = out};
    enum status status = plain(builder, &matrix);

    if (status != ST_OK)
        return status;
    struct tensor *tensor = &network->tensors[network->tensor_count - 1];
    tensor->initial = initial;
    tensor->is_adapter = true;
    return ST_OK;
}

static enum status build_adapter(struct builder *builder, uint32_t out,
                                 adapter_layer *plain)
{
    const struct model_start *start = &builder->model->start;
    enum status status;

    builder->suffix = ".lora_A";
    status = build_matrix(builder, start->rank, INITIAL_UNIFORM, plain);
    if (status == ST_OK) {
        struct plan *plan = builder_node_over(builder, &scale_node)->plan;
        *plan = (struct plan){(float)(start->alpha / start->rank)};
        builder->suffix = ".lora_B";
        status = build_matrix(builder, out, INITIAL_ZEROS, plain);
    }
    builder->suffix = "";
    return status;
}

enum status adapter_build(struct builder *builder, const struct layer_spec *spec,
                          adapter_layer *plain)
{
    struct fork fork;
    enum status status;

    /* A record that is an image is read as a vector, behind a fork too. */
    builder->view.flat |= builder->view.value == 0;
    status = fork_build(builder, &fork);
    if (status != ST_OK)
        return status;
    builder->view = fork.one;
    status = build_adapter(builder, spec->out, plain);
    if (status != ST_OK)
        return status;
    struct view end = builder->view;
    builder->view = fork.other;
    status = plain(builder, spec);
    return status == ST_OK ? fork_join(builder, &end) : status;
}
