/* The layer `attention` has three branches of layers that read the same sequence, and one
 * node that reads their ends: q, k and v, whose columns are those of the heads, one after
 * the other. The node has no weights. The projection after it is a dense layer of its
 * own, so each weight can be named and frozen like any other. */
#include "engine/nn/layers/attention.h"

#include <math.h>
#include <string.h>

#include "engine/gemm/gemm.h"
#include "engine/gemm/gemm_choice.h"
#include "engine/nn/layers/fork.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/layers/sequence.h"
#include "engine/parallel/vector_math.h"

enum { LANES = 16 };
_Static_assert((int)LANES == (int)ROWS_STEP, "a row of P is whole groups of lanes");

size_t attention_scratch(size_t positions)
{
    return positions * rows_stride(positions);
}

static float greatest(const float *row, size_t count)
{
    float most = row[0];
    for (size_t j = 1; j < count; j++)
        most = row[j] > most ? row[j] : most;
    return most;
}

/* The sums of the lanes are added in their order, so zeros behind the end change no
 * bit. */
static double sum_of(const double lanes[LANES])
{
    double sum = 0;
    for (size_t lane = 0; lane < LANES; lane++)
        sum += lanes[lane];
    return sum;
}

/* What lies behind the columns of the product is cleared with what is behind the end. */
VECTOR_CLONES
static void softmax(float *row, size_t length, size_t stride, float scale)
{
    double lanes[LANES] = {0};
    const float most = greatest(row, length);

    VECTOR_LOOP
    for (size_t j = 0; j < stride; j++) {
        float below = scale * (row[j] - most);
        row[j] = lanes_expf(below > 0.0F ? 0.0F : below);
    }
    memset(row + length, 0, (stride - length) * sizeof *row);
    for (size_t j = 0; j < stride; j += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            lanes[lane] += (double)row[j + lane];
    const float share = length > 0 ? (float)(1.0 / sum_of(lanes)) : 0.0F;
    for (size_t j = 0; j < stride; j++)
        row[j] *= share;
}

static float scale_of(const struct attention_head *head)
{
    return (float)(1.0 / sqrt((double)head->width));
}

/* to (positions, rows_stride) = x y^T, of the head's columns of two values. */
static void pairs(const struct attention_head *head, float *to, const float *x,
                  const float *y)
{
    gemm_rows_by_rows(gemm_choice_best(),
                      &(struct gemm){.rows = head->positions,
                                     .columns = head->positions,
                                     .terms = head->width,
                                     .x = x,
                                     .x_stride = head->stride,
                                     .y = y,
                                     .y_stride = head->stride,
                                     .z = to,
                                     .z_stride = rows_stride(head->positions)});
}

/* A product of P or dS, or of its transpose, and the head's columns of a value. */
static struct gemm weigh(const struct attention_head *head, float *to,
                         const float *shares, const float *value)
{
    return (struct gemm){.rows = head->positions,
                         .columns = head->width,
                         .terms = head->positions,
                         .x = shares,
                         .x_stride = rows_stride(head->positions),
                         .y = value,
                         .y_stride = head->stride,
                         .z = to,
                         .z_stride = head->stride};
}

/* p = P */
static void shares(const struct attention_head *head, float *p)
{
    size_t stride = rows_stride(head->positions);
    pairs(head, p, head->q, head->k);
    for (size_t t = 0; t < head->positions; t++)
        softmax(p + t * stride, head->length, stride, scale_of(head));
}

void attention_run(const struct attention_head *head, float *scratch)
{
    shares(head, scratch);
    struct gemm y = weigh(head, head->y, scratch, head->v);
    gemm_rows_by_columns(gemm_choice_best(), &y);
}

/* row = dS of a position, from dP. */
VECTOR_CLONES
static void softmax_back(float *restrict row, const float *restrict p, size_t length,
                         size_t stride, float scale)
{
    double lanes[LANES] = {0};

    memset(row + length, 0, (stride - length) * sizeof *row);
    for (size_t j = 0; j < stride; j += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            lanes[lane] += (double)p[j + lane] * (double)row[j + lane];
    const float mean = (float)sum_of(lanes);
    for (size_t j = 0; j < stride; j++)
        row[j] = scale * (p[j] * (row[j] - mean));
}

void attention_back(const struct attention_head *head,
                    const struct attention_gradients *to, float *scratch)
{
    const struct gemm_kernel *kernel = gemm_choice_best();
    size_t stride = rows_stride(head->positions);
    float *p = scratch, *ds = scratch + attention_scratch(head->positions);

    shares(head, p);
    if (to->dv != NULL) {
        struct gemm dv = weigh(head, to->dv, p, to->dy);
        gemm_columns_by_columns(kernel, &dv);
    }
    pairs(head, ds, to->dy, head->v);
    for (size_t t = 0; t < head->positions; t++)
        softmax_back(ds + t * stride, p + t * stride, head->length, stride,
                     scale_of(head));
    if (to->dq != NULL) {
        struct gemm dq = weigh(head, to->dq, ds, head->k);
        gemm_rows_by_columns(kernel, &dq);
    }
    if (to->dk != NULL) {
        struct gemm dk = weigh(head, to->dk, ds, head->q);
        gemm_columns_by_columns(kernel, &dk);
    }
}

struct plan {
    size_t heads, positions, width; /* width: of all heads */
};

static size_t scratch(const struct node *node)
{
    const struct plan *plan = node->plan;
    return 2 * attention_scratch(plan->positions);
}

/* The activations of the ends of the branches, and of the output. */
struct values {
    struct rows ids, q, k, v, y;
};

static struct values values_of(const struct node_work *work)
{
    const struct node *node = node_of(work);
    return (struct values){.ids = sequence_ids(work),
                           .q = activations_of(work, node->from),
                           .k = activations_of(work, node->other),
                           .v = activations_of(work, node->third),
                           .y = activations_of(work, node->to)};
}

static float *row_of(struct rows rows, size_t i)
{
    return rows.data != NULL ? rows.data + i * rows.stride : NULL;
}

/* The first head of record i. */
static struct attention_head first_head(const struct plan *plan,
                                        const struct values *values, size_t i)
{
    return (struct attention_head){
        .positions = plan->positions,
        .length = sequence_length(row_of(values->ids, i), plan->positions),
        .width = plan->width / plan->heads,
        .q = row_of(values->q, i),
        .k = row_of(values->k, i),
        .v = row_of(values->v, i),
        .y = row_of(values->y, i),
        .stride = plan->width};
}

static void forward(const struct node_work *work)
{
    const struct plan *plan = node_of(work)->plan;
    struct values values = values_of(work);

    for (size_t i = 0; i < values.y.count; i++) {
        struct attention_head head = first_head(plan, &values, i);
        for (size_t h = 0; h < plan->heads; h++) {
            attention_run(&head, work->workspace->node_scratch);
            head.q += head.width;
            head.k += head.width;
            head.v += head.width;
            head.y += head.width;
        }
    }
}

/* The gradients of a value; none if no parameter lies before it. */
static struct rows gradients_if_any(const struct node_work *work, size_t value)
{
    return has_gradient(work, value) ? gradients_of(work, value) : (struct rows){0};
}

static float *next(float *columns, size_t width)
{
    return columns != NULL ? columns + width : NULL;
}

static void backward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    const struct plan *plan = node->plan;
    struct values values = values_of(work);
    struct rows dy = gradients_of(work, node->to),
                dq = gradients_if_any(work, node->from),
                dk = gradients_if_any(work, node->other),
                dv = gradients_if_any(work, node->third);

    for (size_t i = 0; i < dy.count; i++) {
        struct attention_head head = first_head(plan, &values, i);
        struct attention_gradients to = {row_of(dy, i), row_of(dq, i), row_of(dk, i),
                                         row_of(dv, i)};
        for (size_t h = 0; h < plan->heads; h++) {
            attention_back(&head, &to, work->workspace->node_scratch);
            head.q += head.width;
            head.k += head.width;
            head.v += head.width;
            to.dy += head.width;
            to.dq = next(to.dq, head.width);
            to.dk = next(to.dk, head.width);
            to.dv = next(to.dv, head.width);
        }
    }
}

/* Two products of each head for each pair of positions. */
static double flops(const struct node *node)
{
    const struct plan *plan = node->plan;
    return 4.0 * (double)plan->positions * (double)plan->positions *
           (double)plan->width;
}

static const int64_t turn[] = {0, 1, 3, 2}; /* swaps the last two axes of four */

/* The value as (batch, heads, width of a head, positions), or turned. */
static const char *heads_of(const struct translation *t, size_t value, bool by_position)
{
    const struct plan *plan = t->node->plan;
    const int64_t shape[] = {0, (int64_t)plan->heads,
                             (int64_t)(plan->width / plan->heads),
                             (int64_t)plan->positions};
    const char *name = onnx_reshape(t->graph, onnx_value(t->graph, value), shape, 4);
    if (!by_position)
        return name;
    name = onnx_node(t->graph, "Transpose", (struct onnx_inputs){{name}});
    onnx_attribute_ints(t->graph, "perm", turn, 4);
    return name;
}

static const char *two(const struct translation *t, const char *op_type,
                       const char *one, const char *other)
{
    return onnx_node(t->graph, op_type, (struct onnx_inputs){{one, other}});
}

/* Behind the end, scores are lowered by 1e30 before the softmax, and its results are
 * multiplied by 0. */
static void onnx(const struct translation *t)
{
    const struct plan *plan = t->node->plan;
    const int64_t keys[] = {0, 1, 1, (int64_t)plan->positions},
                  columns[] = {0, (int64_t)plan->width, (int64_t)plan->positions};
    const float scale = (float)(1.0 / sqrt((double)plan->width / (double)plan->heads)),
                one = 1.0F, far = 1e30F;
    const char *mask = onnx_reshape(t->graph, sequence_mask(t), keys, 4);
    const char *below =
        two(t, "Mul", two(t, "Sub", mask, onnx_floats(t->graph, &one, 0)),
            onnx_floats(t->graph, &far, 0));
    const char *p = two(t, "MatMul", heads_of(t, t->node->from, true),
                        heads_of(t, t->node->other, false));
    p = two(t, "Mul", p, onnx_floats(t->graph, &scale, 0));
    p = two(t, "Add", p, below);
    p = onnx_node(t->graph, "Softmax", (struct onnx_inputs){{p}});
    onnx_attribute_int(t->graph, "axis", -1);
    p = two(t, "Mul", p, mask);
    p = onnx_node(t->graph, "Transpose", (struct onnx_inputs){{p}});
    onnx_attribute_ints(t->graph, "perm", turn, 4);
    p = two(t, "MatMul", heads_of(t, t->node->third, false), p); /* y^T = v^T P^T */
    sequence_give(t, onnx_reshape(t->graph, p, columns, 3), plan->width);
}

static const struct node_kind attention_node = {.plan_size = sizeof(struct plan),
                                                .reads_record = true,
                                                .unread = UNREAD_TO,
                                                .scratch = scratch,
                                                .forward = forward,
                                                .backward = backward,
                                                .flops = flops,
                                                .onnx = onnx};

struct ends { /* the values at the ends of the branches, and their width */
    size_t values[3], width;
};

/* Builds the three branches from one value, each of which may write only what it made
 * itself. */
static enum status build_branches(struct builder *builder,
                                  const struct layer_spec *spec, struct ends *ends)
{
    static const char *const names[] = {"query", "key", "value"};
    const uint32_t counts[] = {spec->body, spec->shortcut, spec->third};
    size_t first = (size_t)(spec - builder->model->layers) + 1;
    struct fork forks[2];
    enum status status = fork_build(builder, &forks[0]);

    if (status != ST_OK)
        return status;
    builder->view = forks[0].other;
    status = fork_build(builder, &forks[1]);
    const struct view starts[] = {forks[0].one, forks[1].one, forks[1].other};
    for (size_t k = 0; k < 3 && status == ST_OK; k++) {
        builder->view = starts[k];
        status = builder_branch(builder, names[k], first, counts[k]);
        if (status == ST_OK)
            status = sequence_check(builder);
        if (status == ST_OK && k > 0 && builder->view.image.channels != ends->width)
            return builder_refuse(builder, "",
                                  "query, key and value differ in width: %zu and %zu",
                                  ends->width, builder->view.image.channels);
        ends->values[k] = builder->view.value;
        ends->width = builder->view.image.channels;
        first += counts[k];
    }
    return status;
}

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    struct ends ends;
    enum status status = sequence_check(builder);

    if (status != ST_OK)
        return status;
    if (builder->depth == MODEL_NESTING_MAX)
        return builder_refuse(builder, "", "is nested deeper than %d",
                              MODEL_NESTING_MAX);
    status = build_branches(builder, spec, &ends);
    if (status != ST_OK)
        return status;
    if (spec->groups == 0 || ends.width % spec->groups != 0)
        return builder_refuse(builder, "/heads",
                              "must divide the width of query, key and value, %zu",
                              ends.width);
    builder->view.value = ends.values[0];
    struct node *node = builder_node(builder, &attention_node, builder_width(builder));
    node->name = spec->kind->name; /* and not that of the last layer of a branch */
    node->other = ends.values[1];
    node->third = ends.values[2];
    for (size_t k = 0; k < 3; k++)
        builder->network->values[node->to].has_gradient |=
            builder->network->values[ends.values[k]].has_gradient;
    *(struct plan *)node->plan =
        (struct plan){.heads = spec->groups,
                      .positions = builder->network->shape.features,
                      .width = ends.width};
    return ST_OK;
}

static const struct layer_member members[] = {
    {.name = "heads",
     .kind = MEMBER_COUNT,
     .offset = offsetof(struct layer_spec, groups),
     .low = 1,
     .high = MODEL_WIDTH_MAX},
    {.name = "query",
     .kind = MEMBER_LAYERS,
     .offset = offsetof(struct layer_spec, body),
     .low = 1},
    {.name = "key",
     .kind = MEMBER_LAYERS,
     .offset = offsetof(struct layer_spec, shortcut),
     .low = 1},
    {.name = "value",
     .kind = MEMBER_LAYERS,
     .offset = offsetof(struct layer_spec, third),
     .low = 1},
};

const struct layer_kind layer_attention = {
    .name = "attention",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .build = build,
};
