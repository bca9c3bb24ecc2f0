/*
 * bin_sum.h - the sum of a round of boosting: the clipped residuals of all records, or
 * their number, in each bin of one shape of an additive model (layers/histograms.h).
 *
 * With b the gradient of a record's own loss at the outputs of the model (minus its
 * residual), R the clip norm and G the grid's scale, a row adds to its bin, in grid steps
 *
 *   residuals  v = trunc(G w b),  w = min(1, R / |b|) (1 - 2^-40)
 *   counts     v = trunc(G)
 *
 * and 0 if b is not finite. A unit of k rows adds v / k for each of them, rounded towards
 * zero. So the norm of what a unit adds is at most G R, or G for a count: its rows add
 * vectors of at most 1/k of that, whatever their bins are. Two units differ by at most
 * twice as much in residuals, because +R becomes -R in the same bin, and by sqrt 2 times
 * in counts (papers/boosted_histograms.md 2).
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_BIN_SUM_H
#define ENGINE_DP_BIN_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/nn/layers/histograms.h"
#include "engine/nn/workspace.h"

struct bin_sum {
    const struct histograms *histograms; /* of the network */
    size_t shape;
    const uint32_t *bins; /* (cells of the shape) the bin of each cell */
    size_t bin_count;
    bool counts;      /* records are counted, and the residuals are not read */
    double clip_norm; /* R; 1 for counts */
    double scale;     /* G */
};

/* The integers that the sum has: one a bin, or one for each output of the model. */
static inline size_t bin_sum_size(const struct bin_sum *sum)
{
    return sum->bin_count * (sum->counts ? 1 : sum->histograms->outputs);
}

/* sums += what the first `rows` rows of the workspace add, after workspace_loss.
 *   weights  (rows) 0: the row holds no record of its unit
 *   sums     (bin_sum_size) */
void bin_sum_add(const struct bin_sum *sum, struct workspace *workspace,
                 const float *weights, size_t rows, int64_t *sums);

#endif
