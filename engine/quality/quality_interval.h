/*
 * quality_interval.h - shares and their 95 % intervals from counts with noise.
 *
 * A share is p = A / T. The noise on A is Gaussian of variance v_a; T is public, or T =
 * A + B with noise of variance v_b on B of its own. Given T, A is binomial if records
 * are a sample. The interval contains the p for which the noisy A - p T is no further
 * from 0 than z of its deviations, z = 1.96:
 *
 *   (A - p T)^2 <= z^2 (v(p) + p (1 - p) T),   v(p) = v_a if T is public,
 *                                              else (1 - p)^2 v_a + p^2 v_b
 *
 * a quadratic inequality in p: Wilson's interval if there is no noise (1927), Fieller's
 * if there is no sampling (1954). If it holds for every p, nothing is known, and the
 * interval is [0, 1].
 *
 * Threads: pure.
 */
#ifndef ENGINE_QUALITY_QUALITY_INTERVAL_H
#define ENGINE_QUALITY_QUALITY_INTERVAL_H

#include <stdbool.h>

#define QUALITY_Z 1.959963984540054 /* of a standard normal, two-sided 95 % */

struct quality_interval { /* low <= value <= high */
    bool is_known;        /* false: too much noise; all three are 0 */
    double value, low, high;
};

struct noisy_count {
    double count, variance; /* variance: of the noise only */
};

/* hits / total, total > 0 public. */
struct quality_interval quality_share_of(struct noisy_count hits, double total);

/* hits / (hits + misses). Not known if the sum is within z deviations of 0. */
struct quality_interval quality_share(struct noisy_count hits,
                                      struct noisy_count misses);

/* The interval value -+ z deviation within [low, high]. */
struct quality_interval quality_around(double value, double deviation, double low,
                                       double high);

#endif
