/* Products by rows of x are a direct_conv with one run (direct_conv.h). In products by
 * columns, the terms are a cell's records and few, so both matrices are read in
 * place. */
#include "engine/gemm/gemm.h"

#include "engine/gemm/direct_conv.h"
#include "engine/gemm/even_split.h"

static void multiply_rows(const struct gemm_kernel *kernel, const struct gemm *product,
                          enum direct_conv_form form)
{
    const struct direct_conv slide = {.rows = {{.count = 1},
                                               {.count = 1},
                                               {.count = product->rows,
                                                .x_step = product->x_stride,
                                                .z_step = product->z_stride,
                                                .start_step = product->start_stride}},
                                      .runs = {{.count = 1}, {.count = 1}},
                                      .terms = product->terms,
                                      .columns = product->columns,
                                      .x = product->x,
                                      .y = product->y,
                                      .y_stride = product->y_stride,
                                      .form = form,
                                      .z = product->z,
                                      .start = product->start};
    direct_conv_multiply(kernel, &slide);
}

void gemm_rows_by_rows(const struct gemm_kernel *kernel, const struct gemm *product)
{
    multiply_rows(kernel, product, DIRECT_CONV_BY_ROWS);
}

void gemm_rows_by_columns(const struct gemm_kernel *kernel, const struct gemm *product)
{
    multiply_rows(kernel, product, DIRECT_CONV_BY_COLUMNS);
}

/* The tile of share k of the rows, at column j. */
static struct product_tile tile_at(const struct gemm *product, size_t shares, size_t k,
                                   size_t j, size_t columns)
{
    size_t first = even_split_begin(product->rows, shares, k),
           left = product->columns - j;
    return (struct product_tile){
        .rows = even_split_begin(product->rows, shares, k + 1) - first,
        .columns = left < columns ? left : columns,
        .runs = 1,
        .terms = product->terms,
        .x = product->x + first,
        .x_row = 1,
        .x_term = product->x_stride,
        .y = product->y + j,
        .y_term = product->y_stride,
        .z = product->z + first * product->z_stride + j,
        .z_row = product->z_stride,
        .start = product->start == NULL
                     ? NULL
                     : product->start + first * product->start_stride + j,
        .start_row = product->start_stride};
}

void gemm_columns_by_columns(const struct gemm_kernel *kernel,
                             const struct gemm *product)
{
    size_t shares = even_split_of(product->rows, kernel->rows);

    for (size_t k = 0; k < shares; k++)
        for (size_t j = 0; j < product->columns; j += kernel->columns) {
            struct product_tile tile = tile_at(product, shares, k, j, kernel->columns);
            kernel->multiply(&tile);
        }
}

/* The outer loop is over columns, so that the columns of y that a tile reads stay in
 * cache for all rows. */
void gemm_sum_of_units(const struct gemm_kernel *kernel, const struct gemm *product,
                       struct gemm_runs runs)
{
    size_t shares = even_split_of(product->rows, kernel->rows_of_units);

    for (size_t j = 0; j < product->columns; j += kernel->columns)
        for (size_t k = 0; k < shares; k++) {
            struct product_tile tile = tile_at(product, shares, k, j, kernel->columns);
            tile.runs = runs.count;
            tile.x_run = runs.x_run;
            kernel->add_units(&tile, runs.units);
        }
}
