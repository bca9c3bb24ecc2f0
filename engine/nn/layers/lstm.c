/* A long short-term memory of H units reads the positions of a sequence one after the
 * other, as PyTorch's nn.LSTM of one layer does, with its order of the gates:
 *
 *   z_t = W_ih x_t + b_ih + W_hh h_(t-1) + b_hh       (4 H) parts i, f, g, o
 *   c_t = s(z_f) c_(t-1) + s(z_i) tanh(z_g)           s: the logistic function
 *   h_t = s(z_o) tanh(c_t)                            h_(-1) = c_(-1) = 0
 *
 * Behind the end of a record h is zero, and no gradient comes from there. The gates are
 * computed there too, so that the time does not tell how long a record is.
 *
 * It is two weight layers that share their b, the gradient at z: W_ih reads x, and W_hh
 * reads h moved by one position, which is kept as a value of its own. Both are layers
 * with positions: position_layer.h measures and sums each of them, its bias included.
 *
 *   x --input node--> z --recurrent node--> h
 *                      after it, z holds the gates; `other` is h moved by one position,
 *                      `extra` is c, and its gradient is that of c_t along the way back */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/gemm/gemm.h"
#include "engine/gemm/gemm_choice.h"
#include "engine/nn/layers/position_layer.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/layers/sequence.h"
#include "engine/parallel/vector_math.h"

enum { GATES = 4, HIDDEN_MAX = MODEL_WIDTH_MAX / GATES };

struct plan {
    struct position_layer recurrent; /* W_hh and b_hh */
    size_t positions, hidden;
};

static inline float logistic(float z)
{
    float e = lanes_expf(-fabsf(z));
    return (z >= 0.0F ? 1.0F : e) / (1.0F + e);
}

/* z = the gates of z + bias. */
VECTOR_CLONES
static void open_gates(float *restrict z, const float *restrict bias, size_t hidden)
{
    VECTOR_LOOP
    for (size_t j = 0; j < 2 * hidden; j++)
        z[j] = logistic(z[j] + bias[j]);
    VECTOR_LOOP
    for (size_t j = 2 * hidden; j < 3 * hidden; j++)
        z[j] = lanes_tanhf(z[j] + bias[j]);
    VECTOR_LOOP
    for (size_t j = 3 * hidden; j < 4 * hidden; j++)
        z[j] = logistic(z[j] + bias[j]);
}

VECTOR_CLONES
static void advance(float *restrict c, float *restrict h, const float *restrict gates,
                    const float *restrict c_before, size_t hidden)
{
    const float *i = gates, *f = i + hidden, *g = f + hidden, *o = g + hidden;
    VECTOR_LOOP
    for (size_t j = 0; j < hidden; j++) {
        c[j] = f[j] * c_before[j] + i[j] * g[j];
        h[j] = o[j] * lanes_tanhf(c[j]);
    }
}

struct step { /* the numbers of one record at one position */
    const float *gates, *c, *c_before, *dh;
    float *dc; /* the gradient of c that later positions give */
};

/* dz = the gradient at z; dc_before = that of c_(t-1). */
VECTOR_CLONES
static void go_back(float *restrict dz, float *dc_before, const struct step *step,
                    size_t hidden)
{
    const float *i = step->gates, *f = i + hidden, *g = f + hidden, *o = g + hidden;
    const float *c = step->c, *c_before = step->c_before, *dh = step->dh,
                *later = step->dc;
    VECTOR_LOOP
    for (size_t j = 0; j < hidden; j++) {
        float t = lanes_tanhf(c[j]);
        float dc = later[j] + dh[j] * o[j] * (1.0F - t * t);
        dz[j] = dc * g[j] * (i[j] * (1.0F - i[j]));
        dz[hidden + j] = dc * c_before[j] * (f[j] * (1.0F - f[j]));
        dz[2 * hidden + j] = dc * i[j] * (1.0F - g[j] * g[j]);
        dz[3 * hidden + j] = dh[j] * t * (o[j] * (1.0F - o[j]));
        dc_before[j] = dc * f[j];
    }
}

