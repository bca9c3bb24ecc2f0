/*
 * interval.h - the results of a measurement: each value with an interval that contains
 * the records' true value with probability at least 95 %, over the noise. Everything is
 * computed from released numbers, and so is post-processing.
 *
 * With s the deviation of a count's noise, n the public number of units, [a, b] the
 * range, c its centre, h = (b - a)/2, z = 1.96, and r the released number:
 *
 *   count     r                        +- z s
 *   sum       n c + h r                +- h (z s + n / 2 G)
 *   mean      c + h r / n              +- h (z s + n / 2 G) / n
 *   variance  h^2 (e - m^2),  m = r_1 / n,  e = (1 + r_2 / n) / 2
 *             with m and e each in an interval of 97.5 %, so in both at once with 95 %
 *   quantile  of F_j, the records below edge j, see below
 *
 * n / 2 G bounds the sum of the units' rounding errors; it is negligible. Sum, mean,
 * variance and quantiles are computed from the numbers as they are stored, clipped to
 * [a, b]; the variance divides by n.
 *
 * There are B noisy bins, and the true counts add up to n. The best estimate of F_j is
 * the sum of the bins up to j, plus j/B of the difference between n and the sum of all
 * bins; its error is Gaussian of deviation s sqrt(j (B - j) / B). The quantile of p is
 * in the first bin j* with F_j* >= p n. Its interval goes from the lower edge of the
 * first j that is not below p n by more than z deviations, to the upper edge of the bin
 * after the last j that is not above p n by more: it misses the quantile only if the
 * estimate at j*, or at j* - 1, is off by more than z deviations to one side, with
 * probability 2.5 % each.
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
