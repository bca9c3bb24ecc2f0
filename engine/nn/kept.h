/*
 * kept.h - sums of gradients that were kept, one row a record, each with a weight: such a
 * sum has one term a record (network.md 0, fact 3).
 *
 * A record's contribution is its weight times its stored floats, exactly; scaling
 * touches the weight alone.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_NN_KEPT_H
#define ENGINE_NN_KEPT_H

#include "engine/nn/rows.h"

struct kept_rows {
    struct rows rows;
    const float *weights; /* (rows.count) */
};

/* block (span.count) = the sum of weight x row, over columns [row, row + count) of each
 * row. A term is rounded once as a product, and there are rows.count - 1 additions. */
void kept_sum(const struct kept_rows *kept, struct row_span span, float *block);

#endif
