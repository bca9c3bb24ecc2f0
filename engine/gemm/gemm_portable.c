#include "engine/gemm/gemm_portable.h"

#include <math.h>

static bool available(void)
{
    return true;
}

enum { ROWS = 4 };

/* Continues the chains of row i, one for each column, from run first on. */
static void add_runs(float *chains, const struct product_tile *tile, size_t i,
                     size_t first)
{
    const float *y = tile->y + first * tile->terms * tile->y_term;
    for (size_t r = first; r < first + tile->runs; r++) {
        const float *x = tile->x + i * tile->x_row + r * tile->x_run;
        for (size_t t = 0; t < tile->terms; t++, y += tile->y_term)
            for (size_t j = 0; j < tile->columns; j++)
                chains[j] = fmaf(x[t * tile->x_term], y[j], chains[j]);
    }
}

/* A row of z is in chains while the terms are added. */
static void multiply(const struct product_tile *tile)
{
    for (size_t i = 0; i < tile->rows; i++) {
        float chains[PANEL_COLUMNS] = {0};
        for (size_t j = 0; j < tile->columns && tile->start != NULL; j++)
            chains[j] = tile->start[i * tile->start_row + j];
        add_runs(chains, tile, i, 0);
        for (size_t j = 0; j < tile->columns; j++)
            tile->z[i * tile->z_row + j] = chains[j];
    }
}

static void add_units(const struct product_tile *tile, struct product_units units)
{
    for (size_t i = 0; i < tile->rows; i++) {
        float sums[PANEL_COLUMNS] = {0};
        for (size_t j = 0; j < tile->columns && tile->start != NULL; j++)
            sums[j] = tile->start[i * tile->start_row + j];
        for (size_t u = 0; u < units.count; u++) {
            float chains[PANEL_COLUMNS] = {0};
            add_runs(chains, tile, i, u * tile->runs);
            for (size_t j = 0; j < tile->columns; j++)
                sums[j] = fmaf(units.weights[u * tile->runs], chains[j], sums[j]);
        }
        for (size_t j = 0; j < tile->columns; j++)
            tile->z[i * tile->z_row + j] = sums[j];
    }
}

static void transpose(float *panel, struct product_source from)
{
    for (size_t r = 0; r < from.rows; r++)
        for (size_t c = 0; c < from.columns; c++)
            panel[c * PANEL_COLUMNS + r] = from.at[r * from.stride + c];
}

const struct gemm_kernel gemm_portable = {.name = "portable",
                                          .rows = ROWS,
                                          .rows_of_units = ROWS,
                                          .columns = PANEL_COLUMNS,
                                          .available = available,
                                          .multiply = multiply,
                                          .add_units = add_units,
                                          .transpose = transpose};
