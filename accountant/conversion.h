/*
 * conversion.h - from Renyi divergence to (epsilon, delta) and back.
 *
 *   epsilon = rdp + log(1 - 1/a) - (log delta + log a) / (a - 1)
 * (Canonne, Kamath, Steinke 2020, Prop. 12; Balle et al. 2020, Thm. 21), 0 where
 *   1 - exp(-rdp) <= delta^2
 * (the total variation is at most sqrt(1 - exp(-KL)), Bretagnolle and Huber 1979, and
 * every order is at least KL), never below 0.
 *
 * order > 1; rdp >= 0, may be infinite; delta in (0, 1); epsilon >= 0. Results are
 * rounded up and never NaN. Threads: pure.
 */
#ifndef ACCOUNTANT_CONVERSION_H
#define ACCOUNTANT_CONVERSION_H

#include "accountant/curve.h"

/* epsilon at delta of a mechanism whose divergence at order is rdp. */
double conversion_epsilon(double rdp, double order, double delta);

/* delta at epsilon of the same; at most 1. */
double conversion_delta(double rdp, double order, double epsilon);

/* The least conversion_epsilon over the grid. *order is where it is; order may be
 * NULL. */
double conversion_curve(const struct curve *curve, double delta, double *order);

#endif
