/* A worker repeats one round until its share of the pieces is done (worker_run):
 *
 *   fill           puts whole pieces into the micro-batch, one behind the other, up to
 *                  the one that leaves its blocks fullest (best_end). row_classes_place
 *                  says in which row each record stands; rows between hold zeros
 *   differentiate  runs forward, loss and backward over all rows, or the pass over
 *                  differences
 *   weigh          measures each record and gives it the weight that the pass's rule
 *                  says; on public data there is no rule, and nothing is measured
 *   add_sums       for each tile of the parameters and each piece: one product into a
 *                  block that stays in cache, rounded and added to the shared sum under
 *                  the tile's lock
 *   weigh_rest     and add_sums once more, where a pass keeps what clipping cuts off
 *
 * A piece is a cell of the grid, or on public data an even length, and is summed as a
 * whole. Only a cell of more than M records, which happens once in 2^128, is taken in
 * parts. */
#include "engine/dp/worker.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "engine/nn/difference.h"
#include "engine/nn/rows.h"
#include "engine/nn/workspace.h"

enum {
    CAPACITY_MIN = 624, /* rows: four cells of mean 128 fit, whatever their classes */
    AHEAD = 4,          /* records whose bytes are on their way while one is gathered */
    ALIGNMENT = 64
};

struct worker {
    const struct network *network;
    struct row_classes rows;
    struct workspace *workspace;
    size_t capacity;
    float *block;      /* (network_tile_floats_max) one tile's product */
    float *weights;    /* (capacity) */
    double *squares;   /* (capacity) each record's, taken as it was gathered, or 0 */
    bool *occupied;    /* (capacity) whether a record stands in a row */
    uint32_t *places;  /* (capacity) the row of each record of a piece */
    uint32_t *indices; /* (capacity) the index of the record in each row */
    struct row_range *ranges; /* (capacity) the rows of each piece of the micro-batch */
    size_t range_count;
    size_t filled; /* rows of the micro-batch, empty ones between records included */
};

size_t worker_capacity(const struct row_classes *rows, size_t cell_rows_max)
{
    size_t reach = row_classes_reach(rows, cell_rows_max);
    size_t least = reach > CAPACITY_MIN ? reach : CAPACITY_MIN;
    return (least + rows->block - 1) / rows->block * rows->block;
}

/* Where rows round unlike, a cell takes as many rows of every class as its fullest class
 * needs. */
size_t worker_pieces(const struct worker *worker, size_t records)
{
    size_t period = worker->rows.period;
    size_t rows = period == 1 ? records : records + 2 * period;
    size_t pieces = worker->capacity / (rows > 0 ? rows : 1);
    return pieces > 0 ? pieces : 1;
}

