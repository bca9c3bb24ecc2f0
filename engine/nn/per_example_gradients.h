/*
 * per_example_gradients.h - gradients that lie formed, one row a record, each with a clip
 * factor beside it, and their sum, which has one term a record (network.md 0, fact 3).
 *
 * A record's contribution is its clip factor times its stored floats, exactly; scaling
 * touches the factor alone.
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

/* block (span.count) = the sum of clip factor x row, over columns [row, row + count) of each
 * row. A term is rounded once as a product, and there are rows.count - 1 additions. */
void per_example_gradients_sum(const struct per_example_gradients *gradients,
                               struct row_span span, float *block);

#endif
