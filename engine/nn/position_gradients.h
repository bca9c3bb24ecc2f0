/*
 * position_gradients.h - the norms of records' gradients in a layer with positions, and
 * the sums of these gradients (network.md 2, noise.md 2.4).
 *
 * A record's gradient of the bias is formed and stored in every form of positions.h, that
 * of the weight if the form is PER_EXAMPLE. What is stored is itself the factor that a sum
 * reads, as if the layer had one row a record: its norm is that of the stored floats, and
 * its products have as many terms as the cell has records.
 *
 * Invariants
 *   (1) A measure bounds from above the norm of the matrix in float32 that a sum takes of a
 *       record, and of its bias.
 *   (2) A sum is one chain of fused multiply-adds over units, clip factor by matrix, or over
 *       stored gradients one of products and additions: one term a unit.
 *
 * Threads: pure functions of their arguments; scratch is the caller's, 64-byte aligned.
 */
#ifndef ENGINE_NN_POSITION_GRADIENTS_H
#define ENGINE_NN_POSITION_GRADIENTS_H

#include <stddef.h>

#include "engine/nn/per_example_gradients.h"
#include "engine/nn/positions.h"

/* How many floats of each record's gradient are stored: the gradient of the bias and, if
 * the form is PER_EXAMPLE, (outputs, d) behind it. */
size_t position_gradients_floats(const struct position_layer *layer);

/* per_example = the sum over the positions of b, for each record; nothing without a bias. */
void position_gradients_bias(const struct position_layer *layer,
                             struct rows per_example, struct rows b);

/* Row 0 of per_example, the stored gradients of a unit's records = the sum of all its
 * rows, and these = 0. The rest of row 0 is then what position_gradients_measure fills in. */
void position_gradients_gather(const struct position_layer *layer,
                               struct rows per_example);

struct position_rows { /* the factors of some records' gradients */
    struct rows a, b;
};

/* The square of an upper bound of the norm of one unit's gradient, that is of one record's or
 * several whose gradient is one, weight and bias; fills in the rest of per_example if the
 * form is PER_EXAMPLE. What is stored of the bias is the unit's
 * (position_gradients_gather). Infinite, or no number, where a factor is not finite or
 * beyond 2^64, or the gradient leaves the range of float32.
 *   rows     (unit_rows of the layer)
 *   scratch  (position_gradients_scratch) */
size_t position_gradients_scratch(const struct position_layer *layer);
double position_gradients_measure(const struct position_layer *layer,
                                  const struct position_rows *rows, float *per_example,
                                  float *scratch);

/* Only fills in the rest of per_example; the form is PER_EXAMPLE. */
void position_gradients_weight(const struct position_layer *layer, float *per_example,
                               const struct position_rows *rows, float *scratch);

/* Measures a record's (g - g') / s = db x a' + b x da in the same way; da is zero where
 * its data is NULL. The form is PER_EXAMPLE, and the bias gradient that is stored is that
 * of db. */
double position_gradients_measure_pair(const struct position_layer *layer,
                                       const struct row_factors *factors,
                                       float *per_example, float *scratch);

/* block (span.count, positions_row_floats) = rows [row, row + count) of the tensor's
 * gradient, the sum over units of clip factor x gradient, each made again as it was measured
 * or read where it is stored.
 *   scratch  (position_gradients_sum_scratch of span.count outputs) */
struct weighed_positions {
    struct position_rows rows;
    const float *clip_factors; /* (rows of a); the first of a unit's counts */
};
size_t position_gradients_sum_scratch(const struct position_layer *layer,
                                      size_t outputs);
void position_gradients_sum(const struct position_layer *layer, struct row_span span,
                            float *block, const struct weighed_positions *all,
                            float *scratch);
void position_gradients_sum_per_example(const struct position_layer *layer,
                                        struct row_span span, float *block,
                                        const struct per_example_gradients *per_example,
                                        float *scratch);

#endif
