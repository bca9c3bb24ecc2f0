/* All floats of a workspace lie in one buffer. Each size depends on the network, the
 * number of rows and whether there are two points (struct extent), and is computed in
 * one function. buffers_floats adds the sizes up, for both buffers_size and the
 * allocation, and place assigns the parts in the same order. Values that share their
 * activations, as the two ends of a fork do, share a buffer; passing values lie in the
 * arena (arena.h), unless the workspace keeps all. */
#include "engine/nn/buffers.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "engine/nn/arena.h"

enum { ALIGNMENT = 64 };

/* The floats that a layer has in addition to its values. */
struct layer_floats {
    size_t per_example, clip_factors, gathered;
};

/* Weights are gathered three times: at both points, and for the step between them. */
enum { GATHERED_SETS = 3, TAP_SETS = 2 };

static struct layer_floats layer_floats(const struct weight_layer *layer, size_t rows,
                                        bool two_points)
{
    size_t sets = two_points ? GATHERED_SETS : 1;
    return (struct layer_floats){.per_example = rows * per_example_stride(layer),
                                 .clip_factors =
                                     layer->per_example != PER_EXAMPLE_NEVER ? rows : 0,
                                 .gathered = sets * gathered_stride(layer)};
}

static size_t scratch_floats(const struct network *network)
{
    size_t most = 0;
    for (size_t i = 0; i < network->node_count; i++) {
        const struct node *node = &network->nodes[i];
        size_t floats = node->kind->scratch != NULL ? node->kind->scratch(node) : 0;
        most = floats > most ? floats : most;
    }
    return rows_stride(most);
}

static struct extent extent_of(const struct workspace *workspace)
{
    return (struct extent){workspace->network, workspace->rows, workspace->two_points,
                           workspace->keeps_all};
}

/* Returns the rows of the arena: as many as a pass runs over at a time. */
static size_t arena_depth(struct extent extent)
{
    if (extent.keeps_all)
        return 0;
    size_t stretch = extent.network->stretch_rows;
    return extent.rows < stretch ? extent.rows : stretch;
}

/* Returns how many buffers a value has that it does not share: activations and
 * gradient, and the differences of both. */
static size_t value_sets(struct extent extent, size_t index)
{
    const struct value *value = &extent.network->values[index];
    size_t points = value->has_gradient && extent.two_points ? 2 : 1;
    bool is_own = value->shares == index && (extent.keeps_all || !value->passing);
    size_t activations = is_own ? points : 0;
    return activations + (value->has_gradient ? points : 0);
}

static size_t buffers_floats(struct extent extent)
{
    const struct network *network = extent.network;
    size_t rows = extent.rows, floats = scratch_floats(network);
    floats += arena_depth(extent) * network->arena_stride;
    for (size_t v = 0; v < network->value_count; v++)
        floats += rows * network->values[v].stride * value_sets(extent, v);
    for (size_t l = 0; l < network->layer_count; l++) {
        struct layer_floats more =
            layer_floats(&network->layers[l], rows, extent.two_points);
        floats += more.per_example + more.clip_factors + more.gathered;
    }
    return floats;
}

/* Returns the taps that a node has for itself. */
static size_t taps_in(struct extent extent, size_t node)
{
    const struct node *at = &extent.network->nodes[node];
    const struct value *to = &extent.network->values[at->to];
    size_t sets = extent.two_points ? TAP_SETS : 1;
    bool is_own = at->kind->leaves_taps && (extent.keeps_all || to->has_gradient);
    return is_own ? sets * extent.rows * to->stride : 0;
}

static size_t taps_count(struct extent extent)
{
    size_t taps = arena_depth(extent) * arena_taps(extent.network);
    for (size_t i = 0; i < extent.network->node_count; i++)
        taps += taps_in(extent, i);
    return taps;
}

size_t buffers_size(struct extent extent)
{
    const struct network *network = extent.network;
    size_t rows = extent.rows;
    size_t row = sizeof(uint32_t) + sizeof(float) +
                 (5 + 2 * network->layer_count) * sizeof(double);
    size_t pointers =
        4 * network->value_count + network->node_count + 3 * network->layer_count;
    return sizeof(struct workspace) + pointers * sizeof(void *) +
           buffers_floats(extent) * sizeof(float) +
           taps_count(extent) * sizeof(int32_t) + rows * row;
}

static float *take(float **next, size_t floats)
{
    float *taken = *next;
    *next += floats;
    return floats > 0 ? taken : NULL;
}

/* Nodes without taps of their own use the arena's, which come first. */
static void place_taps(struct workspace *workspace)
{
    const struct network *network = workspace->network;
    struct extent extent = extent_of(workspace);
    int32_t *taps =
        workspace->tap_buffer + arena_depth(extent) * arena_taps(extent.network);
    for (size_t i = 0; i < network->node_count; i++) {
        size_t own = taps_in(extent, i);
        workspace->taps[i] = own > 0 ? taps : workspace->tap_buffer;
        taps += own;
    }
}

static float *place_activations(const struct workspace *workspace, size_t index,
                                float *arena, float **next)
{
    const struct value *value = &workspace->network->values[index];
    if (lies_in_arena(workspace, index))
        return arena + arena_depth(extent_of(workspace)) * value->place;
    return value->shares == index ? take(next, workspace->rows * value->stride)
                                  : workspace->activations[value->shares];
}

