/*
 * quantile_clip.h - the rule by which quantile clipping moves its clip norm (Andrew et
 * al. 2021; papers/quantile_clip.md):
 *
 *   C' = C exp(-eta (b - gamma)), clamped to [QUANTILE_CLIP_MIN, QUANTILE_CLIP_MAX]
 *   b  = 1/2 + v / (2 B)
 *
 * with v the noisy sum of norm signs (norm_sign.h) and B the expected batch size, which
 * is public (P2). b is a noisy share of the gradients that C leaves whole, and gamma the
 * share that it should leave whole. It reads only released values: it is post-processing.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_ALGORITHMS_QUANTILE_CLIP_H
#define ENGINE_DP_ALGORITHMS_QUANTILE_CLIP_H

/* At zero, one record would decide whether a release is finite. */
#define QUANTILE_CLIP_MIN 1e-12
#define QUANTILE_CLIP_MAX 1e12

struct quantile_clip {
    double quantile; /* gamma, in (0, 1) */
    double rate;     /* eta, > 0 */
};

/* b, for a noisy sum of signs; noise can make it negative or more than 1. */
double quantile_clip_share(double signs, double batch_size);

/* C', for b = share. */
double quantile_clip_next(const struct quantile_clip *rule, double clip_norm,
                          double share);

#endif
