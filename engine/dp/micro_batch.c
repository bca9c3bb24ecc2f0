/* A micro-batch repeats these steps until its share of the pieces is done
 * (micro_batch_run):
 *
 *   fill           puts whole pieces into the micro-batch, one after the other. A
 *                  person takes the number of rows of the network's units, however many
 *                  rows they own: the remaining rows hold zeros, and have weight 0.
 *                  Views of a record take such rows too
 *   differentiate  runs forward, loss and backward over all rows, or computes the
 *                  differences
 *   clip           measures each record and calls the clip rule for its clip factor; on
 *                  public data there is no rule, and nothing is measured
 *   add_sums       for each tile of the parameters and each piece: one product into a
 *                  block that stays in cache, rounded and added to the shared sum under
 *                  the tile's lock. No tile is skipped, also none of a table that the
 *                  records did not read: the time would tell how many tokens they have
 *   clip_rest_of   and add_sums again, if a sum keeps what clipping cuts off
 *   add_bins       takes the place of clip and add_sums for a sum over bins (bin_sum.h),
 *                  which needs no backward pass
 *
 * A piece is a cell of the grid, or on public data a piece of even length, and is
 * summed as a whole. Only a cell of more than M records, which has probability 2^-128,
 * is divided. */
#include "engine/dp/micro_batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/data/row_prefetch.h"
#include "engine/difference/difference.h"
#include "engine/dp/cell_size.h"
#include "engine/dp/norm_sign.h"
#include "engine/dp/row_views.h"
#include "engine/nn/layers/step_functions.h"
#include "engine/nn/rows.h"
#include "engine/nn/workspace.h"

enum {
    CAPACITY_MIN = 624, /* rows: four cells of mean 128 fit */
    AHEAD = 4,          /* records that are prefetched while one is gathered */
    ALIGNMENT = 64
};

struct micro_batch {
    const struct network *network;
    size_t unit_rows;      /* of the network */
    struct stream *stream; /* of the draws of persons' rows */
    struct workspace *workspace;
    size_t capacity;
    float *seen;         /* (features) a row from which a view is computed, or NULL */
    float *weights;      /* (capacity) weight of a row's loss in that of its unit */
    int64_t *bins;       /* (cells of a shape x outputs) of histograms; else NULL */
    float *block;        /* (network_tile_floats_max) one tile's product */
    float *clip_factors; /* (capacity) */
    double *squares;     /* (capacity) each record's, computed when it was gathered, or
                          * 0 */
    uint32_t *indices;   /* (capacity) the index of each row's record, for dropout */
    struct row_range *ranges; /* (capacity) the rows of each piece of the micro-batch */
    size_t range_count;
    size_t filled; /* rows of the micro-batch */
};

/* For dense layers, weights are packed once for all rows, so more rows are better. For
 * images, weights are packed more than once even for the positions of one cell. Cells
 * of one unit are chosen if rows take much memory, and then memory is the limit. */
size_t micro_batch_capacity(const struct network *network, size_t cell_units_max)
{
    if (cell_units_max == 1)
        return cell_size_rows(network, CAPACITY_MIN);
    size_t cell = cell_units_max * network_unit_rows(network);
    bool takes_more = !network_has_positions(network) && cell < CAPACITY_MIN;
    size_t least = takes_more ? CAPACITY_MIN : cell;
    return (least + WORKSPACE_ROWS_STEP - 1) / WORKSPACE_ROWS_STEP *
           WORKSPACE_ROWS_STEP;
}

size_t micro_batch_pieces(const struct micro_batch *micro_batch, size_t records)
{
    size_t rows = records * micro_batch->unit_rows;
    size_t pieces = micro_batch->capacity / (rows > 0 ? rows : 1);
    return pieces > 0 ? pieces : 1;
}