static size_t block_size(const struct network *network)
{
    size_t size = network_tile_floats_max(network) * sizeof(float);
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

size_t worker_size(const struct network *network, struct worker_room room)
{
    size_t passes = room.two_points ? workspace_two_points_size(network, room.capacity)
                                    : workspace_size(network, room.capacity);
    size_t row = sizeof(float) + sizeof(double) + sizeof(bool) + 2 * sizeof(uint32_t) +
                 sizeof(struct row_range);
    return sizeof(struct worker) + passes + block_size(network) + room.capacity * row;
}

enum status worker_create(struct worker **out, const struct network *network,
                          const struct row_classes *rows, struct worker_room room,
                          struct error *error)
{
    size_t capacity = room.capacity;
    struct worker *worker = calloc(1, sizeof *worker);
    CHECK(worker != NULL && capacity % rows->block == 0);
    worker->network = network;
    worker->rows = *rows;
    worker->capacity = capacity;
    worker->block = aligned_alloc(ALIGNMENT, block_size(network));
    worker->weights = calloc(capacity, sizeof *worker->weights);
    worker->squares = calloc(capacity, sizeof *worker->squares);
    worker->occupied = calloc(capacity, sizeof *worker->occupied);
    worker->places = calloc(capacity, sizeof *worker->places);
    worker->indices = calloc(capacity, sizeof *worker->indices);
    worker->ranges = calloc(capacity, sizeof *worker->ranges);
    enum status status =
        room.two_points
            ? workspace_create_two_points(&worker->workspace, network, capacity, error)
            : workspace_create(&worker->workspace, network, capacity, error);
    if (status == ST_OK &&
        (worker->block == NULL || worker->weights == NULL || worker->squares == NULL ||
         worker->occupied == NULL || worker->places == NULL ||
         worker->indices == NULL || worker->ranges == NULL))
        status = error_set(error, ST_NO_MEMORY, "no memory for a worker");
    if (status != ST_OK) {
        worker_destroy(worker);
        return status;
    }
    workspace_set_heights(worker->workspace,
                          (struct heights){rows->block, rows->tallest});
    *out = worker;
    return ST_OK;
}

void worker_destroy(struct worker *worker)
{
    if (worker == NULL)
        return;
    workspace_destroy(worker->workspace);
    if (worker->block != NULL)
        hash_zero(worker->block, block_size(worker->network));
    if (worker->weights != NULL)
        hash_zero(worker->weights, worker->capacity * sizeof *worker->weights);
    if (worker->squares != NULL)
        hash_zero(worker->squares, worker->capacity * sizeof *worker->squares);
    if (worker->indices != NULL)
        hash_zero(worker->indices, worker->capacity * sizeof *worker->indices);
    free(worker->block);
    free(worker->weights);
    free(worker->squares);
    free(worker->occupied);
    free(worker->places);
    free(worker->indices);
    free(worker->ranges);
    free(worker);
}

struct workspace *worker_workspace(struct worker *worker)
{
    return worker->workspace;
}

/* Whether squares of the records, as they are read, serve the norms of a pass. */
static bool squares_serve(const struct pass *pass)
{
    return pass->weigh != NULL && pass->motion == NULL;
}

/* Copies one record's features and target into a row. Its square is taken at once, while
 * the row is near and the processor divides the next one's. */
static void gather(struct worker *worker, const struct task *task, uint32_t index,
                   size_t row)
{
    const struct matrix *data = task->data;
    size_t stride = workspace_stride(worker->workspace);
    float *features = workspace_input(worker->workspace) + row * stride;
    matrix_gather(data, features, stride, &index, 1);
    if (squares_serve(task->pass))
        worker->squares[row] = floats_square(features, stride);
    worker->indices[row] = index;
    if (data->targets != NULL)
        workspace_classes(worker->workspace)[row] = data->targets[index];
    else
        workspace_values(worker->workspace)[row] = data->values[index];
}

static void clear_row(struct worker *worker, size_t row)
{
    size_t stride = workspace_stride(worker->workspace);
    memset(workspace_input(worker->workspace) + row * stride, 0,
           stride * sizeof(float));
    workspace_classes(worker->workspace)[row] = 0;
    workspace_values(worker->workspace)[row] = 0;
}

/* Puts a piece behind what the micro-batch holds, or answers false if it has no room. */
static bool add_piece(struct worker *worker, const struct task *task,
                      struct piece piece)
{
    const uint32_t *indices = task->batch->indices + piece.first;
    size_t start = worker->filled;
    if (piece.count > worker->capacity - start)
        return false;
    struct cell_rows cell =
        row_classes_place(&worker->rows, start, indices, piece.count, worker->places);
    if (cell.end > worker->capacity)
        return false;
    memset(worker->occupied + start, 0, (cell.end - start) * sizeof *worker->occupied);
    for (size_t k = 0; k < piece.count; k++) {
        if (piece.first + k + AHEAD < task->batch->count)
            matrix_expect(task->data, indices[k + AHEAD]);
        gather(worker, task, indices[k], worker->places[k]);
        worker->occupied[worker->places[k]] = true;
    }
    for (size_t row = start; row < cell.end; row++)
        if (!worker->occupied[row])
            clear_row(worker, row);
    worker->ranges[worker->range_count++] =
        (struct row_range){.first = cell.first, .count = cell.end - cell.first};
    worker->filled = cell.end;
    return true;
}

struct cursor {
    size_t next, end; /* pieces */
    size_t taken;     /* how many records of the next piece were taken already */
};

/* Where the next micro-batch should end, so that the blocks it takes are as full as may
 * be: the last of them is computed whole. Sums do not depend on it. */
static size_t best_end(const struct worker *worker, const struct batch *batch,
                       const struct cursor *cursor)
{
    size_t block = worker->rows.block, rows = 0, end = cursor->end;
    double fullest = 0;
    if (worker->rows.period > 1 || worker->rows.tallest > block)
        return cursor->end;
    for (size_t p = cursor->next; p < cursor->end; p++) {
        rows += batch->pieces[p].count;
        if (rows > worker->capacity)
            return end;
        double full = (double)rows / (double)((rows + block - 1) / block * block);
        if (full >= fullest) {
            fullest = full;
            end = p + 1;
        }
    }
    return cursor->end;
}

static void fill(struct worker *worker, const struct task *task, struct cursor *cursor)
{
    size_t end = best_end(worker, task->batch, cursor);
    worker->range_count = worker->filled = 0;
    memset(worker->squares, 0, worker->capacity * sizeof *worker->squares);
    for (; cursor->next < end; cursor->next++, cursor->taken = 0) {
        struct piece piece = task->batch->pieces[cursor->next];
        piece.first += cursor->taken;
        piece.count -= cursor->taken;
        if (add_piece(worker, task, piece))
            continue;
        if (worker->range_count > 0)
            return;
        /* A cell of more than M records, which happens once in 2^128, is taken in
         * parts. */
        do
            piece.count /= 2;
        while (!add_piece(worker, task, piece));
        cursor->taken += piece.count;
        return;
    }
}

static void count_norms(const struct worker *worker, const struct task *task,
                        const struct measures *measures)
{
    int64_t counts[HISTOGRAM_BINS_MAX] = {0};
    for (size_t row = 0; row < worker->filled; row++)
        if (worker->occupied[row])
            counts[histogram_bin(task->pass->histogram, measures->norms[row])]++;
    for (size_t j = 0; j < task->pass->histogram->bins; j++)
        atomic_fetch_add(&task->sum->counts[j], counts[j]);
    hash_zero(counts, sizeof counts);
}

static struct measures measures_of(const struct worker *worker)
{
    return (struct measures){.norms = workspace_norms(worker->workspace),
                             .spreads = workspace_spreads(worker->workspace),
                             .losses = workspace_losses(worker->workspace),
                             .count = worker->filled,
                             .workspace = worker->workspace};
}

static void leave_empty_rows(struct worker *worker)
{
    for (size_t row = 0; row < worker->filled; row++)
        if (!worker->occupied[row])
            worker->weights[row] = 0;
}

static void scale_rows(struct worker *worker)
{
    leave_empty_rows(worker);
    workspace_scale(worker->workspace, worker->weights);
}

static void weigh_layers(struct worker *worker, const struct pass *pass)
{
    struct measures measures = measures_of(worker);
    for (size_t l = 0; l < network_layers(worker->network); l++) {
        measures.norms = workspace_layer_norms(worker->workspace, l);
        measures.spreads = workspace_layer_spreads(worker->workspace, l);
        pass->weigh(worker->weights, &measures, pass->rule);
        leave_empty_rows(worker);
        workspace_scale_layer(worker->workspace, l, worker->weights);
    }
}

static void weigh(struct worker *worker, const struct task *task)
{
    const struct pass *pass = task->pass;
    workspace_measure(worker->workspace, squares_serve(pass) ? worker->squares : NULL);
    struct measures measures = measures_of(worker);
    if (pass->histogram != NULL)
        count_norms(worker, task, &measures);
    if (pass->by_layer) {
        weigh_layers(worker, pass);
        return;
    }
    pass->weigh(worker->weights, &measures, pass->rule);
    scale_rows(worker);
}

static void weigh_rest(struct worker *worker, const struct pass *pass)
{
    struct measures measures = measures_of(worker);
    pass->weigh_rest(worker->weights, &measures, pass->rest);
    scale_rows(worker);
}

static void add_sums(struct worker *worker, const struct task *task, size_t tile,
                     int64_t *sum)
{
    struct tile place = network_tile(worker->network, tile);
    for (size_t k = 0; k < worker->range_count; k++) {
        workspace_sum(worker->workspace, tile, worker->ranges[k], worker->block);
        pthread_mutex_lock(&task->sum->locks[tile]);
        grid_add(task->pass->grid, sum + place.offset, worker->block, place.count);
        pthread_mutex_unlock(&task->sum->locks[tile]);
    }
}

static void differentiate(struct worker *worker, const struct task *task)
{
    struct workspace *workspace = worker->workspace;
    if (task->pass->motion != NULL) {
        workspace_difference(workspace, task->pass->motion, worker->filled);
        return;
    }
    workspace_forward(workspace, task->parameters, worker->filled);
    workspace_loss(workspace);
    workspace_backward(workspace, task->parameters);
}

static bool cancelled(const struct task *task)
{
    return task->cancel != NULL && atomic_load(task->cancel);
}

void worker_run(struct worker *worker, const struct task *task,
                struct worker_share share)
{
    struct cursor cursor = {.next = share.first, .end = share.end};
    size_t tiles = network_tile_count(worker->network);
    workspace_drop(worker->workspace, (struct drop){task->drop_key, worker->indices});
    while (cursor.next < cursor.end && !cancelled(task)) {
        fill(worker, task, &cursor);
        differentiate(worker, task);
        if (task->pass->weigh != NULL)
            weigh(worker, task);
        else
            workspace_per_example_gradients(worker->workspace);
        for (size_t k = 0; k < tiles; k++)
            add_sums(worker, task, (share.tile + k) % tiles, task->sum->sum);
        if (task->pass->weigh_rest == NULL)
            continue;
        weigh_rest(worker, task->pass);
        for (size_t k = 0; k < tiles; k++)
            add_sums(worker, task, (share.tile + k) % tiles, task->sum->residue);
    }
    workspace_drop(worker->workspace, (struct drop){0}); /* evaluation drops nothing */
}