static void place(struct workspace *workspace)
{
    const struct network *network = workspace->network;
    float *next = workspace->buffers;
    size_t rows = workspace->rows;
    float *arena =
        take(&next, arena_depth(extent_of(workspace)) * network->arena_stride);

    for (size_t v = 0; v < network->value_count; v++) {
        const struct value *value = &network->values[v];
        workspace->activations[v] = place_activations(workspace, v, arena, &next);
        if (!value->has_gradient)
            continue;
        workspace->gradients[v] = take(&next, rows * value->stride);
        if (!workspace->two_points)
            continue;
        workspace->differences[v] = value->shares == v
                                        ? take(&next, rows * value->stride)
                                        : workspace->differences[value->shares];
        workspace->gradient_differences[v] = take(&next, rows * value->stride);
    }
    for (size_t l = 0; l < network->layer_count; l++) {
        struct layer_floats floats =
            layer_floats(&network->layers[l], rows, workspace->two_points);
        workspace->per_example[l] = take(&next, floats.per_example);
        workspace->clip_factors[l] = take(&next, floats.clip_factors);
        workspace->gathered[l] = take(&next, floats.gathered);
    }
    workspace->node_scratch = take(&next, scratch_floats(network));
    place_taps(workspace);
}

static bool allocate_pointers(struct workspace *workspace)
{
    const struct network *network = workspace->network;
    size_t values = network->value_count, layers = network->layer_count;

    workspace->activations = calloc(values, sizeof *workspace->activations);
    workspace->gradients = calloc(values, sizeof *workspace->gradients);
    workspace->differences = calloc(values, sizeof *workspace->differences);
    workspace->gradient_differences =
        calloc(values, sizeof *workspace->gradient_differences);
    workspace->taps = calloc(network->node_count, sizeof *workspace->taps);
    workspace->per_example = calloc(layers, sizeof *workspace->per_example);
    workspace->clip_factors = calloc(layers, sizeof *workspace->clip_factors);
    workspace->gathered = calloc(layers, sizeof *workspace->gathered);
    return workspace->activations != NULL && workspace->gradients != NULL &&
           workspace->differences != NULL && workspace->gradient_differences != NULL &&
           workspace->taps != NULL && workspace->per_example != NULL &&
           workspace->clip_factors != NULL && workspace->gathered != NULL;
}

static bool allocate_rows(struct workspace *workspace)
{
    const struct network *network = workspace->network;
    size_t rows = workspace->rows, taps = taps_count(extent_of(workspace));
    size_t size = buffers_floats(extent_of(workspace)) * sizeof(float);

    workspace->classes = calloc(rows, sizeof *workspace->classes);
    workspace->values = calloc(rows, sizeof *workspace->values);
    workspace->losses = calloc(rows, sizeof *workspace->losses);
    workspace->norms = calloc(rows, sizeof *workspace->norms);
    workspace->spreads = calloc(rows, sizeof *workspace->spreads);
    workspace->layer_norms =
        calloc(network->layer_count * rows, sizeof *workspace->layer_norms);
    workspace->layer_spreads =
        calloc(network->layer_count * rows, sizeof *workspace->layer_spreads);
    workspace->scratch = calloc(2 * rows, sizeof *workspace->scratch);
    workspace->tap_buffer = calloc(taps > 0 ? taps : 1, sizeof *workspace->tap_buffer);
    workspace->buffers = aligned_alloc(ALIGNMENT, size);
    if (workspace->buffers != NULL)
        memset(workspace->buffers, 0, size);
    return workspace->classes != NULL && workspace->values != NULL &&
           workspace->losses != NULL && workspace->norms != NULL &&
           workspace->spreads != NULL && workspace->layer_norms != NULL &&
           workspace->layer_spreads != NULL && workspace->scratch != NULL &&
           workspace->tap_buffer != NULL && workspace->buffers != NULL;
}

bool buffers_allocate(struct workspace *workspace)
{
    if (!allocate_pointers(workspace) || !allocate_rows(workspace))
        return false;
    place(workspace);
    return true;
}

/* Records, their targets, gradients and norms are raw data (P9). */
static void wipe_and_free(void *data, size_t size)
{
    if (data != NULL)
        hash_zero(data, size);
    free(data);
}

void buffers_free(struct workspace *workspace)
{
    size_t rows = workspace->rows;
    wipe_and_free(workspace->buffers,
                  buffers_floats(extent_of(workspace)) * sizeof(float));
    wipe_and_free(workspace->tap_buffer,
                  taps_count(extent_of(workspace)) * sizeof(int32_t));
    wipe_and_free(workspace->classes, rows * sizeof *workspace->classes);
    wipe_and_free(workspace->values, rows * sizeof *workspace->values);
    wipe_and_free(workspace->losses, rows * sizeof *workspace->losses);
    wipe_and_free(workspace->norms, rows * sizeof *workspace->norms);
    wipe_and_free(workspace->spreads, rows * sizeof *workspace->spreads);
    size_t layers = workspace->network->layer_count;
    wipe_and_free(workspace->layer_norms,
                  layers * rows * sizeof *workspace->layer_norms);
    wipe_and_free(workspace->layer_spreads,
                  layers * rows * sizeof *workspace->layer_spreads);
    wipe_and_free(workspace->scratch, 2 * rows * sizeof *workspace->scratch);
    free(workspace->activations);
    free(workspace->gradients);
    free(workspace->differences);
    free(workspace->gradient_differences);
    free(workspace->taps);
    free(workspace->per_example);
    free(workspace->clip_factors);
    free(workspace->gathered);
}