struct values {
    struct rows z, h, before, c; /* before: h moved by one position */
    struct rows ids;
    const float *weight, *bias;
};

static struct values values_of(const struct node_work *work)
{
    const struct node *node = node_of(work);
    const struct plan *plan = node->plan;
    return (struct values){.z = activations_of(work, node->from),
                           .h = activations_of(work, node->to),
                           .before = activations_of(work, node->other),
                           .c = activations_of(work, node->extra),
                           .ids = sequence_ids(work),
                           .weight = work->parameters + plan->recurrent.rows.weight,
                           .bias = work->parameters + plan->recurrent.rows.bias};
}

static float *at(struct rows rows, size_t i, size_t t, size_t width)
{
    return rows.data + i * rows.stride + t * width;
}

/* Position t of record i, which has length tokens. */
static void run_position(const struct values *v, const struct plan *plan, size_t i,
                         size_t t, size_t length)
{
    size_t hidden = plan->hidden, size = hidden * sizeof(float);
    float *h = at(v->h, i, t, hidden), *c = at(v->c, i, t, hidden);
    float *z = at(v->z, i, t, GATES * hidden), *first = at(v->before, i, 0, hidden);

    open_gates(z, v->bias, hidden);
    /* c_(-1) is zero, as h_(-1) is */
    advance(c, h, z, t > 0 ? c - hidden : first, hidden);
    if (t >= length) {
        memset(h, 0, size);
        memset(c, 0, size);
    }
    if (t + 1 < plan->positions)
        memcpy(at(v->before, i, t + 1, hidden), h, size);
}

static void forward(const struct node_work *work)
{
    const struct plan *plan = node_of(work)->plan;
    struct values v = values_of(work);
    size_t hidden = plan->hidden;

    for (size_t i = 0; i < v.h.count; i++)
        memset(at(v.before, i, 0, hidden), 0, hidden * sizeof(float));
    for (size_t t = 0; t < plan->positions; t++) {
        float *z = at(v.z, 0, t, GATES * hidden);
        gemm_rows_by_rows(gemm_choice_best(),
                          &(struct gemm){.rows = v.z.count,
                                         .columns = GATES * hidden,
                                         .terms = hidden,
                                         .x = at(v.before, 0, t, hidden),
                                         .x_stride = v.before.stride,
                                         .y = v.weight,
                                         .y_stride = hidden,
                                         .z = z,
                                         .z_stride = v.z.stride,
                                         .start = z,
                                         .start_stride = v.z.stride});
        for (size_t i = 0; i < v.h.count; i++)
            run_position(&v, plan, i, t,
                         sequence_length(at(v.ids, i, 0, 1), plan->positions));
    }
}

struct gradients {
    struct rows z, h, c;
};

static void back_position(const struct values *v, const struct gradients *d,
                          const struct plan *plan, size_t i, size_t t)
{
    size_t hidden = plan->hidden;
    bool own = t < sequence_length(at(v->ids, i, 0, 1), plan->positions);
    float *dz = at(d->z, i, t, GATES * hidden), *dc = at(d->c, i, t, hidden);
    const float *c = at(v->c, i, t, hidden);
    const struct step step = {.gates = at(v->z, i, t, GATES * hidden),
                              .c = c,
                              .c_before = t > 0 ? c - hidden : at(v->before, i, 0, 1),
                              .dh = at(d->h, i, t, hidden),
                              .dc = dc};

    /* The gradient of c_(-1) is not read; it is written over that of c_0. */
    go_back(dz, t > 0 ? dc - hidden : dc, &step, hidden);
    if (!own)
        memset(dz, 0, GATES * hidden * sizeof *dz);
    if (!own && t > 0)
        memset(dc - hidden, 0, hidden * sizeof *dc);
}

