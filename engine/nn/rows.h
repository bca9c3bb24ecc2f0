/*
 * rows.h - the weight layer from which all others are built (network.md 0, fact 1):
 *
 *   forward    z = a W^T + c            rows a (inputs) go in, rows z (outputs) come
 *                                       out
 *   backward   da = b W                 rows b (outputs) are the gradients at z
 *   gradient   the sum of b_t x a_t     over the rows t of one record; the bias's is
 *                                       that of b_t
 *
 * W is (outputs, inputs) row-major, c is (outputs); both lie in the flat vector. All of
 * these are products of gemm.h; the sum of forward starts with c. The result for a row
 * depends only on that row and the parameters (noise.md 2.5).
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_ROWS_H
#define ENGINE_NN_ROWS_H

#include <stdbool.h>
#include <stddef.h>

struct row_layer {
    size_t inputs, outputs;
    size_t weight, bias; /* offsets in the flat vector; no bias: SIZE_MAX */
};

/* The rows of a micro-batch that one sum adds: [first, first + count), which are
 * records of the last forward. */
struct row_range {
    size_t first, count;
};

struct rows { /* a matrix; a layer uses its first inputs or outputs columns */
    float *data;
    size_t stride, count;
};

/* Values at one of two parameter points, and the difference between the points divided
 * by a scale s. The data of difference is NULL if it is zero. */
struct row_pair {
    struct rows at, difference;
};

/* The factors of a sum of differences: a at the previous point, b at the new point.
 * b.at is not read if a.difference is zero. */
struct row_factors {
    struct row_pair a, b;
};

/* z += bias, width columns of each row. */
void rows_add(struct rows z, const float *bias, size_t width);

/* The square of 2^64: a record with a factor or a gradient of a larger norm than 2^64
 * is refused (noise.md 2.4). */
#define NORM_SQUARE_MAX 0x1p128

/* The sum of squares in double, in which squares of floats are exact. */
double floats_square(const float *x, size_t count);

/* Passes run over a multiple of this many rows. */
enum { ROWS_STEP = 16 };

/* Returns the distance in floats from one row of width to the next. Rows start on
 * 64-byte boundaries. */
static inline size_t rows_stride(size_t width)
{
    return (width + 15) / 16 * 16;
}

/* Returns the same distance, but never a multiple of 4 KiB: rows at such a distance
 * would compete for the same few lines of the first-level cache and evict each
 * other. */
static inline size_t rows_spread_stride(size_t width)
{
    size_t stride = rows_stride(width);
    return stride % 1024 == 0 ? stride + 16 : stride;
}

bool row_layer_has_bias(const struct row_layer *layer);

/* z = a W^T + c */
void row_layer_forward(const struct row_layer *layer, const float *parameters,
                       struct rows z, struct rows a);

/* da = b W */
void row_layer_backward(const struct row_layer *layer, const float *parameters,
                        struct rows da, struct rows b);

/* z += a W^T and da += b W, without the bias. */
void row_layer_add_forward(const struct row_layer *layer, const float *parameters,
                           struct rows z, struct rows a);
void row_layer_add_backward(const struct row_layer *layer, const float *parameters,
                            struct rows da, struct rows b);

/* Squares whole rows, in double; the padding of a row is zero.
 *   squares  (x.count) */
void rows_square(double *squares, struct rows x);

struct row_squares {
    const double *a, *b; /* (count) |a|^2, |b|^2 */
    size_t count;
};

/* Adds the square of each record's gradient norm, one row a record, in double:
 *   (|a|^2 + 1) |b|^2    with a bias, else |a|^2 |b|^2
 * or infinity if |a| or |b| is not finite or beyond 2^64 (noise.md 2.4).
 *   squares  (of.count) accumulated into */
void row_layer_measure(const struct row_layer *layer, double *squares,
                       struct row_squares of);

/* block (count, inputs) = rows [row, row + count) of b^T a: one float32 product; zeros
 * if a and b have no rows. a can be read up to its stride. */
struct row_span {
    size_t row, count;
};
void row_layer_sum(const struct row_layer *layer, struct row_span span, float *block,
                   struct rows a, struct rows b);

/* block += the same. */
void row_layer_add_sum(const struct row_layer *layer, struct row_span span,
                       float *block, struct rows a, struct rows b);

/* block (count) = the sums of columns [row, row + count) of b. */
void row_layer_sum_bias(struct row_span span, float *block, struct rows b);

#endif
