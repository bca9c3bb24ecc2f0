/*
 * gemm.h - products of float32 matrices. Every output is one chain of fused
 * multiply-adds over the terms in ascending order:
 *
 *   z[i][j] = fma(x[n-1], y[n-1], ... fma(x[1], y[1], fma(x[0], y[0], s[i][j])) ...)
 *
 * where x[t] and y[t] are the terms of row i and column j. So an output depends only on
 * its own row of x, its own column of y and its start s. Its bits do not depend on the
 * other rows and columns, on its place in the product, on the number of rows and
 * columns, or on the kernel (gemm_kernel.h) that this processor runs (noise.md 2.5). A
 * term is rounded once, and once more for each term after it (noise.md 2.1, E3).
 *
 * It is specified whether an output is NaN, but not which NaN.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_GEMM_GEMM_H
#define ENGINE_GEMM_GEMM_H

#include <stddef.h>

#include "engine/gemm/gemm_kernel.h"

/* Matrices are row-major, with a stride from row to row. z overlaps neither x nor y. */
struct gemm {
    size_t rows, columns, terms; /* z is (rows, columns) */
    const float *x, *y;
    size_t x_stride, y_stride;
    float *z; /* only its columns are written */
    size_t z_stride;
    const float *start;  /* (rows, columns), or z, or NULL for zeros */
    size_t start_stride; /* 0: one row for all */
};

/* z = s + x y^T: x (rows, terms), y (columns, terms). */
void gemm_rows_by_rows(const struct gemm_kernel *kernel, const struct gemm *product);

/* z = s + x y: x (rows, terms), y (terms, columns). */
void gemm_rows_by_columns(const struct gemm_kernel *kernel, const struct gemm *product);

/* z = s + x^T y: x (terms, rows), y (terms, columns). A row of y must be readable up to
 * the next multiple of 16 columns. */
void gemm_columns_by_columns(const struct gemm_kernel *kernel,
                             const struct gemm *product);

/* z = s + the sum over units of weights[u runs] x_u^T y_u, as gemm_kernel.h defines
 * units: each unit adds one term, its weight times the result of
 * gemm_columns_by_columns for this unit, bit for bit.
 *   x  run r of all runs is (terms, rows), from x + r x_run on
 *   y  (runs of all units x terms, columns); rows must be readable as above */
struct gemm_runs {
    struct product_units units;
    size_t count; /* runs of a unit */
    size_t x_run;
};
void gemm_sum_of_units(const struct gemm_kernel *kernel, const struct gemm *product,
                       struct gemm_runs runs);

#endif
