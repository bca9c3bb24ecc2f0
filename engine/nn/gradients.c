#include "engine/nn/workspace.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "engine/nn/buffers.h"
#include "engine/nn/row_difference.h"
#include "engine/parallel/vector_math.h"

static struct rows inputs_of(const struct workspace *workspace, size_t layer)
{
    return rows_of(workspace->activations, workspace,
                   workspace->network->layers[layer].from);
}

static struct rows gradients_of(const struct workspace *workspace, size_t layer)
{
    return rows_of(workspace->gradients, workspace,
                   workspace->network->layers[layer].to);
}

static struct rows record(struct rows rows, size_t index)
{
    return cut(rows, (struct row_range){.first = index, .count = 1});
}

/* Whether the layer's input differs between the two points. A record then has two
 * terms. */
static bool has_two_terms(const struct workspace *workspace, size_t layer)
{
    const struct network *network = workspace->network;
    return workspace->holds_differences &&
           network->values[network->layers[layer].from].has_gradient;
}

/* The factors that workspace_difference left. */
static struct row_factors pairs_of(const struct workspace *workspace, size_t layer)
{
    const struct layer *of = &workspace->network->layers[layer];
    struct row_factors pairs = {
        .a.at = inputs_of(workspace, layer),
        .b = {gradients_of(workspace, layer),
              rows_of(workspace->gradient_differences, workspace, of->to)}};
    if (has_two_terms(workspace, layer))
        pairs.a.difference = rows_of(workspace->differences, workspace, of->from);
    return pairs;
}

static struct row_factors cut_pairs(struct row_factors pairs, struct row_range range)
{
    if (pairs.a.difference.data != NULL)
        pairs.a.difference = cut(pairs.a.difference, range);
    pairs.a.at = cut(pairs.a.at, range);
    pairs.b.at = cut(pairs.b.at, range);
    pairs.b.difference = cut(pairs.b.difference, range);
    return pairs;
}

/* Squares of nu and M of one layer, in the order of the records. */
struct layer_measure {
    double *squares, *spreads;
};

static struct position_norm measure_pair(const struct workspace *workspace,
                                         size_t index, size_t i, float *per_example)
{
    struct row_factors pairs =
        cut_pairs(pairs_of(workspace, index), (struct row_range){i, 1});
    return position_gradients_measure_pair(&workspace->network->layers[index].positions,
                                           &pairs, per_example,
                                           workspace->position_scratch);
}

static void measure_positions(const struct workspace *workspace, size_t index,
                              struct layer_measure to)
{
    const struct layer *layer = &workspace->network->layers[index];
    struct rows a = inputs_of(workspace, index), b = gradients_of(workspace, index);
    struct rows per_example = per_example_of(workspace, index);

    for (size_t i = 0; i < a.count; i++) {
        float *of_record = per_example.data + i * per_example.stride;
        struct position_norm norm =
            workspace->holds_differences
                ? measure_pair(workspace, index, i, of_record)
                : position_gradients_measure(&layer->positions, record(a, i),
                                             record(b, i), of_record,
                                             workspace->position_scratch);
        to.squares[i] += norm.square;
        to.spreads[i] += norm.spread;
    }
}

static struct layer_measure measure_of(const struct workspace *workspace, size_t layer)
{
    return (struct layer_measure){
        .squares = workspace->layer_norms + layer * workspace->rows,
        .spreads = workspace->layer_spreads + layer * workspace->rows};
}

/* A scale's sums read its per-example gradients, so its norm is that of their stored floats
 * (per_example_gradients.h). */
static void measure_per_example(const struct workspace *workspace, size_t index,
                                struct layer_measure to)
{
    struct rows per_example = per_example_of(workspace, index);
    size_t width = workspace->network->layers[index].per_example_floats;

    for (size_t i = 0; i < per_example.count; i++) {
        double square = floats_square(per_example.data + i * per_example.stride, width);
        to.squares[i] += square <= NORM_SQUARE_MAX ? square : (double)INFINITY;
        to.spreads[i] = to.squares[i];
    }
}

/* Value 0 is the records, and no node writes it: a node works in place only behind a
 * weight layer (builder_may_overwrite). */
