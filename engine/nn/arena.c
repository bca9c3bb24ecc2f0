/* arena_plan first finds the passing values, then the nodes between which each of them
 * is needed, and then gives each a place, from the widest to the narrowest: the first
 * gap between those values that are needed at the same time. */
#include "engine/nn/arena.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/check.h"
#include "engine/nn/rows.h"

enum { STRETCH_ROWS = 48, TOUCHED_MAX = 5 };
_Static_assert(STRETCH_ROWS % ROWS_STEP == 0, "stretches end where steps do");

/* If images make rows long, all nodes run over a few rows at a time, so that these rows
 * stay in cache; else each node runs over all rows. */
static size_t stretch_rows(const struct network *network)
{
    for (size_t l = 0; l < network->layer_count; l++)
        if (network->layers[l].kind->has_positions)
            return STRETCH_ROWS;
    return SIZE_MAX;
}

/* Values that share a buffer are one: the buffer's owner. */
static size_t owner_of(const struct network *network, size_t value)
{
    while (network->values[value].shares != value)
        value = network->values[value].shares;
    return value;
}

/* owners = the owners of the values that a node reads or writes. A node without
 * a second, third or extra value names the record there, which is never passing. */
static void touched(const struct network *network, const struct node *node,
                    size_t owners[TOUCHED_MAX])
{
    const size_t values[TOUCHED_MAX] = {node->from, node->to, node->other, node->extra,
                                        node->third};
    for (size_t k = 0; k < TOUCHED_MAX; k++)
        owners[k] = owner_of(network, values[k]);
}

static void keep(struct network *network, size_t value)
{
    network->values[owner_of(network, value)].passing = false;
}

/* Keeps what the way back of a node reads. */
static void keep_read_back(struct network *network, const struct node *node)
{
    static const unsigned unread[TOUCHED_MAX] = {UNREAD_FROM, UNREAD_TO, UNREAD_OTHER};
    size_t owners[TOUCHED_MAX];
    touched(network, node, owners);
    for (size_t k = 0; k < TOUCHED_MAX; k++)
        if ((node->kind->unread & unread[k]) == 0)
            keep(network, owners[k]);
    if (node->kind->weights == NULL)
        return;
    const struct weight_layer *layer = &network->layers[node->layer];
    if (!layer->frozen && !layer->bias_only)
        keep(network, layer->from);
}

static void find_passing(struct network *network)
{
    for (size_t v = 0; v < network->value_count; v++)
        network->values[v].passing = true;
    keep(network, 0);
    keep(network, network->output);
    if (network->frozen_nodes > 0)
        keep(network, network->nodes[network->frozen_nodes - 1].to);
    for (size_t l = 0; l < network->layer_count; l++)
        if (network->layers[l].constant)
            keep(network, network->layers[l].from);
    for (size_t i = 0; i < network->node_count; i++) {
        if (network->values[network->nodes[i].to].has_gradient)
            keep_read_back(network, &network->nodes[i]);
    }
    for (size_t v = 0; v < network->value_count; v++)
        network->values[v].passing = network->values[owner_of(network, v)].passing;
}

/* ends[v] = the last node that touches passing value v, an owner. */
static void find_spans(struct network *network, size_t *ends)
{
    for (size_t v = 0; v < network->value_count; v++)
        network->values[v].begins = network->node_count;
    for (size_t i = 0; i < network->node_count; i++) {
        size_t owners[TOUCHED_MAX];
        touched(network, &network->nodes[i], owners);
        for (size_t k = 0; k < TOUCHED_MAX; k++) {
            struct value *value = &network->values[owners[k]];
            if (value->begins == network->node_count)
                value->begins = i;
            ends[owners[k]] = i;
        }
    }
}

/* Values in the order of their places. */
struct placed {
    size_t *values, count;
};

/* Returns whether two values are needed at the same time. */
static bool meet(const struct network *network, const size_t *ends, size_t a, size_t b)
{
    return network->values[a].begins <= ends[b] && network->values[b].begins <= ends[a];
}

/* Puts a value into the first gap between values of the same time, or behind them. */
static void put(struct network *network, const size_t *ends, struct placed *placed,
                size_t index)
{
    struct value *value = &network->values[index];
    size_t at = 0;
    for (size_t k = 0; k < placed->count; k++) {
        const struct value *other = &network->values[placed->values[k]];
        if (!meet(network, ends, index, placed->values[k]))
            continue;
        if (other->place >= at + value->stride)
            break;
        at = other->place + other->stride > at ? other->place + other->stride : at;
    }
    value->place = at;
    if (at + value->stride > network->arena_stride)
        network->arena_stride = at + value->stride;
    size_t k = placed->count++;
    for (; k > 0 && network->values[placed->values[k - 1]].place > at; k--)
        placed->values[k] = placed->values[k - 1];
    placed->values[k] = index;
}

static bool waits(const struct network *network, size_t value)
{
    return network->values[value].passing && network->values[value].shares == value &&
           network->values[value].begins < network->node_count;
}

/* Puts the widest values first: a narrow one may fill a gap between them, while a wide
 * one would leave a gap behind a narrow one. */
static void put_all(struct network *network, const size_t *ends, struct placed *placed)
{
    size_t widest;
    for (size_t below = SIZE_MAX;; below = widest) {
        widest = 0;
        for (size_t v = 0; v < network->value_count; v++) {
            size_t stride = network->values[v].stride;
            if (waits(network, v) && stride < below && stride > widest)
                widest = stride;
        }
        for (size_t v = 0; v < network->value_count; v++)
            if (waits(network, v) && network->values[v].stride == widest)
                put(network, ends, placed, v);
        if (widest == 0)
            return;
    }
}

void arena_plan(struct network *network)
{
    size_t *ends = calloc(2 * network->value_count, sizeof *ends);
    CHECK(ends != NULL);
    struct placed placed = {.values = ends + network->value_count};

    network->stretch_rows = stretch_rows(network);
    find_passing(network);
    find_spans(network, ends);
    network->arena_stride = 0;
    put_all(network, ends, &placed);
    for (size_t v = 0; v < network->value_count; v++)
        network->values[v].place = network->values[owner_of(network, v)].place;
    free(ends);
}

size_t arena_taps(const struct network *network)
{
    size_t most = 0;
    for (size_t i = 0; i < network->node_count; i++) {
        const struct node *node = &network->nodes[i];
        const struct value *to = &network->values[node->to];
        if (node->kind->leaves_taps && !to->has_gradient && to->stride > most)
            most = to->stride;
    }
    return most;
}
