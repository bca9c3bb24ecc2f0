/*
 * gemm_kernel.h - computes a tile of a product in registers, with one kernel for each
 * useful instruction set; gemm_choice.h lists them. All kernels give the same bits
 * (gemm.h defines them), so the processor only affects the time.
 *
 * Threads: constant data and pure functions.
 */
#ifndef ENGINE_GEMM_GEMM_KERNEL_H
#define ENGINE_GEMM_GEMM_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

/* The width of a panel: a multiple of every kernel's columns. */
enum { PANEL_COLUMNS = 32 };

/* z[i][j] = start[i][j], and then, for r = 0, 1, ... and, within each of these runs,
 * t = 0, 1, ..., fma(x[i][r, t], y[r, t][j], z[i][j]).
 *   x      element (i, r, t) lies at x[i * x_row + r * x_run + t * x_term]; x_row or
 *          x_term is 1
 *   y      the columns of term (r, t) are at y + (r * terms + t) * y_term, and must be
 *          readable up to the next multiple of 16 columns
 *   z      row i lies at z + i * z_row; only its columns are written
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

/* Units of the tile's number of runs each, which follow each other in x and y, and the
 * weight of the chain of each unit:
 *   g_u[i][j] = the chain over the runs of unit u, from zero
 *   z[i][j] = start[i][j], and then, for u = 0, 1, ..., fma(weights[u runs], g_u[i][j],
 *             z[i][j])
 * The tile's runs are the runs of one unit. */
struct product_units {
    size_t count;
    const float *weights;
};

/* A part of a row-major matrix. */
struct product_source {
    const float *at;
    size_t stride, rows, columns;
};

struct gemm_kernel {
    const char *name;
    size_t rows, columns; /* the largest tile */
    size_t rows_of_units; /* the most rows of a tile of units */

    /* Returns whether this processor can run the functions below. */
    bool (*available)(void);
    void (*multiply)(const struct product_tile *tile);
    void (*add_units)(const struct product_tile *tile, struct product_units units);

    /* panel[c * PANEL_COLUMNS + r] = from.at[r * from.stride + c]: the rows, at most
     * PANEL_COLUMNS, become columns of a panel. Columns of the panel that have no row
     * stay unchanged. */
    void (*transpose)(float *panel, struct product_source from);
};

#endif
