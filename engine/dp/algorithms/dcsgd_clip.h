/*
 * dcsgd_clip.h - the next clip norm from a noisy histogram of norms: the two rules of
 * DC-SGD (papers/dcsgd.md 1.4, 1.5, 1.7). They read only released values, so they are
 * post-processing. C is the clip norm, w the width of a bin.
 *
 *   percentile  the middle of the first bin at which the noisy counts up to it reach a
 *               share of their sum; the range becomes twice that
 *   error       the minimum of  k C^2 + mean of max(norm - C, 0)^2,
 *               k = (sigma_T / B)^2 d, on the grid 0.1 C, 0.2 C, ... 2 C, which is
 *               centred again while the minimum is at an end; the range doubles or
 *               halves depending on the histogram
 *
 * The error rule as printed in the paper may approach zero for ever, because noise can
 * make the counts' mean negative. The hardened rule uses at most 16 sweeps of the grid
 * and keeps to [lo, hi], which contains the minimum of every histogram without negative
 * counts:
 *   lo = (w / 2) / (1 + k),  hi = ((bins - 1/2) w) / (1 + k)
 *
 * Invariants
 *   (1) Both rules terminate, and leave clip norm and range in [DCSGD_CLIP_MIN,
 *       DCSGD_CLIP_MAX] for any counts: at zero, one record would decide whether a
 *       release is finite.
 *   (2) If the counts' sum is not positive, the clip norm does not change.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_ALGORITHMS_DCSGD_CLIP_H
#define ENGINE_DP_ALGORITHMS_DCSGD_CLIP_H

#include <stdbool.h>

#include "engine/dp/histogram.h"

#define DCSGD_CLIP_MIN 1e-12
#define DCSGD_CLIP_MAX 1e12

struct dcsgd_clip {
    double clip_norm; /* C */
    struct histogram histogram;
};

/* Moves clip norm and range by the percentile rule.
 *   counts  (bins) noisy, in the bins of adaptive->histogram
 *   share   in (0, 1) */
void dcsgd_clip_percentile(struct dcsgd_clip *adaptive, const double *counts,
                           double share);

struct clip_error {
    double variance; /* k */
    bool literal;    /* the rule as printed, at most 64 sweeps: for tests only */
};
/* Moves clip norm and range by the error rule; counts as above. */
void dcsgd_clip_error(struct dcsgd_clip *adaptive, const double *counts,
                      const struct clip_error *error);

/* The objective that the error rule minimises, with k the variance:
 *   k C^2 + (sum of counts_j max(middle_j - C, 0)^2) / (sum of counts) */
double dcsgd_clip_objective(const struct dcsgd_clip *adaptive, const double *counts,
                            double variance);

#endif
