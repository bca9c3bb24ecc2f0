/*
 * curve.h - a Renyi-DP curve on the fixed grid g1, and what a mechanism costs on it.
 *
 * g1: 1.25 to 3.75 by .25; 4 to 7.5 by .5; 8 to 20 by 1; 22 to 32 by 2; 36, 40, 48, 56,
 * 64, 80, 96, 128, 256, 512, 1024, 2048: 50 orders (ledger.md 4). Every curve of every
 * dataset lives on it.
 *
 * Invariants
 *   (1) Entries are >= 0, never NaN; +infinity is a value: that order never fits again.
 *   (2) Every sum and product is rounded up: a curve is never below the true one.
 *   (3) curve_of is monotone in steps, so what is committed never exceeds what was held.
 *
 * Threads: pure.
 */
#ifndef ACCOUNTANT_CURVE_H
#define ACCOUNTANT_CURVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/mechanism.h"

enum { CURVE_ORDERS = 50 };

struct curve {
    double at[CURVE_ORDERS]; /* RDP at curve_orders[i], nats */
};

extern const double curve_orders[CURVE_ORDERS];

/* Index of the grid order equal to order, or CURVE_ORDERS if it is none of them. */
size_t curve_order_index(double order);

/* curve = the cost of the first steps steps of m (all of them: mechanism_steps(m)). A
 * mechanism without priced prefixes costs the whole for any steps > 0.
 *   ST_INVALID  m has no proof under its relation, or steps exceed its own */
enum status curve_of(struct curve *curve, const struct mechanism *m, uint64_t steps,
                     struct error *error);

/* sum[i] += addend[i], each rounded up. */
void curve_add(struct curve *sum, const struct curve *addend);

#endif
