/*
 * discovery.h - the threshold of a discovery: which noisy count makes a text known, so
 * that a text of one unit only is shown with a given probability at most.
 *
 * With s the deviation of a count's noise, t the threshold and R the rows of a unit,
 *
 *   delta_1 = max over M <= R of
 *             Phi(-(t - (R + 1 - M) / R) / s) + (M - 1) Phi(-(t - 1 / R) / s)
 *
 * bounds the probability that some text is shown which only one unit has: a unit may
 * have M texts of its own, and the worst split gives all but one of them one row. With
 * R = 1 it is Phi(-(t - 1) / s). The relation enters by s only.
 *
 * Source: accounting.md 1.15. Threads: pure.
 */
#ifndef ACCOUNTANT_MECHANISMS_DISCOVERY_H
#define ACCOUNTANT_MECHANISMS_DISCOVERY_H

#include "base/mechanism.h"

/* Returns D, the distance of neighbours' counts: 1, or the root of 2 where a unit leaves
 * its texts for others. Rounded up. */
double discovery_distance(enum relation relation);

/* Returns s in units, the noise multiplier times the distance, rounded up. */
double discovery_deviation(const struct mechanism *m);

/* Returns delta_1 of a discovery, rounded up; at most 1. */
double discovery_delta(const struct mechanism *m);

/* Returns the least threshold at which delta_1 of m is at most delta; INFINITY if none
 * is below 2^32. Only the threshold of m is not read. delta is in (0, 1/2). */
double discovery_threshold(const struct mechanism *m, double delta);

#endif
