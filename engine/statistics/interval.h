/*
 * interval.h - what a measurement says of the records: each value with an interval that
 * holds the records' own value with probability 95 % at least, over the noise. All of it
 * is computed from what was released, and so is post-processing.
 *
 * With s the deviation of a count's noise, n the public number of units, [a, b] the
 * range, c its centre, h = (b - a)/2, z = 1.96, and r what was released:
 *
 *   count     r                        +- z s
 *   sum       n c + h r                +- h (z s + n / 2 G)
 *   mean      c + h r / n              +- h (z s + n / 2 G) / n
 *   variance  h^2 (e - m^2),  m = r_1 / n,  e = (1 + r_2 / n) / 2
 *             with m and e each in an interval of 97.5 %, so in both at once with 95 %
 *   quantile  of F_j, the records below edge j, see below
 *
 * n / 2 G is what rounding unit by unit may add up to; it is next to nothing. Sum,
 * mean, variance and quantiles are of the numbers as they are stored, clipped to [a, b];
 * the variance divides by n.
 *
 * Of B noisy bins, which true ones add up to n, the best guess of F_j is their sum up to j
 * plus j/B of what n exceeds the sum of all by; its error is Gaussian of deviation
 * s sqrt(j (B - j) / B). The quantile of p lies in the first bin j* with F_j* >= p n.
 * Its interval goes from the lower edge of the first j that is not below p n by more than
 * z deviations, to the upper edge of the bin behind the last j that is not above p n by
 * more: it misses the quantile only where the guess at j*, or at j* - 1, is off by more
 * than z deviations to one side, 2.5 % each.
 *
 * Threads: pure.
 */
#ifndef ENGINE_STATISTICS_INTERVAL_H
#define ENGINE_STATISTICS_INTERVAL_H

#include "engine/statistics/measurement.h"

struct interval {
    double value, low, high; /* low <= value <= high */
};

/* Half the width of a count's interval. */
double interval_margin(const struct measurement *measurement);

struct interval interval_of_count(const struct measurement *measurement,
                                  double released);

/* The interval of a sum, a mean or a variance, from its statistic_slots numbers. */
struct interval interval_of_number(const struct measurement *measurement,
                                   const struct statistic *statistic,
                                   const double *released);

/* out[i] = the quantile of probabilities[i], from the bins. */
void interval_of_quantiles(const struct measurement *measurement,
                           const struct statistic *statistic, const double *released,
                           struct interval *out);

#endif
