/*
 * conversion.h - from Renyi divergence to (epsilon, delta) and back.
 *
 *   epsilon = rdp + log(1 - 1/a) - (log delta + log a) / (a - 1)
 * (Canonne, Kamath, Steinke 2020, Prop. 12; Balle et al. 2020, Thm. 21), never below 0,
 * and 0 if delta is at least the total variation, which is at most
 *   min(sqrt(rdp / 2), sqrt(1 - exp(-rdp)))
 * by Pinsker and by Bretagnolle and Huber 1979: they bound it by KL, and every order
 * above 1 is at least KL.
 *
 * order > 1; rdp >= 0, may be infinite; delta in (0, 1); epsilon >= 0. Results are
 * rounded up and never NaN. Threads: pure.
 */
#ifndef ACCOUNTANT_PRICING_CONVERSION_H
#define ACCOUNTANT_PRICING_CONVERSION_H

#include "accountant/pricing/curve.h"

/* epsilon at delta of a mechanism whose divergence at order is rdp. */
double conversion_epsilon(double rdp, double order, double delta);

/* Near order 1 the divergence is nearly KL, where the bound by total variation is
 * tightest. Orders up to this one are computed accurately (docs/accounting.md 1.3). */
#define CONVERSION_ORDER_MIN 1.01

/* delta at epsilon of the same; at most 1. */
double conversion_delta(double rdp, double order, double epsilon);

/* The least conversion_epsilon over the grid. *order is where it is; order may be
 * NULL. */
double conversion_curve(const struct curve *curve, double delta, double *order);

#endif