static bool reads_records(const struct layer *layer)
{
    return layer->from == 0;
}

static void measure_rows(const struct workspace *workspace, size_t index,
                         struct layer_measure to, const double *input_squares)
{
    struct rows b = gradients_of(workspace, index);
    double *a_squares = workspace->scratch, *b_squares = a_squares + b.count;
    bool known =
        input_squares != NULL && reads_records(&workspace->network->layers[index]);
    struct row_squares of = {known ? input_squares : a_squares, b_squares, b.count};

    if (!known)
        rows_square(a_squares, inputs_of(workspace, index));
    rows_square(b_squares, b);
    row_layer_measure(&workspace->network->layers[index].rows, to.squares, of);
    memcpy(to.spreads, to.squares, b.count * sizeof *to.spreads); /* M = nu */
}

/* The squares of a layer, in the order of the records. */
static void measure_layer(const struct workspace *workspace, size_t index,
                          struct layer_measure to, const double *input_squares)
{
    const struct layer *layer = &workspace->network->layers[index];
    size_t size = active_rows(workspace) * sizeof *to.squares;

    if (workspace->holds_differences && !layer->has_positions) {
        struct row_factors pairs = pairs_of(workspace, index);
        row_difference_measure(
            &layer->rows,
            &(struct row_measure){to.squares, to.spreads, workspace->scratch}, &pairs);
        return;
    }
    memset(to.squares, 0, size);
    memset(to.spreads, 0, size);
    if (layer->is_scale)
        measure_per_example(workspace, index, to);
    else if (layer->has_positions)
        measure_positions(workspace, index, to);
    else
        measure_rows(workspace, index, to, input_squares);
}

/* Replaces a square by its root, rounded up. Sums of at most 2^26 exact squares err by
 * less than 2^-26 of themselves. */
static void take_root(double *square, bool refused)
{
    *square = refused ? 0.0 : (1.0 + 0x1p-24) * sqrt(*square);
}

void workspace_measure(struct workspace *workspace, const double *input_squares)
{
    struct layer_measure sum = {workspace->norms, workspace->spreads};
    size_t rows = active_rows(workspace), layers = workspace->network->layer_count;

    memset(sum.squares, 0, rows * sizeof *sum.squares);
    memset(sum.spreads, 0, rows * sizeof *sum.spreads);
    for (size_t l = 0; l < layers; l++) {
        struct layer_measure layer = measure_of(workspace, l);
        measure_layer(workspace, l, layer, input_squares);
        for (size_t i = 0; i < rows; i++) {
            sum.squares[i] += layer.squares[i];
            sum.spreads[i] += layer.spreads[i];
        }
    }
    for (size_t i = 0; i < rows; i++) {
        bool refused = !isfinite(sum.squares[i]) || !isfinite(sum.spreads[i]) ||
                       !isfinite(workspace->losses[i]);
        if (refused)
            workspace_erase(workspace, i);
        take_root(&sum.squares[i], refused);
        take_root(&sum.spreads[i], refused);
        for (size_t l = 0; l < layers; l++) {
            take_root(&measure_of(workspace, l).squares[i], refused);
            take_root(&measure_of(workspace, l).spreads[i], refused);
        }
    }
    workspace->has_per_example = true;
}