static size_t block_size(const struct network *network)
{
    size_t size = network_tile_floats_max(network) * sizeof(float);
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t bins_size(const struct network *network)
{
    const struct histograms *histograms = step_functions_of(network);
    return histograms != NULL ? histograms_cells_max(histograms) * histograms->outputs *
                                    sizeof(int64_t)
                              : 0;
}

/* The workspaces that a room may ask for. */
struct workspace_choice {
    size_t (*size)(const struct network *network, size_t rows);
    enum status (*create)(struct workspace **out, const struct network *network,
                          size_t rows, struct error *error);
};

static struct workspace_choice workspace_for(struct micro_batch_room room)
{
    if (room.two_points)
        return (struct workspace_choice){workspace_two_points_size,
                                         workspace_create_two_points};
    if (room.keeps_inputs)
        return (struct workspace_choice){workspace_keeping_size,
                                         workspace_create_keeping};
    return (struct workspace_choice){workspace_size, workspace_create};
}

size_t micro_batch_size(const struct network *network, struct micro_batch_room room)
{
    size_t buffers = workspace_for(room).size(network, room.capacity);
    size_t row = 2 * sizeof(float) + sizeof(double) + sizeof(uint32_t) +
                 sizeof(struct row_range);
    size_t seen = room.has_views ? network_shape(network).features * sizeof(float) : 0;
    return sizeof(struct micro_batch) + buffers + block_size(network) + seen +
           bins_size(network) + room.capacity * row;
}

enum status micro_batch_create(struct micro_batch **out, const struct network *network,
                               struct micro_batch_room room, struct error *error)
{
    size_t capacity = room.capacity;
    struct micro_batch *micro_batch = calloc(1, sizeof *micro_batch);
    CHECK(micro_batch != NULL);
    micro_batch->network = network;
    micro_batch->unit_rows = network_unit_rows(network);
    micro_batch->stream = stream_create();
    micro_batch->capacity = capacity;
    micro_batch->block = aligned_alloc(ALIGNMENT, block_size(network));
    micro_batch->clip_factors = calloc(capacity, sizeof *micro_batch->clip_factors);
    if (room.has_views)
        micro_batch->seen =
            calloc(network_shape(network).features, sizeof *micro_batch->seen);
    if (bins_size(network) > 0)
        micro_batch->bins = calloc(1, bins_size(network));
    micro_batch->weights = calloc(capacity, sizeof *micro_batch->weights);
    micro_batch->squares = calloc(capacity, sizeof *micro_batch->squares);
    micro_batch->indices = calloc(capacity, sizeof *micro_batch->indices);
    micro_batch->ranges = calloc(capacity, sizeof *micro_batch->ranges);
    enum status status =
        workspace_for(room).create(&micro_batch->workspace, network, capacity, error);
    if (status == ST_OK &&
        (micro_batch->block == NULL || micro_batch->clip_factors == NULL ||
         micro_batch->weights == NULL || micro_batch->squares == NULL ||
         (room.has_views && micro_batch->seen == NULL) ||
         (bins_size(network) > 0 && micro_batch->bins == NULL) ||
         micro_batch->indices == NULL || micro_batch->ranges == NULL))
        status = error_set(error, ST_NO_MEMORY, "no memory for a micro-batch");
    if (status != ST_OK) {
        micro_batch_destroy(micro_batch);
        return status;
    }
    *out = micro_batch;
    return ST_OK;
}

void micro_batch_destroy(struct micro_batch *micro_batch)
{
    if (micro_batch == NULL)
        return;
    workspace_destroy(micro_batch->workspace);
    if (micro_batch->block != NULL)
        hash_zero(micro_batch->block, block_size(micro_batch->network));
    if (micro_batch->clip_factors != NULL)
        hash_zero(micro_batch->clip_factors,
                  micro_batch->capacity * sizeof *micro_batch->clip_factors);
    if (micro_batch->seen != NULL)
        hash_zero(micro_batch->seen, network_shape(micro_batch->network).features *
                                         sizeof *micro_batch->seen);
    if (micro_batch->weights != NULL)
        hash_zero(micro_batch->weights,
                  micro_batch->capacity * sizeof *micro_batch->weights);
    if (micro_batch->squares != NULL)
        hash_zero(micro_batch->squares,
                  micro_batch->capacity * sizeof *micro_batch->squares);
    if (micro_batch->indices != NULL)
        hash_zero(micro_batch->indices,
                  micro_batch->capacity * sizeof *micro_batch->indices);
    if (micro_batch->bins != NULL)
        hash_zero(micro_batch->bins, bins_size(micro_batch->network));
    free(micro_batch->bins);
    free(micro_batch->block);
    stream_destroy(micro_batch->stream);
    free(micro_batch->clip_factors);
    free(micro_batch->seen);
    free(micro_batch->weights);
    free(micro_batch->squares);
    free(micro_batch->indices);
    free(micro_batch->ranges);
    free(micro_batch);
}

struct workspace *micro_batch_workspace(struct micro_batch *micro_batch)
{
    return micro_batch->workspace;
}

/* Returns whether the norms of a sum use the squares of the records, which are computed
 * when the records are read. */
static bool squares_serve(const struct batch_sum *sum)
{
    return sum->clip != NULL && sum->parameter_step == NULL;
}

/* Copies the features of one row of the matrix into a row, or a view of them. Its
 * square is computed at once, while the row is in cache and the processor divides the
 * values of the next one. If there are features from the frozen layers, they are
 * copied, and no layer reads the row itself. */
static void gather_features(struct micro_batch *micro_batch, const struct task *task,
                            const struct row_view *sight, size_t row)
{
    uint32_t index = sight->index;
    if (task->features.rows != NULL) {
        struct rows to = workspace_frozen_rows(micro_batch->workspace);
        size_t width = task->features.width;
        memcpy(to.data + row * to.stride, task->features.rows + index * width,
               width * sizeof *to.data);
        return;
    }
    size_t stride = workspace_stride(micro_batch->workspace);
    float *features = workspace_input(micro_batch->workspace) + row * stride;
    if (task->views != NULL) {
        matrix_gather(task->data, micro_batch->seen, stride, &index, 1);
        views_make(features, micro_batch->seen, task->views, sight->view);
    } else {
        matrix_gather(task->data, features, stride, &index, 1);
    }
    if (squares_serve(task->sum))
        micro_batch->squares[row] = floats_square(features, stride);
}

/* Copies the features and the target of one row of the matrix into a row. */
static void gather_row(struct micro_batch *micro_batch, const struct task *task,
                       const struct row_view *sight, size_t row)
{
    const struct matrix *data = task->data;
    gather_features(micro_batch, task, sight, row);
    if (data->targets != NULL)
        workspace_classes(micro_batch->workspace)[row] =
            matrix_target(data, sight->index);
    else
        workspace_values(micro_batch->workspace)[row] =
            matrix_value(data, sight->index);
}

static void clear_row(struct micro_batch *micro_batch, const struct task *task,
                      size_t row)
{
    struct rows rows = {workspace_input(micro_batch->workspace),
                        workspace_stride(micro_batch->workspace), 0};
    if (task->features.rows != NULL)
        rows = workspace_frozen_rows(micro_batch->workspace);
    memset(rows.data + row * rows.stride, 0, rows.stride * sizeof(float));
    workspace_classes(micro_batch->workspace)[row] = 0;
    workspace_values(micro_batch->workspace)[row] = 0;
}

/* Copies a unit into its rows. Each of its k rows has weight 1/k, so that the unit's
 * gradient is that of their mean loss. The remaining rows hold zeros, which are read
 * like rows. */
static void gather(struct micro_batch *micro_batch, const struct task *task,
                   uint32_t unit, size_t first)
{
    struct row_views sights;
    size_t all = micro_batch->unit_rows;
    const struct row_views_draw draw = {task->rows_key, task->views, task->views_key,
                                        all};
    row_views_draw(&sights, task->data, unit, &draw, micro_batch->stream);
    for (size_t k = 0; k < all; k++) {
        gather_row(micro_batch, task, &sights.all[k], first + k);
        if (k >= sights.count && task->data->slots == 0)
            clear_row(micro_batch, task, first + k);
        micro_batch->weights[first + k] =
            k < sights.count ? 1.0F / (float)sights.count : 0.0F;
        micro_batch->indices[first + k] = (uint32_t)(unit * all + k);
    }
    if (task->data->starts != NULL || task->views != NULL)
        hash_zero(&sights, sizeof sights);
}

/* Prefetches a unit that will be gathered soon. */
static void expect(const struct task *task, uint32_t unit)
{
    uint32_t row = matrix_unit(task->data, unit).first;
    if (task->features.rows != NULL)
        row_prefetch(task->features.rows + row * task->features.width,
                     task->features.width * sizeof *task->features.rows);
    else
        matrix_expect(task->data, row);
}

/* Appends a piece to the micro-batch, or returns false if there is no room. */
static bool add_piece(struct micro_batch *micro_batch, const struct task *task,
                      struct piece piece)
{
    const uint32_t *indices = task->batch->indices + piece.first;
    size_t start = micro_batch->filled, all = micro_batch->unit_rows;
    if (piece.count > (micro_batch->capacity - start) / all)
        return false;
    for (size_t k = 0; k < piece.count; k++) {
        if (piece.first + k + AHEAD < task->batch->count)
            expect(task, indices[k + AHEAD]);
        gather(micro_batch, task, indices[k], start + k * all);
    }
    micro_batch->ranges[micro_batch->range_count++] =
        (struct row_range){.first = start, .count = piece.count * all};
    micro_batch->filled += piece.count * all;
    return true;
}

struct cursor {
    size_t next, end; /* pieces */
    size_t taken;     /* records of the next piece that are already done */
};

static void fill(struct micro_batch *micro_batch, const struct task *task,
                 struct cursor *cursor)
{
    micro_batch->range_count = micro_batch->filled = 0;
    memset(micro_batch->squares, 0,
           micro_batch->capacity * sizeof *micro_batch->squares);
    for (; cursor->next < cursor->end; cursor->next++, cursor->taken = 0) {
        struct piece piece = batch_piece(task->batch, cursor->next);
        piece.first += cursor->taken;
        piece.count -= cursor->taken;
        if (add_piece(micro_batch, task, piece))
            continue;
        if (micro_batch->range_count > 0)
            return;
        /* A cell of more than M records, which has probability 2^-128, is divided. */
        do
            piece.count /= 2;
        while (!add_piece(micro_batch, task, piece));
        cursor->taken += piece.count;
        return;
    }
}

static void count_norm(int64_t *counts, const struct batch_sum *sum, double norm)
{
    if (sum->histogram != NULL)
        counts[histogram_bin(sum->histogram, norm)]++;
    else
        counts[0] += norm_sign(norm, *sum->signs_at);
}

static void count_norms(const struct micro_batch *micro_batch, const struct task *task,
                        const struct measures *measures)
{
    int64_t counts[HISTOGRAM_BINS_MAX] = {0};
    for (size_t row = 0; row < micro_batch->filled; row += micro_batch->unit_rows)
        count_norm(counts, task->sum, measures->norms[row]);
    reduction_count(task->reduction, counts, batch_sum_counters(task->sum));
    hash_zero(counts, sizeof counts);
}

static struct measures measures_of(const struct micro_batch *micro_batch)
{
    return (struct measures){.norms = workspace_norms(micro_batch->workspace),
                             .spreads = workspace_spreads(micro_batch->workspace),
                             .losses = workspace_losses(micro_batch->workspace),
                             .count = micro_batch->filled,
                             .workspace = micro_batch->workspace};
}

static void clip_layers(struct micro_batch *micro_batch, const struct batch_sum *sum)
{
    struct measures measures = measures_of(micro_batch);
    for (size_t l = 0; l < network_layers(micro_batch->network); l++) {
        if (network_layer_is_frozen(micro_batch->network, l))
            continue;
        measures.norms = workspace_layer_norms(micro_batch->workspace, l);
        measures.spreads = workspace_layer_spreads(micro_batch->workspace, l);
        sum->clip(micro_batch->clip_factors, &measures, sum->clip_context);
        workspace_scale_layer(micro_batch->workspace, l, micro_batch->clip_factors);
    }
}

static void clip(struct micro_batch *micro_batch, const struct task *task)
{
    const struct batch_sum *sum = task->sum;
    workspace_measure(micro_batch->workspace,
                      squares_serve(sum) ? micro_batch->squares : NULL);
    struct measures measures = measures_of(micro_batch);
    if (batch_sum_counters(sum) > 0)
        count_norms(micro_batch, task, &measures);
    if (sum->by_layer) {
        clip_layers(micro_batch, sum);
        return;
    }
    sum->clip(micro_batch->clip_factors, &measures, sum->clip_context);
    workspace_scale(micro_batch->workspace, micro_batch->clip_factors);
}

static void clip_rest_of(struct micro_batch *micro_batch, const struct batch_sum *sum)
{
    struct measures measures = measures_of(micro_batch);
    sum->clip_rest(micro_batch->clip_factors, &measures, sum->rest_context);
    workspace_scale(micro_batch->workspace, micro_batch->clip_factors);
}

/* to is one of the reduction's two sums. */
static void add_sums(struct micro_batch *micro_batch, const struct task *task,
                     size_t tile, int64_t *to)
{
    for (size_t k = 0; k < micro_batch->range_count; k++) {
        workspace_sum(micro_batch->workspace, tile, micro_batch->ranges[k],
                      micro_batch->block);
        reduction_add(task->reduction, to, tile, micro_batch->block, task->sum->grid);
    }
}

/* Computes the losses and b of the last layer. */
static void lose(struct micro_batch *micro_batch, const struct task *task)
{
    struct workspace *workspace = micro_batch->workspace;
    if (task->features.rows != NULL)
        workspace_forward_rest(workspace, task->parameters, micro_batch->filled);
    else
        workspace_forward(workspace, task->parameters, micro_batch->filled);
    workspace_loss(workspace);
    if (task->class_weights != NULL)
        workspace_weigh_classes(workspace, task->class_weights);
}

static void differentiate(struct micro_batch *micro_batch, const struct task *task)
{
    struct workspace *workspace = micro_batch->workspace;
    if (task->sum->parameter_step != NULL) {
        workspace_difference(workspace, task->sum->parameter_step, micro_batch->filled);
        return;
    }
    lose(micro_batch, task);
    if (micro_batch->unit_rows > 1)
        workspace_weigh(workspace, micro_batch->weights);
    workspace_backward(workspace, task->parameters);
}

static void add_bins(struct micro_batch *micro_batch, const struct task *task)
{
    const struct bin_sum *bins = task->sum->bins;
    size_t size = bin_sum_size(bins);
    lose(micro_batch, task);
    memset(micro_batch->bins, 0, size * sizeof *micro_batch->bins);
    bin_sum_add(bins, micro_batch->workspace, micro_batch->weights, micro_batch->filled,
                micro_batch->bins);
    reduction_add_integers(task->reduction, micro_batch->bins, size);
}

static bool cancelled(const struct task *task)
{
    return task->cancel != NULL && atomic_load(task->cancel);
}

void micro_batch_run(struct micro_batch *micro_batch, const struct task *task,
                     struct micro_batch_share share)
{
    struct cursor cursor = {.next = share.first, .end = share.end};
    size_t tiles = network_tile_count(micro_batch->network);
    workspace_drop(micro_batch->workspace,
                   (struct drop){task->drop_key, micro_batch->indices});
    while (cursor.next < cursor.end && !cancelled(task)) {
        fill(micro_batch, task, &cursor);
        if (task->sum->bins != NULL) {
            add_bins(micro_batch, task);
            continue;
        }
        differentiate(micro_batch, task);
        if (task->sum->clip != NULL)
            clip(micro_batch, task);
        else
            workspace_per_example_gradients(micro_batch->workspace);
        for (size_t k = 0; k < tiles; k++)
            add_sums(micro_batch, task, (share.tile + k) % tiles, task->reduction->sum);
        if (task->sum->clip_rest == NULL)
            continue;
        clip_rest_of(micro_batch, task->sum);
        for (size_t k = 0; k < tiles; k++)
            add_sums(micro_batch, task, (share.tile + k) % tiles,
                     task->reduction->error_memory);
    }
    workspace_drop(micro_batch->workspace,
                   (struct drop){0}); /* no dropout in an evaluation */
}
