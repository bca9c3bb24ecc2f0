/*
 * per_example_gradients.h - gradients stored in full, one row per record, each with its
 * clip factor, and their sum, which has one term per record (network.md 0, fact 3).
 *
 * A record's contribution is its clip factor times its stored floats, exactly; scaling
 * changes only the factor.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_PER_EXAMPLE_GRADIENTS_H
#define ENGINE_NN_PER_EXAMPLE_GRADIENTS_H

#include "engine/nn/rows.h"

struct per_example_gradients {
    struct rows rows;
    const float *clip_factors; /* (rows.count) */
};

/* block (span.count) = the sum of clip factor x row, over columns [row, row + count) of
 * each row. Each term has one rounding as a product, and there are rows.count - 1
 * additions. */
void per_example_gradients_sum(const struct per_example_gradients *gradients,
                               struct row_span span, float *block);

/* block (count) += clip_factor * from. block and from do not overlap. */
void per_example_gradients_add(float *block, const float *from, float clip_factor,
                               size_t count);

#endif
