/*
 * curve.h - a Renyi-DP curve on the fixed grid g1 (curve_orders.h), and the cost of a
 * mechanism: a curve, and a delta for the outcomes that no curve bounds (accounting.md
 * 1.15). Only discovery has such outcomes. Deltas add up, as the entries of curves do.
 *
 * Invariants
 *   (1) Entries are >= 0, never NaN; +infinity is a value: that order never fits again.
 *   (2) Every sum and product is rounded up: a curve is never below the true one.
 *   (3) curve_of is monotone in steps, so what is committed never exceeds what was
 *       held.
 *
 * Threads: pure.
 */
#ifndef ACCOUNTANT_PRICING_CURVE_H
#define ACCOUNTANT_PRICING_CURVE_H

#include <stdint.h>

#include "accountant/mechanisms/curve_orders.h"
#include "base/mechanism.h"

struct curve {
    double at[CURVE_ORDERS]; /* RDP at curve_orders[i], nats */
    double delta;            /* probability that the curve does not hold */
};

/* curve = the cost of the first steps steps of m (all of them: mechanism_steps(m)). A
 * mechanism without priced prefixes costs the whole for any steps > 0.
 *   ST_INVALID  m has no proof under its relation, or steps exceed its own */
enum status curve_of(struct curve *curve, const struct mechanism *m, uint64_t steps,
                     struct error *error);

/* sum[i] += addend[i], each rounded up; so is the sum of the deltas. */
void curve_add(struct curve *sum, const struct curve *addend);

#endif
