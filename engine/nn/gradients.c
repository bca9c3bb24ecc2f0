/* The gradients of the records of a workspace: their norms (workspace_measure), the
 * clip factors that shorten them (workspace_scale), and sums over records, tile by tile
 * (workspace_sum). Each function iterates over the weight layers and calls the
 * functions of their kinds (weight_kind in layer.h).
 *
 * workspace_measure adds up the squares that the layers report, takes their roots
 * rounded up, and refuses a unit that has a value that is not finite. A refused unit is
 * erased from every layer, so that it adds nothing to a sum at any clip factor. A layer
 * reports the squares of a unit at the unit's first row; workspace_measure copies the
 * roots to the other rows, which therefore get the same clip factor. */
#include "engine/nn/workspace.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "engine/nn/weight_work.h"
#include "engine/parallel/vector_math.h"

static struct record_squares squares_of(const struct workspace *workspace, size_t layer)
{
    return (struct record_squares){
        .squares = workspace->layer_norms + layer * workspace->rows,
        .spreads = workspace->layer_spreads + layer * workspace->rows};
}

/* Replaces the square at a unit's first row by its root, rounded up, in all of its
 * rows. A sum of at most 2^26 exact squares has a relative error below 2^-26. */
static void take_root(double *squares, struct row_range unit, bool refused)
{
    double root = refused ? 0.0 : (1.0 + 0x1p-24) * sqrt(squares[unit.first]);
    for (size_t k = 0; k < unit.count; k++)
        squares[unit.first + k] = root;
}

static bool is_refused(const struct workspace *workspace, struct row_range unit)
{
    bool finite = isfinite(workspace->norms[unit.first]) &&
                  isfinite(workspace->spreads[unit.first]);
    for (size_t k = 0; k < unit.count; k++)
        finite = finite && isfinite(workspace->losses[unit.first + k]);
    return !finite;
}

/* Adds up the squares of the trained layers. Those of frozen ones stay zeros. */
static void add_squares(struct workspace *workspace, const double *input_squares)
{
    struct record_squares sum = {workspace->norms, workspace->spreads};
    size_t rows = active_rows(workspace);

    memset(sum.squares, 0, rows * sizeof *sum.squares);
    memset(sum.spreads, 0, rows * sizeof *sum.spreads);
    for (size_t l = 0; l < workspace->network->layer_count; l++) {
        struct weight_work work = {workspace, l};
        struct record_squares layer = squares_of(workspace, l);
        if (weights_of(&work)->frozen)
            continue;
        memset(layer.squares, 0, rows * sizeof *layer.squares);
        memset(layer.spreads, 0, rows * sizeof *layer.spreads);
        weights_of(&work)->kind->measure(&work, layer, input_squares);
        for (size_t i = 0; i < rows; i++) {
            sum.squares[i] += layer.squares[i];
            sum.spreads[i] += layer.spreads[i];
        }
    }
}

/* Takes the roots of one layer's squares, while the sums of all layers are squares. */
static void take_layer_roots(struct workspace *workspace, size_t layer)
{
    size_t rows = active_rows(workspace);
    struct row_range unit = {.count = workspace->network->unit_rows};

    for (; unit.first < rows; unit.first += unit.count) {
        bool refused = is_refused(workspace, unit);
        take_root(squares_of(workspace, layer).squares, unit, refused);
        take_root(squares_of(workspace, layer).spreads, unit, refused);
    }
}

void workspace_measure(struct workspace *workspace, const double *input_squares)
{
    size_t rows = active_rows(workspace);
    struct row_range unit = {.count = workspace->network->unit_rows};

    add_squares(workspace, input_squares);
    for (size_t l = 0; l < workspace->network->layer_count; l++)
        if (!workspace->network->layers[l].frozen)
            take_layer_roots(workspace, l);
    for (; unit.first < rows; unit.first += unit.count) {
        bool refused = is_refused(workspace, unit);
        for (size_t k = 0; refused && k < unit.count; k++)
            workspace_erase(workspace, unit.first + k);
        take_root(workspace->norms, unit, refused);
        take_root(workspace->spreads, unit, refused);
    }
    workspace->has_per_example = true;
}

