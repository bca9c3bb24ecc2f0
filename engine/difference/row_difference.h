/*
 * row_difference.h - the weight layer with one row a record (rows.h) at two parameter
 * points: differences over a scale s are propagated forward and backward by the product
 * rule, and the difference of a record's gradients has two terms (network.md 5.1).
 *
 *   dz = da W^T + a' D^T + dc      below = db W + b' D      D = (W - W') / s
 *   (g - g') / s = b x da + db x a',   and db for the bias
 *
 * If da is zero, as in a layer that reads the record itself, the first term of each is
 * omitted.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_DIFFERENCE_ROW_DIFFERENCE_H
#define ENGINE_DIFFERENCE_ROW_DIFFERENCE_H

#include <stddef.h>

#include "engine/nn/rows.h"

struct row_points {                 /* flat vectors */
    const float *parameters, *step; /* theta, D */
};

/* Writes dz; a->at is a at the previous point. */
void row_difference_forward(const struct row_layer *layer,
                            const struct row_points *points, struct rows dz,
                            const struct row_pair *a);

/* Writes the difference of the gradients below; b->at is b at the previous point. */
void row_difference_backward(const struct row_layer *layer,
                             const struct row_points *points, struct rows below,
                             const struct row_pair *b);

/* Writes for each record nu_up^2 of weight and bias, with room for rounding w b and w
 * db, and M_up^2, where M = |b||da| + |db||a'| (noise.md 2.4). Both are infinite if a
 * factor is not finite or beyond 2^64.
 *   squares, spreads  (rows) as many as factors->a.at has
 *   scratch           (2 rows) */
struct row_measure {
    double *squares, *spreads, *scratch;
};
void row_difference_measure(const struct row_layer *layer, const struct row_measure *to,
                            const struct row_factors *factors);

/* block (count, inputs) = rows [row, row + count) of b^T da + db^T a': one float32 sum
 * of two terms a record. */
void row_difference_sum(const struct row_layer *layer, struct row_span span,
                        float *block, const struct row_factors *factors);

#endif
