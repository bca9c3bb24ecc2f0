/* A pass over differences runs the ordinary nodes at the previous point (node_forward and
 * node_backward of pass.h) and beside each the rule that carries the difference through
 * it (rule_forward, rule_backward). A prime marks the previous point; da, db, dz are
 * differences over s.
 *
 * Rules read values of the previous point that ordinary nodes overwrite, so the order
 * matters. Forward, an activation's rule runs before its node, which may write over z';
 * other rules run after theirs, as pools read y'. Backward, rules run before their nodes,
 * as they read b'.
 *
 * A layer with a weight needs b', db and, for its sums, the b of the new point. Once its
 * own backward is done nobody reads b' any more, and b = b' + s db takes its place
 * (advance). */
#include "engine/nn/difference.h"

#include <string.h>

#include "base/check.h"
#include "engine/nn/activation.h"
#include "engine/nn/activation_difference.h"
#include "engine/nn/loss_difference.h"
#include "engine/nn/pass.h"
#include "engine/nn/pooling.h"
#include "engine/nn/row_difference.h"
#include "engine/parallel/vector_math.h"

/* kappa: how large a record's spread may be beside its clip norm. Two terms whose norms
 * add up to more than twice that of their sum are rare, and kappa multiplies what
 * rounding adds to the noise. */
static const double spread_of_two_terms = 2.0;

/* Whether a layer with one row a record stands on another, so that its sum has two terms
 * a record. Layers that store per-example gradients do not count: such a gradient is one
 * term. */
static bool is_stacked(const struct network *network)
{
    for (size_t l = 0; l < network->layer_count; l++)
        if (!network->layers[l].has_positions &&
            network->values[network->layers[l].from].has_gradient)
            return true;
    return false;
}

double network_difference_spread(const struct network *network)
{
    return is_stacked(network) ? spread_of_two_terms : 1.0;
}

uint32_t network_difference_terms(const struct network *network)
{
    return is_stacked(network) ? 2 : 1;
}

/* What to call a node that has no rule, or NULL if it has one. */
static const char *without_rule(const struct network *network, const struct node *node)
{
    switch (node->kind) {
    case NODE_POSITIONS:
        if (network->layers[node->layer].positions.form != NORM_PER_EXAMPLE)
            return "convolution with more than three weights an activation";
        return NULL;
    case NODE_ACTIVATION:
        return node->activation->rule.forward == NULL ? node->name : NULL;
    case NODE_NORMALISE:
    case NODE_SCALE: return node->name;
    case NODE_DENSE:
    case NODE_MAX_POOL:
    case NODE_AVERAGE_POOL:
    case NODE_DROPOUT:
    case NODE_FORK:
    case NODE_ADD:
    case NODE_INTERLEAVE: break;
    }
    return NULL;
}

enum status network_check_differences(const struct network *network,
                                      struct error *error)
{
    for (size_t i = 0; i < network->node_count; i++) {
        const char *what = without_rule(network, &network->nodes[i]);
        if (what != NULL)
            return error_set_at(error, ST_INVALID, "/model",
                                "a %s has no rule for differences of gradients", what);
    }
    return ST_OK;
}

/* A node at work on a value's activations and gradients and their differences. */
struct difference_work {
    struct work work; /* parameters: the previous point's */
    struct row_points points;
    float scale;
};

static bool has_gradient(const struct work *work, size_t value)
{
    return work->workspace->network->values[value].has_gradient;
}

static struct row_pair activations(const struct work *work, size_t value)
{
    struct row_pair pair = {.at = part(work, work->workspace->activations, value)};
    if (has_gradient(work, value))
        pair.difference = part(work, work->workspace->differences, value);
    return pair;
}

static struct row_pair gradients(const struct work *work, size_t value)
{
    return (struct row_pair){
        .at = part(work, work->workspace->gradients, value),
        .difference = part(work, work->workspace->gradient_differences, value)};
}

static struct row_pair cut_pair(const struct row_pair *pair, struct row_range range)
{
    struct row_pair piece = {.at = cut(pair->at, range)};
    if (pair->difference.data != NULL)
        piece.difference = cut(pair->difference, range);
    return piece;
}

static struct float_pair floats(const struct row_pair *pair)
{
    return (struct float_pair){pair->at.data, pair->difference.data};
}

static void dense_forward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    struct row_pair a = activations(&d->work, node->from);
    struct rows dz = activations(&d->work, node->to).difference;
    const struct row_layer *layer = &layer_of(&d->work)->rows;
    struct row_range range = {0};

    for (; range.first < dz.count; range.first += range.count) {
        range.count =
            heights_forward(d->work.workspace->heights, layer, dz.count - range.first);
        struct row_pair piece = cut_pair(&a, range);
        row_difference_forward(layer, &d->points, cut(dz, range), &piece);
    }
}

