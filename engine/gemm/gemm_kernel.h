/*
 * gemm_kernel.h - the tile of a product in registers, once for each instruction set
 * that is worth one; gemm_choice.h has them. All kernels leave the same bits (gemm.h
 * says which), so that the processor decides nothing but how long it takes.
 *
 * Threads: constant data and pure functions.
 */
#ifndef ENGINE_GEMM_GEMM_KERNEL_H
#define ENGINE_GEMM_GEMM_KERNEL_H

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

/* Units of so many runs each, which lie one behind the other in x and y, and what the chain
 * of each is worth:
 *   g_u[i][j] = the chain over the runs of unit u, from zero
 *   z[i][j] = start[i][j], and then, for u = 0, 1, ..., fma(weights[u runs], g_u[i][j],
 *             z[i][j])
 * The tile's runs are those of a unit. */
struct product_units {
    size_t count;
    const float *weights;
};

/* A part of a matrix with rows side by side. */
struct product_source {
    const float *at;
    size_t stride, rows, columns;
};

struct gemm_kernel {
    const char *name;
    size_t rows, columns; /* the most of a tile */
    size_t rows_of_units; /* the most of a tile of units */

    /* Whether this processor can run the functions below. */
    bool (*available)(void);
    void (*multiply)(const struct product_tile *tile);
    void (*add_units)(const struct product_tile *tile, struct product_units units);

    /* panel[c * PANEL_COLUMNS + r] = from.at[r * from.stride + c]: its rows become columns
     * of a panel, of which there are at most PANEL_COLUMNS. Columns of the panel that no
     * row fills are left as they are. */
    void (*transpose)(float *panel, struct product_source from);
};

#endif
