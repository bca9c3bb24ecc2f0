/*
 * norm_sign.h - on which side of the clip norm a record's norm lies. Quantile clipping
 * releases the sum of these signs with noise (papers/quantile_clip.md).
 *
 *   sign = 1 if 0 < norm <= clip_norm, -1 if norm > clip_norm, 0 if norm is 0
 *
 * It is twice the recentred bit b - 1/2, b = [norm <= clip_norm], of Andrew et al.
 * A record that was refused, or that has no gradient, has norm 0 and adds nothing.
 * A record moves the sum of signs by at most 1; for raw bits of the same meaning it would
 * be twice as much, relative to the noise on the share.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_NORM_SIGN_H
#define ENGINE_DP_NORM_SIGN_H

static inline int norm_sign(double norm, double clip_norm)
{
    if (norm == 0)
        return 0;
    return norm <= clip_norm ? 1 : -1;
}

#endif