enum { NEW_WEIGHTS = 1, WEIGHT_STEPS = 2 }; /* sets of gathered weights */

static void positions_difference(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    struct row_pair a = activations(&d->work, node->from);
    struct rows dz = activations(&d->work, node->to).difference;
    struct position_pass new =
        pass_positions(&d->work, d->points.parameters, NEW_WEIGHTS);
    struct position_pass step = pass_positions(&d->work, d->points.step, WEIGHT_STEPS);

    new.bias = NULL;
    if (a.difference.data != NULL)
        positions_forward(&new, dz, a.difference);
    step.adds = a.difference.data != NULL;
    positions_forward(&step, dz, a.at);
}

static void elementwise_forward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    struct row_pair x = activations(&d->work, node->from);
    struct row_pair y = activations(&d->work, node->to);
    struct float_pair z = floats(&x);

    node->activation->rule.forward(y.difference.data, &z, d->scale,
                                   y.at.count * y.at.stride);
}

static struct max_pool_points pool_points(const struct difference_work *d)
{
    const struct workspace *workspace = d->work.workspace;
    size_t stride = workspace->network->values[node_of(&d->work)->to].stride;
    int32_t *taps = pass_taps(&d->work);
    return (struct max_pool_points){taps, taps + workspace->rows * stride, d->scale};
}

static struct rows mask_of(const struct difference_work *d)
{
    return part(&d->work, d->work.workspace->activations, node_of(&d->work)->extra);
}

static void copy(struct rows to, struct rows from)
{
    memcpy(to.data, from.data, from.count * from.stride * sizeof *from.data);
}

/* One of the two values may depend on the record alone; its difference is then zero. */
static void add_forward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    struct rows sum = activations(&d->work, node->to).difference;
    struct rows a = activations(&d->work, node->from).difference;
    struct rows b = activations(&d->work, node->other).difference;

    if (a.data != NULL && b.data != NULL)
        pass_add(sum, a, b);
    else
        copy(sum, a.data != NULL ? a : b);
}

static void hand_back(const struct difference_work *d, size_t value, struct rows db)
{
    if (has_gradient(&d->work, value))
        copy(gradients(&d->work, value).difference, db);
}

/* Runs the node's rule, after its ordinary forward except for activations, which may
 * write over z'. Pools read y'. */
static void rule_forward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    struct row_pair x = activations(&d->work, node->from);
    struct row_pair y = activations(&d->work, node->to);
    struct max_pool_points points;

    switch (node->kind) {
    case NODE_DENSE: dense_forward(d); break;
    case NODE_POSITIONS: positions_difference(d); break;
    case NODE_ACTIVATION: elementwise_forward(d); break;
    case NODE_MAX_POOL:
        points = pool_points(d);
        max_pool_difference_forward(&node->window, y, x, &points);
        break;
    case NODE_AVERAGE_POOL:
        average_pool_forward(&node->window, y.difference, x.difference);
        break;
    case NODE_DROPOUT: dropout_apply(y.difference, x.difference, mask_of(d)); break;
    case NODE_ADD: add_forward(d); break;
    case NODE_FORK:       /* both ends have x's own buffer */
    case NODE_INTERLEAVE: /* it turns the record, which does not move */
    case NODE_NORMALISE:
    case NODE_SCALE: break; /* refused */
    }
}

static void difference_forward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    bool moves = has_gradient(&d->work, node->to);
    bool overwrites = node->kind == NODE_ACTIVATION;

    if (moves && overwrites)
        rule_forward(d);
    node_forward(&d->work);
    if (moves && !overwrites)
        rule_forward(d);
}

/* b = b' + s db, in place of b'. */
VECTOR_CLONES
static void advance(float *b, const float *db, float scale, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++)
        b[i] += scale * db[i];
}

/* Nobody reads b' of a layer after its own backward; from then on b stands there. */
static void dense_backward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    struct row_pair b = gradients(&d->work, node->to);
    const struct row_layer *layer = &layer_of(&d->work)->rows;
    struct row_range range = {0};
    struct rows below;

    if (!has_gradient(&d->work, node->from))
        return;
    below = gradients(&d->work, node->from).difference;
    for (; range.first < below.count; range.first += range.count) {
        range.count = heights_backward(d->work.workspace->heights, layer,
                                       below.count - range.first);
        struct row_pair piece = cut_pair(&b, range);
        row_difference_backward(layer, &d->points, cut(below, range), &piece);
    }
    node_backward(&d->work);
    advance(b.at.data, b.difference.data, d->scale, b.at.count * b.at.stride);
}

