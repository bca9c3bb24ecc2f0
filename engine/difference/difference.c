/* A pass over differences walks the network forward and backward at the previous point
 * (node_walk.h), and runs, with each node, the rule of its kind (layer.h,
 * difference_rule), which propagates the difference through it. Forward, the difference
 * of a value is computed from the differences of the values before it and from the step
 * of the parameters; backward, the difference of a gradient from the differences of the
 * gradients after it. The losses' differences (loss_difference.h) are computed between
 * the two.
 *
 * If a node overwrites values that its rule needs, the rule reads them first: see
 * layer.h for the order. Values before the first parameter do not change, and have no
 * differences. */
#include "engine/difference/difference.h"

#include <string.h>

#include "base/check.h"
#include "engine/difference/difference_work.h"
#include "engine/difference/loss_difference.h"
#include "engine/nn/node_walk.h"
#include "engine/parallel/vector_math.h"

/* kappa: how large a record's spread may be, relative to its clip norm. Two terms whose
 * norms add up to more than twice the norm of their sum are rare, and kappa multiplies
 * the noise that is added for rounding. */
static const double spread_of_two_terms = 2.0;

/* Returns whether a layer with one row a record follows another layer, so that its sum
 * has two terms a record. Layers that store per-example gradients do not count, because
 * such a gradient is one term. */
static bool is_stacked(const struct network *network)
{
    for (size_t l = 0; l < network->layer_count; l++)
        if (!network->layers[l].kind->has_positions &&
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

/* The name of a node that has no rule, or NULL if it has one. */
static const char *without_rule(const struct node *node)
{
    const struct difference_rule *rule = node->kind->difference;
    if (rule == NULL)
        return node->name;
    return rule->refuses != NULL ? rule->refuses(node) : NULL;
}

enum status network_check_differences(const struct network *network,
                                      struct error *error)
{
    for (size_t i = 0; i < network->node_count; i++) {
        const char *what = without_rule(&network->nodes[i]);
        if (what != NULL)
            return error_set_at(error, ST_INVALID, "/model",
                                "no rule covers differences of gradients of %s", what);
    }
    return ST_OK;
}

/* b = b' + s db, in place of b'. */
VECTOR_CLONES
static void advance(float *b, const float *db, float scale, size_t count)
{
    VECTOR_LOOP
    for (size_t i = 0; i < count; i++)
        b[i] += scale * db[i];
}

void difference_advance(const struct difference_work *work, const struct row_pair *b)
{
    advance(b->at.data, b->difference.data, work->scale, b->at.count * b->at.stride);
}

static void difference_forward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    const struct difference_rule *rule = node->kind->difference;
    bool moves = has_gradient(&d->work, node->to) && rule->forward != NULL;

    if (moves && rule->reads_input)
        rule->forward(d);
    node_forward(&d->work);
    if (moves && !rule->reads_input)
        rule->forward(d);
}

static void difference_backward(const struct difference_work *d)
{
    const struct node *node = node_of(&d->work);
    const struct difference_rule *rule = node->kind->difference;

    if (!has_gradient(&d->work, node->to))
        return;
    if (rule->backward != NULL)
        rule->backward(d);
    if (!rule->ends_backward)
        node_backward(&d->work);
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
    node_walk_start(workspace, count);
    node_walk_gather(workspace, parameter_step_previous(step), 0);
    node_walk_gather(workspace, parameter_step_parameters(step), NEW_WEIGHTS);
    node_walk_gather(workspace, parameter_step_scaled(step), WEIGHT_STEPS);
    while (node_walk_next(workspace, range))
        for (d.work.node = 0; d.work.node < network->node_count; d.work.node++)
            difference_forward(&d);
    workspace_loss(workspace);
    loss_differences(workspace, parameter_step_scale(step));
    *range = (struct row_range){0};
    while (node_walk_next(workspace, range))
        for (d.work.node = network->node_count; d.work.node-- > 0;)
            difference_backward(&d);
    workspace->holds_differences = true;
}
