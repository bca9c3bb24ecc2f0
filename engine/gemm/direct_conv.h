/*
 * direct_conv.h - products whose rows may overlap: windows that slide over images and
 * are read in place, and plain products. Every output is one chain of fused
 * multiply-adds, as in gemm.h, over the terms of the first run in ascending order, then
 * over the terms of the next run, and so on.
 *
 * Row (h, i, j) of x begins at x + h rows[0].x_step + i rows[1].x_step + j
 * rows[2].x_step, and its output in the same way. Run (k, l) of its terms begins k
 * runs[0].x_step + l runs[1].x_step after that, and its terms are contiguous:
 *
 *        columns of an image ->       a window of 2 x 3 taps that slides by 2: rows[1]
 *      . [a b c] d e  .  .            is two lines down, rows[2] two columns;
 *      . [f g h] i j  .  .            a window has two runs, (a b c) and (f g h)
 *
 * It is specified whether an output is NaN, but not which NaN.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_GEMM_DIRECT_CONV_H
#define ENGINE_GEMM_DIRECT_CONV_H

#include "engine/gemm/gemm_kernel.h"

struct direct_conv_rows { /* count rows; the steps between them in floats; count >= 1 */
    size_t count, x_step, z_step, start_step;
};

struct direct_conv_runs { /* count runs; steps between them in x and y, in floats */
    size_t count, x_step;
    ptrdiff_t y_step;
};

/* The place in y of term t and column j of a run. */
enum direct_conv_form {
    DIRECT_CONV_BY_ROWS,   /* y[j * y_stride + t] */
    DIRECT_CONV_BY_COLUMNS /* y[t * y_stride + j] */
};

struct direct_conv {
    struct direct_conv_rows rows[3];
    struct direct_conv_runs runs[2]; /* if a count is 0, the outputs are the starts */
    size_t terms;                    /* of each run */
    size_t columns;
    const float *x, *y;
    size_t y_stride;
    enum direct_conv_form form;
    float *z;           /* overlaps neither x nor y; only its columns are written */
    const float *start; /* with start_step between rows; z itself; or NULL for zeros */
};

void direct_conv_multiply(const struct gemm_kernel *kernel,
                          const struct direct_conv *slide);

#endif
