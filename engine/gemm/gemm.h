/*
 * gemm.h - products of float32 matrices, each of whose outputs is one chain of fused
 * multiply-adds over the terms in ascending order:
 *
 *   z[i][j] = fma(x[n-1], y[n-1], ... fma(x[1], y[1], fma(x[0], y[0], s[i][j])) ...)
 *
 * where x[t] and y[t] are the terms of row i and column j. So an output is a function of
 * its own row of x, its own column of y and its start s alone: it has the same bits
 * whatever stands beside it, wherever in the product it stands, however many rows and
 * columns there are, and whichever kernel (gemm_kernel.h) this processor runs
 * (noise.md 2.5). A term passes one rounding, and one more for each term behind it
 * (noise.md 2.1, E3).
 *
 * Which NaN an output is, is not said; that it is one, is.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_GEMM_GEMM_H
#define ENGINE_GEMM_GEMM_H

#include <stddef.h>

#include "engine/gemm/gemm_kernel.h"

/* Matrices lie row-major, a stride from row to row. z overlaps neither x nor y. */
struct gemm {
    size_t rows, columns, terms; /* z is (rows, columns) */
    const float *x, *y;
    size_t x_stride, y_stride;
    float *z; /* nothing beside its columns is written */
    size_t z_stride;
    const float *start;  /* (rows, columns), or z, or NULL for zeros */
    size_t start_stride; /* 0: one row for all */
};

/* z = s + x y^T: x (rows, terms), y (columns, terms). */
void gemm_rows_by_rows(const struct gemm_kernel *kernel, const struct gemm *product);

/* z = s + x y: x (rows, terms), y (terms, columns). */
void gemm_rows_by_columns(const struct gemm_kernel *kernel, const struct gemm *product);

/* z = s + x^T y: x (terms, rows), y (terms, columns). A row of y can be read up to the next
 * multiple of 16 columns. */
void gemm_columns_by_columns(const struct gemm_kernel *kernel,
                             const struct gemm *product);

/* z = s + the sum over units of weights[u runs] x_u^T y_u, as gemm_kernel.h says of
 * units: each adds one term, its weight times what gemm_columns_by_columns makes of it
 * alone, bit by bit.
 *   x  of run r of all, (terms, rows) from x + r x_run on
 *   y  (runs of all x terms, columns); a row can be read as above */
struct gemm_runs {
    struct product_units units;
    size_t count; /* of a unit */
    size_t x_run;
};
void gemm_sum_of_units(const struct gemm_kernel *kernel, const struct gemm *product,
                       struct gemm_runs runs);

#endif
