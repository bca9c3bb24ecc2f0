#include "engine/nn/workspace.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "engine/nn/buffers.h"
#include "engine/nn/vector_math.h"

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

/* Squares of nu and M of one layer, in the order of the records. */
struct layer_measure {
    double *squares, *spreads;
};

static void measure_positions(const struct workspace *workspace, size_t index,
                              struct layer_measure to)
{
    const struct layer *layer = &workspace->network->layers[index];
    struct rows a = inputs_of(workspace, index), b = gradients_of(workspace, index);
    struct rows kept = kept_of(workspace, index);

    for (size_t i = 0; i < a.count; i++) {
        struct position_norm norm = position_gradients_measure(
            &layer->positions, record(a, i), record(b, i), kept.data + i * kept.stride,
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

/* The squares of a layer, in the order of the records. */
static void measure_layer(const struct workspace *workspace, size_t index,
                          struct layer_measure to)
{
    const struct layer *layer = &workspace->network->layers[index];
    size_t size = active_rows(workspace) * sizeof *to.squares;

    memset(to.squares, 0, size);
    memset(to.spreads, 0, size);
    if (layer->has_positions) {
        measure_positions(workspace, index, to);
        return;
    }
    row_layer_measure(&layer->rows, to.squares, workspace->scratch,
                      inputs_of(workspace, index), gradients_of(workspace, index));
    memcpy(to.spreads, to.squares, size); /* one row a record: M = nu */
}

/* Squares become what they are squares of. Sums of at most 2^26 exact squares err by less
 * than 2^-26 of themselves. */
static void take_root(double *square, bool refused)
{
    *square = refused ? 0.0 : (1.0 + 0x1p-24) * sqrt(*square);
}

void workspace_measure(struct workspace *workspace)
{
    struct layer_measure sum = {workspace->norms, workspace->spreads};
    size_t rows = active_rows(workspace), layers = workspace->network->layer_count;

    memset(sum.squares, 0, rows * sizeof *sum.squares);
    memset(sum.spreads, 0, rows * sizeof *sum.spreads);
    for (size_t l = 0; l < layers; l++) {
        struct layer_measure layer = measure_of(workspace, l);
        measure_layer(workspace, l, layer);
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
    workspace->measured = true;
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

void workspace_erase(struct workspace *workspace, size_t record)
{
    const struct network *network = workspace->network;

    CHECK(record < workspace->rows);
    for (size_t l = 0; l < network->layer_count; l++) {
        erase_row(inputs_of(workspace, l), record);
        erase_row(gradients_of(workspace, l), record);
        if (network->layers[l].kept > 0)
            erase_row(kept_of(workspace, l), record);
    }
}

VECTOR_CLONES
static void scale_rows(struct rows b, const float *weights, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float *row = b.data + i * b.stride, weight = weights[i];
        if (weight == 1.0F)
            continue;
        for (size_t j = 0; j < b.stride; j++)
            row[j] *= weight;
    }
}

/* Whether sums of the layer's weight take what was kept. */
static bool sums_kept(const struct workspace *workspace, const struct layer *layer)
{
    return workspace->measured && layer->has_positions &&
           layer->positions.form == NORM_KEPT;
}

void workspace_scale_layer(struct workspace *workspace, size_t layer,
                           const float *weights)
{
    CHECK(layer < workspace->network->layer_count);
    float *kept_weights = workspace->kept_weights[layer];
    if (!sums_kept(workspace, &workspace->network->layers[layer]))
        scale_rows(gradients_of(workspace, layer), weights, workspace->count);
    for (size_t i = 0; kept_weights != NULL && i < workspace->count; i++)
        kept_weights[i] *= weights[i];
}

void workspace_scale(struct workspace *workspace, const float *weights)
{
    for (size_t l = 0; l < workspace->network->layer_count; l++)
        workspace_scale_layer(workspace, l, weights);
}

static struct kept_rows kept_rows(const struct workspace *workspace, size_t layer,
                                  struct row_range range)
{
    return (struct kept_rows){.rows = cut(kept_of(workspace, layer), range),
                              .weights = workspace->kept_weights[layer] + range.first};
}

static void sum_positions(const struct workspace *workspace,
                          const struct layer_tile *tile, struct row_range range,
                          float *block)
{
    const struct layer *layer = &workspace->network->layers[tile->layer];
    struct row_span span = {.row = tile->row, .count = tile->rows};
    struct rows a = cut(inputs_of(workspace, tile->layer), range);
    struct rows b = cut(gradients_of(workspace, tile->layer), range);
    float *scratch = block + tile->scratch;
    struct kept_rows kept;

    if (!tile->bias && !sums_kept(workspace, layer)) {
        position_gradients_sum(&layer->positions, span, block, a, b, scratch);
        return;
    }
    kept = kept_rows(workspace, tile->layer, range);
    if (tile->bias)
        kept_sum(&kept, span, block);
    else
        position_gradients_sum_kept(&layer->positions, span, block, &kept, scratch);
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

    if (layer->has_positions)
        sum_positions(workspace, piece, range, block);
    else if (piece->bias)
        row_layer_sum_bias(span, block, b);
    else
        row_layer_sum(&layer->rows, span, block,
                      cut(inputs_of(workspace, piece->layer), range), b);
}

static bool has_kept(const struct network *network, size_t layer)
{
    return network->layers[layer].kept > 0;
}

size_t workspace_factor_count(const struct workspace *workspace)
{
    const struct network *network = workspace->network;
    size_t count = network->layer_count;
    for (size_t l = 0; l < network->layer_count; l++)
        count += has_kept(network, l);
    return count;
}

static struct factors kept_factors(const struct workspace *workspace, size_t layer)
{
    struct rows kept = kept_of(workspace, layer);
    return (struct factors){.a = kept.data,
                            .b = kept.data,
                            .inputs = workspace->network->layers[layer].kept,
                            .outputs = workspace->network->layers[layer].kept,
                            .a_stride = kept.stride,
                            .b_stride = kept.stride,
                            .weight = SIZE_MAX,
                            .bias = SIZE_MAX,
                            .are_kept = true};
}

static struct factors row_factors(const struct workspace *workspace, size_t layer)
{
    const struct network *network = workspace->network;
    const struct layer *of = &network->layers[layer];
    const struct row_layer *rows = of->has_positions ? &of->positions.rows : &of->rows;
    struct rows a = inputs_of(workspace, layer), b = gradients_of(workspace, layer);
    return (struct factors){.a = a.data,
                            .b = b.data,
                            .inputs = network->values[of->from].width,
                            .outputs = network->values[of->to].width,
                            .a_stride = a.stride,
                            .b_stride = b.stride,
                            .weight = rows->weight,
                            .bias = rows->bias};
}

struct factors workspace_factors(const struct workspace *workspace, size_t index)
{
    const struct network *network = workspace->network;
    CHECK(index < workspace_factor_count(workspace));
    for (size_t l = 0; l < network->layer_count; l++) {
        if (index == 0)
            return row_factors(workspace, l);
        if (has_kept(network, l) && index == 1)
            return kept_factors(workspace, l);
        index -= has_kept(network, l) ? 2 : 1;
    }
    return (struct factors){0};
}
