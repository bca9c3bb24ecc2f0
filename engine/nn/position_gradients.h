/*
 * position_gradients.h - the norms of records' gradients in a layer with positions, and
 * the sums of these gradients (network.md 2, noise.md 2.4).
 *
 * A record's gradient of the bias is formed and stored in every form of positions.h.
 * The gradient of the weight is stored only if the form is PER_EXAMPLE. A sum reads a
 * stored gradient as it would read a factor of a layer with one row per record: the
 * norm is that of the stored floats, and a product has one term per record of the cell.
 *
 * Invariants
 *   (1) A measure is an upper bound of the norm of the float32 matrix, and of the bias
 *       gradient, that a sum adds for a record.
 *   (2) A sum over units is one chain of fused multiply-adds of clip factor and matrix;
 *       over stored gradients it is one chain of products and additions. Either has one
 *       term per unit.
 *
 * Threads: pure functions of their arguments; scratch is the caller's, 64-byte aligned.
 */
#ifndef ENGINE_NN_POSITION_GRADIENTS_H
#define ENGINE_NN_POSITION_GRADIENTS_H

#include <stddef.h>

#include "engine/nn/per_example_gradients.h"
#include "engine/nn/positions.h"

/* Returns how many floats of each record's gradient are stored: the gradient of the
 * bias and, if the form is PER_EXAMPLE, then the (outputs, d) of the weight. */
size_t position_gradients_floats(const struct position_layer *layer);

/* per_example = the sum over the positions of b, for each record; nothing without a
 * bias. */
void position_gradients_bias(const struct position_layer *layer,
                             struct rows per_example, struct rows b);

/* per_example holds the stored gradients of a unit's records. Sets the bias gradient in
 * row 0 to the sum over all rows, and the other rows to 0. position_gradients_measure
 * later fills in the rest of row 0. */
void position_gradients_gather(const struct position_layer *layer,
                               struct rows per_example);

struct position_rows { /* the factors of some records' gradients */
    struct rows a, b;
};

/* Returns the square of an upper bound of the norm of one unit's gradient, weight and
 * bias. The unit is one record, or several whose gradients are added to one. Fills in
 * the rest of per_example if the form is PER_EXAMPLE. The stored bias gradient is that
 * of the unit (position_gradients_gather). The result is infinite or NaN if a factor is
 * not finite or is beyond 2^64, or if the gradient leaves the range of float32.
 *   rows     (unit_rows of the layer)
 *   scratch  (position_gradients_scratch) */
size_t position_gradients_scratch(const struct position_layer *layer);
double position_gradients_measure(const struct position_layer *layer,
                                  const struct position_rows *rows, float *per_example,
                                  float *scratch);

/* Only fills in the rest of per_example; the form is PER_EXAMPLE. */
void position_gradients_weight(const struct position_layer *layer, float *per_example,
                               const struct position_rows *rows, float *scratch);

/* Measures a record's (g - g') / s = db x a' + b x da in the same way; da is zero if
 * its data is NULL. The form is PER_EXAMPLE, and the stored bias gradient is that of
 * db. */
double position_gradients_measure_pair(const struct position_layer *layer,
                                       const struct row_factors *factors,
                                       float *per_example, float *scratch);

/* block (span.count, positions_row_floats) = rows [row, row + count) of the tensor's
 * gradient, the sum over units of clip factor x gradient. Each gradient is computed
 * again exactly as it was measured, or is read from per_example if it is stored.
 *   scratch  (position_gradients_sum_scratch of span.count outputs) */
struct weighed_positions {
    struct position_rows rows;
    const float *clip_factors; /* (rows of a); only the factor of a unit's first row is
                                  used */
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