void workspace_per_example_gradients(struct workspace *workspace)
{
    CHECK(!workspace->holds_differences);
    for (size_t l = 0; l < workspace->network->layer_count; l++) {
        const struct layer *layer = &workspace->network->layers[l];
        struct rows per_example = per_example_of(workspace, l);
        if (!layer->has_positions || layer->positions.form != NORM_PER_EXAMPLE)
            continue;
        for (size_t i = 0; i < workspace->count; i++) {
            struct position_rows rows = {record(inputs_of(workspace, l), i),
                                         record(gradients_of(workspace, l), i)};
            position_gradients_weight(&layer->positions,
                                      per_example.data + i * per_example.stride, &rows,
                                      workspace->position_scratch);
        }
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
    return measure_of(workspace, layer).squares;
}

const double *workspace_layer_spreads(const struct workspace *workspace, size_t layer)
{
    CHECK(layer < workspace->network->layer_count);
    return measure_of(workspace, layer).spreads;
}

static void erase_row(struct rows rows, size_t row)
{
    memset(rows.data + row * rows.stride, 0, rows.stride * sizeof *rows.data);
}

static void erase_differences(const struct workspace *workspace, size_t layer,
                              size_t record)
{
    struct row_factors pairs = pairs_of(workspace, layer);
    erase_row(pairs.b.difference, record);
    if (has_two_terms(workspace, layer))
        erase_row(pairs.a.difference, record);
}

void workspace_erase(struct workspace *workspace, size_t record)
{
    const struct network *network = workspace->network;

    CHECK(record < workspace->rows);
    for (size_t l = 0; l < network->layer_count; l++) {
        erase_row(inputs_of(workspace, l), record);
        erase_row(gradients_of(workspace, l), record);
        if (workspace->holds_differences)
            erase_differences(workspace, l, record);
        if (network->layers[l].per_example_floats > 0)
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

/* Whether sums of the layer's weight read its per-example gradients. */
static bool sums_per_example(const struct workspace *workspace,
                             const struct layer *layer)
{
    return layer->is_scale || (workspace->has_per_example && layer->has_positions &&
                               layer->positions.form == NORM_PER_EXAMPLE);
}

void workspace_scale_layer(struct workspace *workspace, size_t layer,
                           const float *clip_factors)
{
    CHECK(layer < workspace->network->layer_count);
    float *factors = workspace->clip_factors[layer];
    bool per_example = sums_per_example(workspace, &workspace->network->layers[layer]);
    bool is_factor = !workspace->holds_differences || has_two_terms(workspace, layer);
    if (workspace->holds_differences && !per_example)
        scale_rows(pairs_of(workspace, layer).b.difference, clip_factors,
                   workspace->count);
    if (is_factor && !per_example)
        scale_rows(gradients_of(workspace, layer), clip_factors, workspace->count);
    for (size_t i = 0; factors != NULL && i < workspace->count; i++)
        factors[i] *= clip_factors[i];
}

void workspace_scale(struct workspace *workspace, const float *clip_factors)
{
    for (size_t l = 0; l < workspace->network->layer_count; l++)
        workspace_scale_layer(workspace, l, clip_factors);
}

static struct per_example_gradients per_example_rows(const struct workspace *workspace,
                                                     size_t layer,
                                                     struct row_range range)
{
    return (struct per_example_gradients){
        .rows = cut(per_example_of(workspace, layer), range),
        .clip_factors = workspace->clip_factors[layer] + range.first};
}

static void sum_positions(const struct workspace *workspace,
                          const struct layer_tile *tile, struct row_range range,
                          float *block)
{
    const struct layer *layer = &workspace->network->layers[tile->layer];
    struct row_span span = {.row = tile->row, .count = tile->rows};
    float *scratch = block + tile->scratch;
    struct per_example_gradients per_example;

    if (!tile->bias && !sums_per_example(workspace, layer)) {
        struct position_rows rows = {cut(inputs_of(workspace, tile->layer), range),
                                     cut(gradients_of(workspace, tile->layer), range)};
        position_gradients_sum(&layer->positions, span, block, &rows, scratch);
        return;
    }
    per_example = per_example_rows(workspace, tile->layer, range);
    if (tile->bias)
        per_example_gradients_sum(&per_example, span, block);
    else
        position_gradients_sum_per_example(&layer->positions, span, block, &per_example,
                                           scratch);
}

static void sum_differences(const struct workspace *workspace,
                            const struct layer_tile *tile, struct row_range range,
                            float *block)
{
    struct row_factors pairs = cut_pairs(pairs_of(workspace, tile->layer), range);
    struct row_span span = {.row = tile->row, .count = tile->rows};

    if (tile->bias)
        row_layer_sum_bias(span, block, pairs.b.difference);
    else
        row_difference_sum(&workspace->network->layers[tile->layer].rows, span, block,
                           &pairs);
}

/* gamma's gradients lie before beta's. */
static void sum_scale(const struct workspace *workspace, const struct layer_tile *tile,
                      struct row_range range, float *block)
{
    const struct layer *layer = &workspace->network->layers[tile->layer];
    struct per_example_gradients per_example =
        per_example_rows(workspace, tile->layer, range);
    struct row_span span = {.row = tile->row + (tile->bias ? layer->norm.channels : 0),
                            .count = tile->rows};
    per_example_gradients_sum(&per_example, span, block);
}

void workspace_sum(const struct workspace *workspace, size_t tile,
                   struct row_range range, float *block)
{
    const struct network *network = workspace->network;
    CHECK(tile < network->tile_count);
    CHECK(range.first <= workspace->count &&
          range.count <= workspace->count - range.first);
    const struct layer_tile *piece = &network->tiles[tile];
    const struct layer *layer = &network->layers[piece->layer];
    struct row_span span = {.row = piece->row, .count = piece->rows};
    struct rows b = cut(gradients_of(workspace, piece->layer), range);

    CHECK(!workspace->holds_differences || !layer->has_positions ||
          workspace->has_per_example);
    if (workspace->holds_differences && !layer->has_positions)
        sum_differences(workspace, piece, range, block);
    else if (layer->has_positions)
        sum_positions(workspace, piece, range, block);
    else if (layer->is_scale)
        sum_scale(workspace, piece, range, block);
    else if (piece->bias)
        row_layer_sum_bias(span, block, b);
    else
        row_layer_sum(&layer->rows, span, block,
                      cut(inputs_of(workspace, piece->layer), range), b);
}

static bool has_per_example(const struct network *network, size_t layer)
{
    return network->layers[layer].per_example_floats > 0;
}

/* A scale is known by its per-example gradients alone. */
static bool has_rows(const struct network *network, size_t layer)
{
    return !network->layers[layer].is_scale;
}

/* How many entries workspace_factors has for one layer. */
static size_t factor_count(const struct workspace *workspace, size_t layer)
{
    return (size_t)has_rows(workspace->network, layer) +
           has_per_example(workspace->network, layer) + has_two_terms(workspace, layer);
}

size_t workspace_factor_count(const struct workspace *workspace)
{
    size_t count = 0;
    for (size_t l = 0; l < workspace->network->layer_count; l++)
        count += factor_count(workspace, l);
    return count;
}

static struct factors per_example_factors(const struct workspace *workspace,
                                          size_t layer)
{
    struct rows per_example = per_example_of(workspace, layer);
    return (struct factors){
        .a = per_example.data,
        .b = per_example.data,
        .inputs = workspace->network->layers[layer].per_example_floats,
        .outputs = workspace->network->layers[layer].per_example_floats,
        .a_stride = per_example.stride,
        .b_stride = per_example.stride,
        .weight = SIZE_MAX,
        .bias = SIZE_MAX,
        .are_per_example = true};
}

static struct factors row_factors(const struct workspace *workspace, size_t layer)
{
    const struct network *network = workspace->network;
    const struct layer *of = &network->layers[layer];
    const struct row_layer *rows = of->has_positions ? &of->positions.rows : &of->rows;
    struct rows a = inputs_of(workspace, layer), b = gradients_of(workspace, layer);
    if (workspace->holds_differences)
        b = pairs_of(workspace, layer).b.difference;
    return (struct factors){.a = a.data,
                            .b = b.data,
                            .inputs = network->values[of->from].width,
                            .outputs = network->values[of->to].width,
                            .a_stride = a.stride,
                            .b_stride = b.stride,
                            .weight = rows->weight,
                            .bias = rows->bias};
}

/* The second term: the same places, without a bias. */
static struct factors second_factors(const struct workspace *workspace, size_t layer)
{
    struct row_factors pairs = pairs_of(workspace, layer);
    struct factors factors = row_factors(workspace, layer);
    factors.a = pairs.a.difference.data;
    factors.b = pairs.b.at.data;
    factors.bias = SIZE_MAX;
    return factors;
}

struct factors workspace_factors(const struct workspace *workspace, size_t index)
{
    size_t layer = 0;
    CHECK(index < workspace_factor_count(workspace));
    for (; index >= factor_count(workspace, layer); layer++)
        index -= factor_count(workspace, layer);
    if (index == 0 && has_rows(workspace->network, layer))
        return row_factors(workspace, layer);
    return index == 1 && has_two_terms(workspace, layer)
               ? second_factors(workspace, layer)
               : per_example_factors(workspace, layer);
}
