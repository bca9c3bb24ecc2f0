/*
 * product_kernel.h - the tile of a product in registers, once for each instruction set
 * that is worth one; product_choice.h has them. All kernels leave the same bits (product.h
 * says which), so that the processor decides nothing but how long it takes.
 *
 * Threads: constant data and pure functions.
 */
#ifndef ENGINE_PRODUCT_PRODUCT_KERNEL_H
#define ENGINE_PRODUCT_PRODUCT_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

/* Panels are so wide: a whole number of every kernel's columns. */
enum { PANEL_COLUMNS = 32 };

/* z[i][j] = start[i][j], and then, for r = 0, 1, ... and, within each of these runs,
 * t = 0, 1, ..., fma(x[i][r, t], y[r, t][j], z[i][j]).
 *   x      element (i, r, t) lies at x[i * x_row + r * x_run + t * x_term]; x_row or x_term
 *          is 1
 *   y      the term (r, t) has its columns at y + (r * terms + t) * y_term, of which as
 *          many can be read as make the columns a multiple of 16
 *   z      row i lies at z + i * z_row; no float beside its columns is written
 *   start  row i lies at start + i * start_row; it may be z. NULL: zeros */
struct product_tile {
    size_t rows, columns;
    size_t runs, terms; /* terms: of each run */
    const float *x;
    size_t x_row, x_run, x_term;
    const float *y;
    size_t y_term;
    float *z;
    size_t z_row;
    const float *start;
    size_t start_row;
};

/* A part of a matrix with rows side by side. */
struct product_source {
    const float *at;
    size_t stride, rows, columns;
};

struct product_kernel {
    const char *name;
    size_t rows, columns; /* the most of a tile */

    /* Whether this processor can run the two functions below. */
    bool (*available)(void);
    void (*multiply)(const struct product_tile *tile);

    /* panel[c * PANEL_COLUMNS + r] = from.at[r * from.stride + c]: its rows become columns
     * of a panel, of which there are at most PANEL_COLUMNS. Columns of the panel that no
     * row fills are left as they are. */
    void (*transpose)(float *panel, struct product_source from);
};

#endif
