/* A product is cut into tiles, which a kernel holds in registers. y is read by panels of
 * PANEL_COLUMNS columns. Where a product is by rows of x, a stretch of a panel's terms is
 * packed, so that it lies in a cache of the first level, and goes past all rows; the next
 * stretch goes on with the chains where they stand in z, and a float that is stored and
 * read again is the same. Where it is by columns, the terms are a cell's records and few:
 * both matrices are read in place.
 *
 * How a product is cut depends on its shape, and no output's bits depend on that. */
#include "engine/product/product.h"

#include <stdbool.h>
#include <string.h>

enum {
    STRETCH_TERMS = 256, /* 32 KiB of a panel */
    CACHE_LINE = 64
};

/* How many shares, of at most so many each, all takes; and where a share begins, of shares
 * that differ by one at most. */
static size_t shares_of(size_t all, size_t most)
{
    return (all + most - 1) / most;
}

static size_t share_begin(size_t all, size_t shares, size_t index)
{
    return all / shares * index + (index < all % shares ? index : all % shares);
}

/* Multiplies a tile of any rows, and of the columns of a panel, by tiles of the kernel's
 * size. */
static void multiply_panel(const struct product_kernel *kernel,
                           const struct product_tile *panel)
{
    size_t shares = shares_of(panel->rows, kernel->rows);
    for (size_t j = 0; j < panel->columns; j += kernel->columns) {
        struct product_tile tile = *panel;
        size_t left = panel->columns - j;
        tile.columns = left < kernel->columns ? left : kernel->columns;
        tile.y += j;
        for (size_t k = 0; k < shares; k++) {
            size_t first = share_begin(panel->rows, shares, k);
            tile.rows = share_begin(panel->rows, shares, k + 1) - first;
            tile.x = panel->x + first * panel->x_row;
            tile.z = panel->z + first * panel->z_row + j;
            if (panel->start != NULL)
                tile.start = panel->start + first * panel->start_row + j;
            kernel->multiply(&tile);
        }
    }
}

/* A panel's columns, and a stretch of its terms. */
struct place {
    size_t column, columns, term, terms;
};

/* Writes them to panel, whose other columns stay what they are. */
typedef void pack_function(float *panel, const struct product_kernel *kernel,
                           const struct product *product, const struct place *place);

static void pack_rows(float *panel, const struct product_kernel *kernel,
                      const struct product *product, const struct place *place)
{
    kernel->transpose(panel,
                      (struct product_source){
                          product->y + place->column * product->y_stride + place->term,
                          product->y_stride, place->columns, place->terms});
}

/* The next panel's part of each row is asked for while this one is copied: rows are far
 * apart, and no processor guesses where the next one lies. */
static void pack_columns(float *panel, const struct product_kernel *kernel,
                         const struct product *product, const struct place *place)
{
    const float *y = product->y + place->term * product->y_stride + place->column;
    bool goes_on = product->columns - place->column > 2 * PANEL_COLUMNS;
    (void)kernel;
    for (size_t t = 0; t < place->terms; t++, y += product->y_stride) {
        float *to = panel + t * PANEL_COLUMNS;
        if (goes_on) {
            __builtin_prefetch(y + PANEL_COLUMNS);
            __builtin_prefetch(y + PANEL_COLUMNS + PANEL_COLUMNS / 2);
        }
        if (place->columns == PANEL_COLUMNS)
            memcpy(to, y, PANEL_COLUMNS * sizeof *to);
        else
            memcpy(to, y, place->columns * sizeof *to);
    }
}

/* Goes on with the chains of a panel's columns by a stretch of their terms. */
static void multiply_place(const struct product_kernel *kernel,
                           const struct product *product, const struct place *place,
                           const float *panel)
{
    struct product_tile tile = {.rows = product->rows,
                                .columns = place->columns,
                                .terms = place->terms,
                                .x = product->x + place->term,
                                .x_row = product->x_stride,
                                .x_term = 1,
                                .y = panel,
                                .y_term = PANEL_COLUMNS,
                                .z = product->z + place->column,
                                .z_row = product->z_stride,
                                .start = product->z + place->column,
                                .start_row = product->z_stride};
    if (place->term == 0) {
        tile.start = product->start == NULL ? NULL : product->start + place->column;
        tile.start_row = product->start_stride;
    }
    multiply_panel(kernel, &tile);
}

static void multiply_rows(const struct product_kernel *kernel,
                          const struct product *product, pack_function *pack)
{
    _Alignas(CACHE_LINE) float panel[STRETCH_TERMS * PANEL_COLUMNS];
    size_t stretches =
        product->terms > 0 ? shares_of(product->terms, STRETCH_TERMS) : 1;

    if (product->columns % PANEL_COLUMNS != 0)
        memset(panel, 0, sizeof panel);
    for (size_t k = 0; k < stretches; k++) {
        struct place place = {.term = share_begin(product->terms, stretches, k)};
        place.terms = share_begin(product->terms, stretches, k + 1) - place.term;
        for (; place.column < product->columns; place.column += PANEL_COLUMNS) {
            size_t left = product->columns - place.column;
            place.columns = left < PANEL_COLUMNS ? left : PANEL_COLUMNS;
            pack(panel, kernel, product, &place);
            multiply_place(kernel, product, &place, panel);
        }
    }
}

void product_rows_by_rows(const struct product_kernel *kernel,
                          const struct product *product)
{
    multiply_rows(kernel, product, pack_rows);
}

void product_rows_by_columns(const struct product_kernel *kernel,
                             const struct product *product)
{
    multiply_rows(kernel, product, pack_columns);
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
