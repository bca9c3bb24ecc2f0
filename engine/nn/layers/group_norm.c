/* A group norm is two nodes: the normalisation, which works in place if it follows a
 * weight layer, and then the scale (channel_scale.h). */
#include "engine/nn/layers/group_norm.h"

#include <math.h>
#include <string.h>

#include "engine/nn/layers/channel_scale.h"
#include "engine/nn/layers/channels.h"
#include "engine/nn/layers/image_window.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/node_work.h"
#include "engine/nn/translation.h"
#include "engine/parallel/vector_math.h"

static struct channels channels_of(const struct group_norm *norm)
{
    return (struct channels){norm->positions, norm->channels};
}

/* Intermediate values of one record: two sums for each channel, and the shift and
 * factor of each channel, which come from its group. */
struct work {
    double *first, *second; /* (channels) */
    float *shift, *factor;  /* (channels) */
};

size_t group_norm_scratch(const struct group_norm *norm)
{
    return 6 * rows_stride(norm->channels);
}

static struct work work_in(const struct group_norm *norm, float *scratch)
{
    size_t stride = rows_stride(norm->channels);
    double *sums = (double *)(void *)scratch;
    return (struct work){.first = sums,
                         .second = sums + stride,
                         .shift = scratch + 4 * stride,
                         .factor = scratch + 5 * stride};
}

/* sums[c] = the sum over the positions of (x - shift)^2. */
VECTOR_CLONES
static void sum_squares(double *restrict sums, const float *restrict x,
                        const float *restrict shift, size_t positions, size_t channels)
{
    memset(sums, 0, channels * sizeof *sums);
    for (size_t t = 0; t < positions; t++)
        for (size_t c = 0; c < channels; c++) {
            double off = (double)x[t * channels + c] - (double)shift[c];
            sums[c] += off * off;
        }
}

/* The mean over group g, whose channels have these sums. */
static double group_mean(const struct group_norm *norm, const double *sums, size_t g)
{
    size_t width = norm->channels / norm->groups;
    double sum = 0.0;
    for (size_t c = g * width; c < (g + 1) * width; c++)
        sum += sums[c];
    return sum / (double)(norm->positions * width);
}

static void spread_over(const struct group_norm *norm, float *to, size_t g, float value)
{
    size_t width = norm->channels / norm->groups;
    for (size_t c = g * width; c < (g + 1) * width; c++)
        to[c] = value;
}

/* xh = (x - shift) factor */
VECTOR_CLONES
static void standardise(const struct group_norm *norm, float *xh, const float *x,
                        const float *restrict shift, const float *restrict factor)
{
    size_t positions = norm->positions, channels = norm->channels;
    for (size_t t = 0; t < positions; t++)
        for (size_t c = 0; c < channels; c++)
            xh[t * channels + c] = (x[t * channels + c] - shift[c]) * factor[c];
}

void group_norm_forward(const struct group_norm *norm, struct rows xh, struct rows x,
                        struct rows inverse, float *scratch)
{
    struct work work = work_in(norm, scratch);

    for (size_t i = 0; i < x.count; i++) {
        const float *from = x.data + i * x.stride;
        float *r = inverse.data + i * inverse.stride;

        channels_sum(work.first, from, channels_of(norm));
        for (size_t g = 0; g < norm->groups; g++)
            spread_over(norm, work.shift, g, (float)group_mean(norm, work.first, g));
        sum_squares(work.first, from, work.shift, norm->positions, norm->channels);
        for (size_t g = 0; g < norm->groups; g++) {
            double variance = group_mean(norm, work.first, g);
            r[g] = (float)(1.0 / sqrt(variance + norm->epsilon));
            spread_over(norm, work.factor, g, r[g]);
        }
        standardise(norm, xh.data + i * xh.stride, from, work.shift, work.factor);
    }
}

/* dx = r (q - mean - xh slope), mean and slope by channel. */
VECTOR_CLONES
static void take_means_off(const struct group_norm *norm, float *dx, const float *q,
                           const float *restrict xh, const struct work *work)
{
    size_t positions = norm->positions, channels = norm->channels;
    for (size_t t = 0; t < positions; t++)
        for (size_t c = 0; c < channels; c++) {
            size_t at = t * channels + c;
            dx[at] = q[at] - work->shift[c] - xh[at] * work->factor[c];
        }
}

