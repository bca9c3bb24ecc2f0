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
 *   (1) position_norm bounds the exact norm of the stored factors from above, with room
 *       for rounding fl(w b).
 *   (2) A sum in double is rounded to float once; a sum of per-example gradients is in float.
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

struct position_norm {
    double square; /* nu_up^2 of weight and bias */
    double spread; /* M_up^2 */
};

/* Measures one unit, that is one record or several whose gradient is one, and fills in the
 * rest of per_example if the form is PER_EXAMPLE. What is stored of the bias is the unit's
 * (position_gradients_gather). The norm is infinite where a factor is not finite or beyond
 * 2^64.
 *   a, b     (unit_rows of the layer)
 *   scratch  (position_gradients_scratch) */
size_t position_gradients_scratch(const struct position_layer *layer);
struct position_norm position_gradients_measure(const struct position_layer *layer,
                                                struct rows a, struct rows b,
                                                float *per_example, float *scratch);

/* Only fills in the rest of per_example; the form is PER_EXAMPLE. */
void position_gradients_weight(const struct position_layer *layer, float *per_example,
                               const struct position_rows *rows, float *scratch);

/* Measures a record's (g - g') / s = db x a' + b x da in the same way; da is zero where
 * its data is NULL. The form is PER_EXAMPLE, and the bias gradient that is stored is that
 * of db. */
struct position_norm position_gradients_measure_pair(const struct position_layer *layer,
                                                     const struct row_factors *factors,
                                                     float *per_example,
                                                     float *scratch);

/* block (span.count, positions_row_floats) = rows [row, row + count) of the tensor's
 * gradient, summed over the records of a and b, or over the stored gradient of each
 * record times its clip factor.
 *   scratch  (position_gradients_sum_scratch of span.count outputs) */
size_t position_gradients_sum_scratch(const struct position_layer *layer,
                                      size_t outputs);
void position_gradients_sum(const struct position_layer *layer, struct row_span span,
                            float *block, const struct position_rows *rows,
                            float *scratch);
void position_gradients_sum_per_example(const struct position_layer *layer,
                                        struct row_span span, float *block,
                                        const struct per_example_gradients *per_example,
                                        float *scratch);

#endif