void workspace_per_example_gradients(struct workspace *workspace)
{
    CHECK(!workspace->holds_differences);
    for (size_t l = 0; l < workspace->network->layer_count; l++) {
        struct weight_work work = {workspace, l};
        const struct weight_kind *kind = weights_of(&work)->kind;
        if (kind->form_gradients != NULL && !weights_of(&work)->frozen)
            kind->form_gradients(&work);
    }
    workspace->has_per_example = true;
}

const double *workspace_norms(const struct workspace *workspace)
{
    return workspace->norms;
}

const double *workspace_spreads(const struct workspace *workspace)
{
    return workspace->spreads;
}

const double *workspace_layer_norms(const struct workspace *workspace, size_t layer)
{
    CHECK(layer < workspace->network->layer_count);
    return squares_of(workspace, layer).squares;
}

const double *workspace_layer_spreads(const struct workspace *workspace, size_t layer)
{
    CHECK(layer < workspace->network->layer_count);
    return squares_of(workspace, layer).spreads;
}

static void erase_row(struct rows rows, size_t row)
{
    memset(rows.data + row * rows.stride, 0, rows.stride * sizeof *rows.data);
}

static void erase_differences(const struct weight_work *work, size_t record)
{
    struct row_factors pairs = pairs_of(work);
    erase_row(pairs.b.difference, record);
    if (has_two_terms(work))
        erase_row(pairs.a.difference, record);
}

void workspace_erase(struct workspace *workspace, size_t record)
{
    CHECK(record < workspace->rows);
    for (size_t l = 0; l < workspace->network->layer_count; l++) {
        struct weight_work work = {workspace, l};
        if (weights_of(&work)->frozen)
            continue;
        if (!lies_in_arena(workspace, weights_of(&work)->from))
            erase_row(layer_inputs(&work), record);
        erase_row(layer_gradients(&work), record);
        if (workspace->holds_differences)
            erase_differences(&work, record);
        if (weights_of(&work)->per_example_floats > 0)
            erase_row(per_example_of(workspace, l), record);
    }
}

VECTOR_CLONES
static void scale_rows(struct rows b, const float *factors, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float *row = b.data + i * b.stride, factor = factors[i];
        if (factor == 1.0F)
            continue;
        for (size_t j = 0; j < b.stride; j++)
            row[j] *= factor;
    }
}

void workspace_weigh(struct workspace *workspace, const float *weights)
{
    struct rows b =
        rows_of(workspace->gradients, workspace, workspace->network->output);
    scale_rows(b, weights, workspace->count);
}

/* Rounding to nearest could increase a product below the normal range, by up to half a
 * unit in its last place. The product is exact in double. */
static float product_toward_zero(float a, float b)
{
    double exact = (double)a * (double)b;
    float rounded = (float)exact;
    return fabs((double)rounded) > fabs(exact) ? nextafterf(rounded, 0.0F) : rounded;
}

void workspace_scale_layer(struct workspace *workspace, size_t layer,
                           const float *clip_factors)
{
    const struct weight_work work = {workspace, layer};
    float *factors = workspace->clip_factors[layer];
    CHECK(layer < workspace->network->layer_count);
    for (size_t i = 0; factors != NULL && i < workspace->count; i++)
        factors[i] = product_toward_zero(factors[i], clip_factors[i]);
    if (factors != NULL)
        return;
    if (workspace->holds_differences)
        scale_rows(pairs_of(&work).b.difference, clip_factors, workspace->count);
    if (!workspace->holds_differences || has_two_terms(&work))
        scale_rows(layer_gradients(&work), clip_factors, workspace->count);
}

void workspace_scale(struct workspace *workspace, const float *clip_factors)
{
    for (size_t l = 0; l < workspace->network->layer_count; l++)
        if (!workspace->network->layers[l].frozen)
            workspace_scale_layer(workspace, l, clip_factors);
}

