/* Products by rows of x are slides of one run (slide.h). Where a product is by columns, the
 * terms are a cell's records and few: both matrices are read in place. */
#include "engine/product/product.h"

#include "engine/product/shares.h"
#include "engine/product/slide.h"

static void multiply_rows(const struct product_kernel *kernel,
                          const struct product *product, enum slide_form form)
{
    const struct slide slide = {.rows = {{.count = 1},
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
    slide_multiply(kernel, &slide);
}

void product_rows_by_rows(const struct product_kernel *kernel,
                          const struct product *product)
{
    multiply_rows(kernel, product, SLIDE_BY_ROWS);
}

void product_rows_by_columns(const struct product_kernel *kernel,
                             const struct product *product)
{
    multiply_rows(kernel, product, SLIDE_BY_COLUMNS);
}

void product_columns_by_columns(const struct product_kernel *kernel,
                                const struct product *product)
{
    size_t shares = shares_of(product->rows, kernel->rows);

    for (size_t k = 0; k < shares; k++) {
        size_t first = share_begin(product->rows, shares, k);
        for (size_t j = 0; j < product->columns; j += kernel->columns) {
            size_t left = product->columns - j;
            const struct product_tile tile = {
                .rows = share_begin(product->rows, shares, k + 1) - first,
                .columns = left < kernel->columns ? left : kernel->columns,
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
            kernel->multiply(&tile);
        }
    }
}
