/*
 * budget_spent.h - the balance of a dataset, and its figures that are shown to people
 * (ledger.md 4).
 *
 *   epsilon_spent      = conv(committed), 0 if nothing is committed
 *   epsilon_held       = conv(committed + held) - conv(committed)
 *   epsilon_remaining  = conv of the curve r a, r = max over the weighted orders of
 *                        (B - committed - held) / a; 0 if r <= 0
 *   fraction_remaining = max over the weighted orders with B > 0 of
 *                        (B - committed - held) / B, 0 if negative
 *   conv(curve)        = conversion_curve (conversion.h) at the delta that the grant
 *                        leaves to curves (grant_curve_delta) less LEDGER_NOISE_DELTA
 *
 * Spent is rounded up, remaining down. The guarantee is the cap; these do not add up to
 * it.
 */
#ifndef ACCOUNTANT_PRICING_BUDGET_SPENT_H
#define ACCOUNTANT_PRICING_BUDGET_SPENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accountant/pricing/curve.h"
#include "accountant/pricing/filter.h"

struct balance {
    double epsilon, delta; /* as granted: the cap of this epoch */
    double curve_delta;    /* grant_curve_delta */
    double delta_capacity; /* what discoveries may use of delta (filter.h) */
    enum relation relation;
    enum privacy_unit unit;
    uint64_t epoch;
    size_t closed;    /* earlier epochs, which count too (odometer.h) */
    size_t timelines; /* of the ledger that are known: 1 unless it was forked */
    bool frozen;
    bool external; /* some was committed or is held for work that runs elsewhere */
    size_t weighted[LEDGER_WEIGHTED]; /* indices into curve_orders; main order first */
    double weights[LEDGER_WEIGHTED];
    double capacity[LEDGER_WEIGHTED]; /* B at the weighted orders, rounded down */
    struct curve committed, held;
    double epsilon_spent, epsilon_held, epsilon_remaining, fraction_remaining;
};

/* conv of what is committed, at the delta that a grant leaves to curves; 0 if nothing
 * is. */
double budget_spent_epsilon(const struct curve *committed, double delta);

/* An upper bound on every job that fits in the balance, as an epsilon at its delta,
 * rounded up: the larger, over the weighted orders a, of what all that is left there
 * converts to at a (conversion_epsilon); at most LEDGER_EPSILON_MAX; 0 if nothing is
 * left. */
double budget_spent_ceiling(const struct balance *balance, double delta);

/* Fills the four figures in the last line from the other members. */
void budget_spent_of(struct balance *balance);

#endif