void workspace_sum(const struct workspace *workspace, size_t tile,
                   struct row_range range, float *block)
{
    const struct network *network = workspace->network;
    CHECK(tile < network->tile_count);
    CHECK(range.first <= workspace->count &&
          range.count <= workspace->count - range.first);
    const struct weight_tile *piece = &network->tiles[tile];
    const struct weight_work work = {workspace, piece->layer};
    weights_of(&work)->kind->sum(&work, piece, range, block);
}

/* Returns how many entries workspace_factors has for one layer. */
static size_t factor_count(const struct weight_work *work)
{
    const struct weight_layer *layer = weights_of(work);
    if (layer->frozen)
        return layer->kind->has_factors &&
               !lies_in_arena(work->workspace, layer->from) &&
               !lies_in_arena(work->workspace, layer->to);
    bool has_rows =
        layer->kind->has_factors && !lies_in_arena(work->workspace, layer->from);
    return (size_t)has_rows + (layer->per_example_floats > 0) + has_two_terms(work);
}

size_t workspace_factor_count(const struct workspace *workspace)
{
    size_t count = 0;
    for (size_t l = 0; l < workspace->network->layer_count; l++)
        count += factor_count(&(struct weight_work){workspace, l});
    return count;
}

static struct factors per_example_factors(const struct weight_work *work)
{
    struct rows per_example = per_example_of(work->workspace, work->layer);
    size_t floats = weights_of(work)->per_example_floats;
    return (struct factors){.a = per_example.data,
                            .b = per_example.data,
                            .inputs = floats,
                            .outputs = floats,
                            .a_stride = per_example.stride,
                            .b_stride = per_example.stride,
                            .weight = SIZE_MAX,
                            .bias = SIZE_MAX};
}

static struct factors row_factors(const struct weight_work *work)
{
    const struct network *network = work->workspace->network;
    const struct weight_layer *of = weights_of(work);
    struct rows a = layer_inputs(work), b = layer_gradients(work);
    if (work->workspace->holds_differences)
        b = pairs_of(work).b.difference;
    return (struct factors){.a = a.data,
                            .b = b.data,
                            .inputs = network->values[of->from].width,
                            .outputs = network->values[of->to].width,
                            .a_stride = a.stride,
                            .b_stride = b.stride,
                            .weight = of->rows->weight,
                            .bias = of->rows->bias};
}

/* Returns the input and the output (or its gradient) of a frozen layer's products, for
 * callers that compare rows. */
static struct factors frozen_factors(const struct weight_work *work)
{
    const struct workspace *workspace = work->workspace;
    const struct weight_layer *of = weights_of(work);
    bool goes_back = workspace->network->values[of->to].has_gradient;
    struct rows a = layer_inputs(work);
    struct rows b = rows_of(goes_back ? workspace->gradients : workspace->activations,
                            workspace, of->to);
    return (struct factors){.a = a.data,
                            .b = b.data,
                            .inputs = workspace->network->values[of->from].width,
                            .outputs = workspace->network->values[of->to].width,
                            .a_stride = a.stride,
                            .b_stride = b.stride,
                            .weight = of->rows->weight,
                            .bias = of->rows->bias};
}

/* Returns the second term, which has the same tensor offsets, but no bias. */
static struct factors second_factors(const struct weight_work *work)
{
    struct row_factors pairs = pairs_of(work);
    struct factors factors = row_factors(work);
    factors.a = pairs.a.difference.data;
    factors.b = pairs.b.at.data;
    factors.bias = SIZE_MAX;
    return factors;
}

struct factors workspace_factors(const struct workspace *workspace, size_t index)
{
    struct weight_work work = {workspace, 0};
    CHECK(index < workspace_factor_count(workspace));
    for (; index >= factor_count(&work); work.layer++)
        index -= factor_count(&work);
    if (weights_of(&work)->frozen)
        return frozen_factors(&work);
    if (index == 0 && weights_of(&work)->kind->has_factors &&
        !lies_in_arena(workspace, weights_of(&work)->from))
        return row_factors(&work);
    return index == 1 && has_two_terms(&work) ? second_factors(&work)
                                              : per_example_factors(&work);
}