/* Adds what z_t gives to the gradient of h_(t-1). */
static void back_to_h(const struct values *v, const struct gradients *d,
                      const struct plan *plan, size_t t)
{
    size_t hidden = plan->hidden;
    float *dh = at(d->h, 0, t - 1, hidden);
    gemm_rows_by_columns(gemm_choice_best(),
                         &(struct gemm){.rows = d->z.count,
                                        .columns = hidden,
                                        .terms = GATES * hidden,
                                        .x = at(d->z, 0, t, GATES * hidden),
                                        .x_stride = d->z.stride,
                                        .y = v->weight,
                                        .y_stride = hidden,
                                        .z = dh,
                                        .z_stride = d->h.stride,
                                        .start = dh,
                                        .start_stride = d->h.stride});
}

static void backward(const struct node_work *work)
{
    const struct node *node = node_of(work);
    const struct plan *plan = node->plan;
    struct values v = values_of(work);
    struct gradients d = {gradients_of(work, node->from), gradients_of(work, node->to),
                          gradients_of(work, node->extra)};

    for (size_t i = 0; i < d.c.count; i++)
        memset(at(d.c, i, plan->positions - 1, plan->hidden), 0,
               plan->hidden * sizeof(float));
    for (size_t t = plan->positions; t-- > 0;) {
        for (size_t i = 0; i < d.z.count; i++)
            back_position(&v, &d, plan, i, t);
        if (t > 0)
            back_to_h(&v, &d, plan, t);
    }
    position_layer_form_bias(work, d.z);
}

/* ONNX has the gates in the order i, o, f, g. */
static const char *reordered(const struct translation *t, const char *name,
                             size_t hidden)
{
    static const size_t order[GATES] = {0, 3, 1, 2};
    int64_t *rows = calloc(GATES * hidden, sizeof *rows);
    CHECK(rows != NULL);
    for (size_t j = 0; j < GATES * hidden; j++)
        rows[j] = (int64_t)(order[j / hidden] * hidden + j % hidden);
    const char *index = onnx_int64s(t->graph, rows, GATES * hidden);
    free(rows);
    name = onnx_node(t->graph, "Gather", (struct onnx_inputs){{name, index}});
    onnx_attribute_int(t->graph, "axis", 1);
    return name;
}

static const char *weight_of(const struct translation *t,
                             const struct position_layer *layer, size_t hidden)
{
    const struct onnx_dimensions shape = {3,
                                          {1, layer->rows.outputs, layer->rows.inputs}};
    return reordered(t, translation_tensor(t, layer->rows.weight, shape), hidden);
}

static const char *bias_of(const struct translation *t,
                           const struct position_layer *layer, size_t hidden)
{
    const struct onnx_dimensions shape = {2, {1, layer->rows.outputs}};
    return reordered(t, translation_tensor(t, layer->rows.bias, shape), hidden);
}

static const char *turned(const struct translation *t, const char *name,
                          const int64_t *order, size_t rank)
{
    name = onnx_node(t->graph, "Transpose", (struct onnx_inputs){{name}});
    onnx_attribute_ints(t->graph, "perm", order, rank);
    return name;
}

/* One operator does the work of both nodes. It also runs behind the end of a record;
 * the mask then makes zeros of what it computes there. */
static void onnx(const struct translation *t)
{
    static const int64_t first[] = {2, 0, 1}, back[] = {2, 1, 3, 0};
    const struct plan *plan = t->node->plan;
    const struct position_layer *input = t->node[-1].plan;
    size_t hidden = plan->hidden;
    const int64_t columns[] = {0, (int64_t)hidden, (int64_t)plan->positions},
                  shape[] = {0, 1, (int64_t)plan->positions};
    const char *x = turned(t, sequence_columns(t, t->node[-1].from), first, 3);
    const char *biases[] = {bias_of(t, input, hidden),
                            bias_of(t, &plan->recurrent, hidden)};
    const char *both = onnx_node_of_many(t->graph, "Concat", biases, 2);
    onnx_attribute_int(t->graph, "axis", 1);
    const char *inputs[] = {x, weight_of(t, input, hidden),
                            weight_of(t, &plan->recurrent, hidden), both};
    const char *y = onnx_node_of_many(t->graph, "LSTM", inputs, 4);
    onnx_attribute_int(t->graph, "hidden_size", (int64_t)hidden);
    y = onnx_reshape(t->graph, turned(t, y, back, 4), columns, 3);
    const struct onnx_inputs own = {
        {y, onnx_reshape(t->graph, sequence_mask(t), shape, 3)}};
    sequence_give(t, onnx_node(t->graph, "Mul", own), hidden);
}

