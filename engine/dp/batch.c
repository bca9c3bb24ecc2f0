#include "engine/dp/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"

enum status batch_init(struct batch *batch, size_t records, size_t pieces_max,
                       struct error *error)
{
    *batch = (struct batch){.records = records, .pieces_max = pieces_max};
    batch->indices = calloc(records, sizeof *batch->indices);
    batch->pieces = calloc(pieces_max > 0 ? pieces_max : 1, sizeof *batch->pieces);
    if (batch->indices != NULL && batch->pieces != NULL)
        return ST_OK;
    batch_fini(batch);
    return error_set(error, ST_NO_MEMORY, "no memory for a batch of %zu", records);
}

void batch_fini(struct batch *batch)
{
    if (batch->indices != NULL)
        hash_zero(batch->indices, batch->count_max * sizeof *batch->indices);
    if (batch->pieces != NULL)
        hash_zero(batch->pieces, batch->pieces_max * sizeof *batch->pieces);
    free(batch->indices);
    free(batch->pieces);
    *batch = (struct batch){0};
}

void batch_drawn(struct batch *batch, size_t count)
{
    CHECK(count <= batch->records);
    batch->count = count;
    batch->count_max = count > batch->count_max ? count : batch->count_max;
    batch->piece_count = 0;
    batch->single = false;
}

void batch_take_range(struct batch *batch, struct index_range range)
{
    CHECK(range.count <= batch->records);
    for (size_t k = 0; k < range.count; k++)
        batch->indices[k] = (uint32_t)(range.first + k);
    batch_drawn(batch, range.count);
}

void batch_keep(struct batch *batch, struct index_range range)
{
    uint32_t *indices = batch->indices;
    size_t first = 0, end = batch->count;
    while (first < end && indices[first] < range.first)
        first++;
    while (end > first && indices[end - 1] >= range.first + range.count)
        end--;
    memmove(indices, indices + first, (end - first) * sizeof *indices);
    batch_drawn(batch, end - first);
}

static void add_piece(struct batch *batch, size_t first, size_t count)
{
    if (count == 0)
        return;
    CHECK(batch->piece_count < batch->pieces_max);
    batch->pieces[batch->piece_count++] = (struct piece){first, count};
}

void batch_cut_cells(struct batch *batch, const struct grid *grid)
{
    size_t first = 0;
    batch->piece_count = 0;
    batch->single = grid_is_single(grid);
    if (batch->single) {
        batch->piece_count = batch->count;
        return;
    }
    for (uint64_t cell = 0; cell < grid->cells; cell++) {
        uint64_t end = grid_cell_start(grid, cell + 1);
        size_t last = first;
        while (last < batch->count && batch->indices[last] < end)
            last++;
        add_piece(batch, first, last - first);
        first = last;
    }
    CHECK(first == batch->count);
}

void batch_cut_evenly(struct batch *batch, size_t rows)
{
    batch->piece_count = 0;
    batch->single = false;
    for (size_t first = 0; first < batch->count; first += rows)
        add_piece(batch, first,
                  batch->count - first < rows ? batch->count - first : rows);
}

size_t batch_share(const struct batch *batch, unsigned k, unsigned n)
{
    size_t target = batch->count / n * k + batch->count % n * k / n;
    size_t p = 0;
    if (batch->single)
        return target;
    /* A piece belongs to the share that contains its middle. */
    while (p < batch->piece_count &&
           batch->pieces[p].first + batch->pieces[p].count / 2 < target)
        p++;
    return k == n ? batch->piece_count : p;
}
