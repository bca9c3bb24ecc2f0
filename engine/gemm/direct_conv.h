/*
 * direct_conv.h - products whose rows may overlap: those of windows that slide over
 * images, read where the images lie, and plain ones. Every output is one chain of fused
 * multiply-adds, as gemm.h has it, over the terms of the first run in ascending order,
 * then over those of the next, and so on.
 *
 * Row (h, i, j) of x begins at x + h rows[0].x_step + i rows[1].x_step + j rows[2].x_step,
 * and its output in the same way. Run (k, l) of its terms begins k runs[0].x_step +
 * l runs[1].x_step behind that, and its terms lie side by side:
 *
 *          columns of an image ->         a window of 2 x 3 taps that slides by 2: rows[1]
 *        . [a b c] d e  .  .              goes down by two lines, rows[2] by two columns;
 *        . [f g h] i j  .  .              a window has two runs, (a b c) and (f g h)
 *
 * Which NaN an output is, is not said; that it is one, is.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_GEMM_DIRECT_CONV_H
#define ENGINE_GEMM_DIRECT_CONV_H

#include "engine/gemm/gemm_kernel.h"

struct direct_conv_rows { /* so many, so many floats apart; at least one is asked for */
    size_t count, x_step, z_step, start_step;
};

struct direct_conv_runs { /* so many, so many floats apart in x and in y */
    size_t count, x_step;
    ptrdiff_t y_step;
};

/* Where a run's y lies: its term t and column j. */
enum direct_conv_form {
    DIRECT_CONV_BY_ROWS,   /* y[j * y_stride + t] */
    DIRECT_CONV_BY_COLUMNS /* y[t * y_stride + j] */
};

struct direct_conv {
    struct direct_conv_rows rows[3];
    struct direct_conv_runs runs[2]; /* a count of 0: the outputs are the starts */
    size_t terms;                    /* of each run */
    size_t columns;
    const float *x, *y;
    size_t y_stride;
    enum direct_conv_form form;
    float *z; /* overlaps neither x nor y; nothing beside its columns is written */
    const float *start; /* laid out by start_step; z itself; or NULL for zeros */
};

void direct_conv_multiply(const struct gemm_kernel *kernel,
                          const struct direct_conv *slide);

#endif
