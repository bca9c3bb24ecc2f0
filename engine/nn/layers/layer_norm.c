/* Layer normalisation: normalises each position of a record separately over its
 * channels, the last axis; then comes a scale and a shift of each channel
 * (channel_scale.h).
 *
 *   xh_t = (x_t - mu_t) r_t    r_t = 1 / sqrt(v_t + epsilon), mu_t and v_t mean and
 *                              variance of the channels of position t
 *   y_t  = gamma xh_t + beta
 *
 * A position is therefore like a record of one position in a group norm of one group,
 * and the functions of group_norm.h are called with the positions as rows. A vector has
 * one position, whose channels are its values. */
#include "engine/nn/layers/channel_scale.h"
#include "engine/nn/layers/group_norm.h"
#include "engine/nn/layers/image_window.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/node_work.h"
#include "engine/nn/translation.h"

struct plan {
    struct group_norm norm; /* of one position */
    size_t positions;
};

/* The positions of record i, each as a row of width floats. */
static struct rows positions_of(const struct plan *plan, struct rows records, size_t i,
                                size_t width)
{
    return (struct rows){records.data + i * records.stride, width, plan->positions};
}

static size_t scratch(const struct node *node)
{
    const struct plan *plan = node->plan;
    return group_norm_scratch(&plan->norm);
}

static void forward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    const struct plan *plan = node->plan;
    struct rows x = activations_of(work, node->from),
                xh = activations_of(work, node->to),
                inverse = activations_of(work, node->extra);
    size_t channels = plan->norm.channels;

    for (size_t i = 0; i < x.count; i++)
        group_norm_forward(&plan->norm, positions_of(plan, xh, i, channels),
                           positions_of(plan, x, i, channels),
                           positions_of(plan, inverse, i, 1),
                           work->workspace->node_scratch);
}

static void backward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    const struct plan *plan = node->plan;
    struct rows q = gradients_of(work, node->to), dx = gradients_of(work, node->from);
    struct rows xh = activations_of(work, node->to),
                inverse = activations_of(work, node->extra);
    size_t channels = plan->norm.channels;

    for (size_t i = 0; i < q.count; i++) {
        struct group_norm_pass pass = {.xh = positions_of(plan, xh, i, channels),
                                       .inverse = positions_of(plan, inverse, i, 1)};
        group_norm_backward(&plan->norm, positions_of(plan, dx, i, channels),
                            positions_of(plan, q, i, channels), &pass,
                            work->workspace->node_scratch);
    }
}

static const char *turned(const struct translation *t, const char *name,
                          const int64_t order[3])
{
    const char *other = onnx_node(t->graph, "Transpose", (struct onnx_inputs){{name}});
    onnx_attribute_ints(t->graph, "perm", order, 3);
    return other;
}

/* After a transposition that puts the positions before the channels, each position is a
 * group. */
static void onnx(const struct translation *t)
{
    static const int64_t swap[] = {0, 2, 1};
    const struct plan *plan = t->node->plan;
    const int64_t positions = (int64_t)plan->positions,
                  channels = (int64_t)plan->norm.channels;
    const int64_t first[] = {0, channels, positions};
    struct onnx_image image =
        translation_channels(t, plan->positions, plan->norm.channels);
    const char *x = onnx_value(t->graph, t->node->from);

    x = turned(t, onnx_reshape(t->graph, x, first, 3), swap);
    const char *xh = group_norm_onnx(t->graph, x, plan->positions, plan->norm.epsilon);
    onnx_give(t->graph, t->node->to, onnx_shaped(t->graph, turned(t, xh, swap), image),
              image);
}

static const struct node_kind layer_norm_node = {.plan_size = sizeof(struct plan),
                                                 .unread = UNREAD_FROM,
                                                 .scratch = scratch,
                                                 .forward = forward,
                                                 .backward = backward,
                                                 .onnx = onnx};

/* After flatten the columns of an image run pixel by pixel here, and channel by channel
 * in a file. */
static enum status check(const struct builder *builder, const struct layer_spec *spec)
{
    enum status status = image_window_check_copies(builder);

    if (status != ST_OK)
        return status;
    if (view_is_flat_image(&builder->view))
        return builder_refuse(builder, "/type", "must come before flatten");
    if (!(spec->epsilon >= MODEL_NORM_EPSILON_MIN && spec->epsilon <= 1))
        return builder_refuse(builder, "/eps", "must be in [1e-12, 1]");
    return ST_OK;
}

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    const struct view *view = &builder->view;
    bool image = view->image.channels > 0;
    struct channels of = {image ? view_pixels(view) : 1,
                          image ? view->image.channels : builder_width(builder)};
    enum status status = check(builder, spec);

    if (status == ST_OK)
        status = builder_check_parameters(builder, 2 * of.channels);
    if (status != ST_OK)
        return status;
    if (image)
        builder_interleave(builder);
    struct node *node = builder_node_over(builder, &layer_norm_node);
    *(struct plan *)node->plan = (struct plan){.norm = {.positions = 1,
                                                        .channels = of.channels,
                                                        .groups = 1,
                                                        .epsilon = spec->epsilon},
                                               .positions = of.positions};
    node->extra = builder_value(builder, of.positions, false);
    channel_scale_build(builder, of);
    return ST_OK;
}

static const struct layer_member members[] = {
    {.name = "eps",
     .kind = MEMBER_REAL,
     .offset = offsetof(struct layer_spec, epsilon),
     .low = MODEL_NORM_EPSILON_MIN,
     .high = 1,
     .optional = true,
     .fallback = 1e-5}, /* network.md 7 */
};

const struct layer_kind layer_layer_norm = {
    .name = "layer_norm",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .build = build,
};