static void positions_backward_difference(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    struct row_pair b = gradients(&d->work, node->to);
    struct position_pass new =
        pass_positions(&d->work, d->points.parameters, NEW_WEIGHTS);
    struct position_pass step = pass_positions(&d->work, d->points.step, WEIGHT_STEPS);

    if (has_gradient(&d->work, node->from)) {
        struct rows below = gradients(&d->work, node->from).difference;
        step.adds = true;
        positions_backward(&new, below, b.difference);
        positions_backward(&step, below, b.at);
        node_backward(&d->work);
        advance(b.at.data, b.difference.data, d->scale, b.at.count * b.at.stride);
    }
    pass_bias_gradients(&d->work, b.difference);
}

static void elementwise_backward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    struct row_pair b = gradients(&d->work, node->to);
    struct row_pair at =
        activations(&d->work, node->activation->reads_input ? node->from : node->to);
    struct activation_pairs pairs = {.b = floats(&b), .at = floats(&at)};

    node->activation->rule.backward(gradients(&d->work, node->from).difference.data,
                                    &pairs, d->scale, at.at.count * at.at.stride);
}

/* Runs the node's rule, before its ordinary backward: it reads b' of the node's output.
 * The rules of layers with weights (dense_backward, positions_backward_difference) call
 * the ordinary backward themselves, as they write over b' then. */
static void rule_backward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    struct row_pair b = gradients(&d->work, node->to);
    struct rows below = gradients(&d->work, node->from).difference;
    struct max_pool_points points;

    switch (node->kind) {
    case NODE_ACTIVATION: elementwise_backward(d); break;
    case NODE_MAX_POOL:
        points = pool_points(d);
        max_pool_difference_backward(&node->window, below, b, &points);
        break;
    case NODE_AVERAGE_POOL:
        average_pool_backward(&node->window, below, b.difference);
        break;
    case NODE_DROPOUT: dropout_apply(below, b.difference, mask_of(d)); break;
    case NODE_FORK:
        pass_add(below, b.difference, gradients(&d->work, node->other).difference);
        break;
    case NODE_ADD:
        hand_back(d, node->from, b.difference);
        hand_back(d, node->other, b.difference);
        break;
    case NODE_DENSE:
    case NODE_POSITIONS:
    case NODE_INTERLEAVE:
    case NODE_NORMALISE:
    case NODE_SCALE: break;
    }
}

static void difference_backward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);

    if (!has_gradient(&d->work, node->to))
        return;
    if (node->kind == NODE_DENSE) {
        dense_backward(d);
    } else if (node->kind == NODE_POSITIONS) {
        positions_backward_difference(d);
    } else {
        rule_backward(d);
        node_backward(&d->work);
    }
}

static void loss_differences(struct workspace *workspace, double scale)
{
    const struct network *network = workspace->network;
    struct rows db =
        rows_of(workspace->gradient_differences, workspace, network->output);
    size_t count = workspace->count;

    loss_difference(
        network->loss,
        &(struct loss_pairs){
            .z = rows_of(workspace->activations, workspace, network->output),
            .dz = rows_of(workspace->differences, workspace, network->output),
            .db = db,
            .width = network->shape.outputs,
            .values = workspace->values,
            .huber_delta = network->huber_delta,
            .scale = scale,
            .scratch = workspace->scratch});
    memset(db.data + count * db.stride, 0,
           (db.count - count) * db.stride * sizeof *db.data);
}

void workspace_difference(struct workspace *workspace,
                          const struct parameter_step *step, size_t count)
{
    const struct network *network = workspace->network;
    struct difference_work d = {
        .work = {.workspace = workspace, .parameters = parameter_step_previous(step)},
        .points = {parameter_step_parameters(step), parameter_step_scaled(step)},
        .scale = (float)parameter_step_scale(step)};
    struct row_range *range = &d.work.range;

    CHECK(workspace->two_points);
    pass_start(workspace, count);
    pass_gather(workspace, parameter_step_previous(step), 0);
    pass_gather(workspace, parameter_step_parameters(step), NEW_WEIGHTS);
    pass_gather(workspace, parameter_step_scaled(step), WEIGHT_STEPS);
    range->count = pass_stretch(workspace);
    for (; range->first < active_rows(workspace); range->first += range->count)
        for (d.work.node = 0; d.work.node < network->node_count; d.work.node++)
            difference_forward(&d);
    workspace_loss(workspace);
    loss_differences(workspace, parameter_step_scale(step));
    for (range->first = 0; range->first < active_rows(workspace);
         range->first += range->count)
        for (d.work.node = network->node_count; d.work.node-- > 0;)
            difference_backward(&d);
    workspace->holds_differences = true;
}
