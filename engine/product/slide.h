/*
 * slide.h - products whose rows may overlap: those of windows that slide over images, read
 * where the images lie, and plain ones. Every output is one chain of fused multiply-adds,
 * as product.h has it, over the terms of the first run in ascending order, then over those
 * of the next, and so on.
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
#ifndef ENGINE_PRODUCT_SLIDE_H
#define ENGINE_PRODUCT_SLIDE_H

#include "engine/product/product_kernel.h"

struct slide_rows { /* so many, so many floats apart; at least one is asked for */
    size_t count, x_step, z_step, start_step;
};

struct slide_runs { /* so many, so many floats apart in x and in y */
    size_t count, x_step;
    ptrdiff_t y_step;
};

/* Where a run's y lies: its term t and column j. */
enum slide_form {
    SLIDE_BY_ROWS,   /* y[j * y_stride + t] */
    SLIDE_BY_COLUMNS /* y[t * y_stride + j] */
};

struct slide {
    struct slide_rows rows[3];
    struct slide_runs runs[2]; /* a count of 0: the outputs are the starts */
    size_t terms;              /* of each run */
    size_t columns;
    const float *x, *y;
    size_t y_stride;
    enum slide_form form;
    float *z; /* overlaps neither x nor y; nothing beside its columns is written */
    const float *start; /* laid out by start_step; z itself; or NULL for zeros */
};

void slide_multiply(const struct product_kernel *kernel, const struct slide *slide);

#endif
