/*
 * spending.h - the figures of a balance that are shown to people (ledger.md 4).
 *
 *   epsilon_spent      = conv(committed), 0 if nothing is committed
 *   epsilon_held       = conv(committed + held) - conv(committed)
 *   epsilon_remaining  = conv of the curve r a, r = max over the weighted orders of
 *                        (B - committed - held) / a; 0 if r <= 0
 *   fraction_remaining = max over the weighted orders with B > 0 of
 *                        (B - committed - held) / B, 0 if negative
 *   conv(curve)        = conversion_curve (conversion.h) at the grant's delta less
 *                        LEDGER_NOISE_DELTA
 *
 * Spent is rounded up, remaining down. The guarantee is the cap; these do not add up to
 * it.
 */
#ifndef ACCOUNTANT_SPENDING_H
#define ACCOUNTANT_SPENDING_H

#include "accountant/ledger.h"

/* conv of what is committed at a grant's delta; 0 of nothing. */
double spending_epsilon(const struct curve *committed, double delta);

/* Fills the four figures from the other members. */
void spending_of(struct balance *balance);

#endif