void group_norm_backward(const struct group_norm *norm, struct rows dx, struct rows q,
                         const struct group_norm_pass *pass, float *scratch)
{
    struct work work = work_in(norm, scratch);

    for (size_t i = 0; i < q.count; i++) {
        const float *from = q.data + i * q.stride;
        const float *xh = pass->xh.data + i * pass->xh.stride;
        const float *r = pass->inverse.data + i * pass->inverse.stride;
        float *to = dx.data + i * dx.stride;

        channels_sum(work.first, from, channels_of(norm));
        channels_sum_products(work.second, from, xh, channels_of(norm));
        for (size_t g = 0; g < norm->groups; g++) {
            spread_over(norm, work.shift, g, (float)group_mean(norm, work.first, g));
            spread_over(norm, work.factor, g, (float)group_mean(norm, work.second, g));
        }
        take_means_off(norm, to, from, xh, &work);
        for (size_t g = 0; g < norm->groups; g++)
            spread_over(norm, work.factor, g, r[g]);
        channels_multiply(to, to, work.factor, channels_of(norm));
    }
}

static size_t scratch(const struct node *node)
{
    return group_norm_scratch(node->plan);
}

static void forward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    group_norm_forward(
        node->plan, activations_of(work, node->to), activations_of(work, node->from),
        activations_of(work, node->extra), work->workspace->node_scratch);
}

static void backward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    struct group_norm_pass pass = {.xh = activations_of(work, node->to),
                                   .inverse = activations_of(work, node->extra)};
    group_norm_backward(node->plan, gradients_of(work, node->from),
                        gradients_of(work, node->to), &pass,
                        work->workspace->node_scratch);
}

/* Uses ONNX's InstanceNormalization, whose groups are its channels; its scale and shift
 * are 1 and 0. */
const char *group_norm_onnx(struct onnx_graph *graph, const char *name, size_t groups,
                            double epsilon)
{
    const struct onnx_inputs inputs = {
        {name, onnx_repeated(graph, 1.0F, groups), onnx_repeated(graph, 0.0F, groups)}};
    const char *normalised = onnx_node(graph, "InstanceNormalization", inputs);
    onnx_attribute_float(graph, "epsilon", (float)epsilon);
    return normalised;
}

static void onnx(const struct translation *t)
{
    const struct group_norm *norm = t->node->plan;
    const int64_t shape[] = {0, (int64_t)norm->groups, -1};
    struct onnx_image image = translation_channels(t, norm->positions, norm->channels);
    const char *x = onnx_value_as(t->graph, t->node->from, image);
    const char *xh = group_norm_onnx(t->graph, onnx_reshape(t->graph, x, shape, 3),
                                     norm->groups, norm->epsilon);
    onnx_give(t->graph, t->node->to, onnx_shaped(t->graph, xh, image), image);
}

static const struct node_kind group_norm_node = {.plan_size = sizeof(struct group_norm),
                                                 .scratch = scratch,
                                                 .forward = forward,
                                                 .backward = backward,
                                                 .onnx = onnx};

static enum status check_group_norm(const struct builder *builder,
                                    const struct layer_spec *spec, size_t channels)
{
    enum status status = image_window_check_copies(builder);

    if (status != ST_OK)
        return status;
    if (view_is_flat_image(&builder->view))
        return builder_refuse(builder, "/type", "must come before flatten");
    if (spec->groups == 0 || channels % spec->groups != 0)
        return builder_refuse(builder, "/groups", "must divide the %zu channels",
                              channels);
    if (!(spec->epsilon >= MODEL_NORM_EPSILON_MIN && spec->epsilon <= 1))
        return builder_refuse(builder, "/eps", "must be in [1e-12, 1]");
    return ST_OK;
}

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    const struct view *view = &builder->view;
    bool image = view->image.channels > 0;
    struct group_norm norm = {.positions = image ? view_pixels(view) : 1,
                              .channels =
                                  image ? view->image.channels : builder_width(builder),
                              .groups = spec->groups,
                              .epsilon = spec->epsilon};
    enum status status = check_group_norm(builder, spec, norm.channels);

    if (status == ST_OK)
        status = builder_check_parameters(builder, 2 * norm.channels);
    if (status != ST_OK)
        return status;
    if (image)
        builder_interleave(builder);
    struct node *node = builder_node_over(builder, &group_norm_node);
    *(struct group_norm *)node->plan = norm;
    node->extra = builder_value(builder, norm.groups, false);
    channel_scale_build(builder, channels_of(&norm));
    return ST_OK;
}

static const struct layer_member members[] = {
    {.name = "groups",
     .kind = MEMBER_COUNT,
     .offset = offsetof(struct layer_spec, groups),
     .low = 1,
     .high = MODEL_WIDTH_MAX},
    {.name = "eps",
     .kind = MEMBER_REAL,
     .offset = offsetof(struct layer_spec, epsilon),
     .low = MODEL_NORM_EPSILON_MIN,
     .high = 1,
     .optional = true,
     .fallback = 1e-5}, /* network.md 7 */
};

const struct layer_kind layer_group_norm = {
    .name = "group_norm",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .stands_in_for = "batch_norm",
    .stands_in_because = "batch_norm mixes records, group_norm does not",
    .build = build,
};