static void onnx_of_input(const struct translation *t)
{
    (void)t; /* the recurrent node's operator has both weights */
}

static const struct node_kind input_node = {.plan_size = sizeof(struct position_layer),
                                            .weights = &position_layer_weights,
                                            .scratch = position_layer_scratch,
                                            .forward = position_layer_forward,
                                            .backward = position_layer_backward,
                                            .onnx = onnx_of_input};

static const struct node_kind recurrent_node = {.plan_size = sizeof(struct plan),
                                                .weights = &position_layer_weights,
                                                .reads_record = true,
                                                .scratch = position_layer_scratch,
                                                .forward = forward,
                                                .backward = backward,
                                                .onnx = onnx};

_Static_assert(offsetof(struct plan, recurrent) == 0,
               "a plan of this node begins as one of positions");

static struct position_weight weight_over(struct image image, size_t outputs,
                                          const char *part)
{
    const struct conv_window_demand pixel = {1, 1, 1, 0, 1};
    struct position_weight weight = {
        .tensor = {.rank = 2, .shape = {outputs, image.channels}, .taps = 1},
        .bias = true,
        .copies = 1,
        .part = part};
    CHECK(conv_window_fit(&weight.window, image, &pixel));
    return weight;
}

/* Appends the recurrent node, which reads z, the current value. */
static void append_recurrent(struct builder *builder, size_t hidden)
{
    struct network *network = builder->network;
    size_t positions = builder->view.image.height, width = positions * hidden;
    struct image image = {positions, 1, hidden};
    const struct position_weight weight = weight_over(image, GATES * hidden, "_hh_l0");
    struct node *node = builder_node(builder, &recurrent_node, width);
    bool trains = network->values[node->to].has_gradient;

    node->other = builder_value(builder, width, false);
    node->extra = builder_value(builder, width, trains);
    network->values[node->from].has_gradient = trains;
    struct weight_layer *layer = position_layer_append(builder, node, &weight);
    layer->from = node->other;
    layer->to = node->from;
    struct plan *plan = node->plan;
    plan->positions = positions;
    plan->hidden = hidden;
    builder->view.image = image;
}

static enum status build(struct builder *builder, const struct layer_spec *spec)
{
    struct layer_spec gates = *spec;
    enum status status = sequence_check(builder);

    if (spec->out == 0 || spec->out > HIDDEN_MAX)
        return builder_refuse(builder, "/hidden", "must be in [1, %d]", HIDDEN_MAX);
    gates.out = GATES * spec->out;
    gates.bias = true;
    if (status == ST_OK)
        status = builder_check_parameters(
            builder, (uint64_t)gates.out *
                         (builder->view.image.channels + (uint64_t)spec->out + 2));
    if (status != ST_OK)
        return status;
    struct position_weight weight =
        weight_over(builder->view.image, gates.out, "_ih_l0");
    status = position_layer_build_part(builder, &input_node, &gates, &weight);
    if (status == ST_OK)
        append_recurrent(builder, spec->out);
    return status;
}

static const struct layer_member members[] = {
    {.name = "hidden",
     .kind = MEMBER_COUNT,
     .offset = offsetof(struct layer_spec, out),
     .low = 1,
     .high = HIDDEN_MAX},
};

const struct layer_kind layer_lstm = {
    .name = "lstm",
    .members = members,
    .member_count = sizeof members / sizeof *members,
    .moves_zero = true,
    .build = build,
};
