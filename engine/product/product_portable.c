#include "engine/product/product_portable.h"

#include <math.h>

static bool available(void)
{
    return true;
}

enum { ROWS = 4 };

/* A row of z stands in chains, one a column, while the terms go by. */
static void multiply(const struct product_tile *tile)
{
    for (size_t i = 0; i < tile->rows; i++) {
        const float *y = tile->y;
        float chains[PANEL_COLUMNS] = {0};
        for (size_t j = 0; j < tile->columns && tile->start != NULL; j++)
            chains[j] = tile->start[i * tile->start_row + j];
        for (size_t r = 0; r < tile->runs; r++) {
            const float *x = tile->x + i * tile->x_row + r * tile->x_run;
            for (size_t t = 0; t < tile->terms; t++, y += tile->y_term)
                for (size_t j = 0; j < tile->columns; j++)
                    chains[j] = fmaf(x[t * tile->x_term], y[j], chains[j]);
        }
        for (size_t j = 0; j < tile->columns; j++)
            tile->z[i * tile->z_row + j] = chains[j];
    }
}

static void transpose(float *panel, struct product_source from)
{
    for (size_t r = 0; r < from.rows; r++)
        for (size_t c = 0; c < from.columns; c++)
            panel[c * PANEL_COLUMNS + r] = from.at[r * from.stride + c];
}

const struct product_kernel product_portable = {.name = "portable",
                                                .rows = ROWS,
                                                .columns = PANEL_COLUMNS,
                                                .available = available,
                                                .multiply = multiply,
                                                .transpose = transpose};
