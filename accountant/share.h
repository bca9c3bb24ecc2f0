/*
 * share.h - a budget in shares of its capacity, for people who look. Shares of one order
 * add up to 1, which epsilons do not.
 *
 *   at a weighted order a:   spent = C(a) / B(a)
 *                            held  = H(a) / B(a)
 *                            left  = (B(a) - C(a) - H(a)) / B(a)
 *
 * where C is committed, H is held and B is the capacity (filter.h). A budget is shown at
 * the weighted order at which most is left, the main one of equals: a job fits if it fits
 * at either of them, so that order is the last to be used up, and what is left there is
 * the budget's fraction_remaining.
 *
 * spent and held are rounded up and left is rounded down, each to the next double; their
 * sum is 1 within three such roundings. Threads: pure.
 */
#ifndef ACCOUNTANT_SHARE_H
#define ACCOUNTANT_SHARE_H

#include <stdbool.h>
#include <stddef.h>

#include "accountant/spending.h"

struct share {
    double order, weight;
    double spent, held; /* >= 0; infinite where nothing fits at this order ever again */
    double left;        /* <= 1; negative where more is taken than this order has */
};

/* The place, among the balance's weighted orders, of the one at which most is left. */
size_t share_place(const struct balance *balance);

/* The share at the weighted order in that place, or in any. */
struct share share_of(const struct balance *balance);
struct share share_at(const struct balance *balance, size_t place);

struct share_asked {
    double share; /* charge / B, rounded up; infinite where it can never fit */
    bool fits;    /* committed + held + charge <= B, at this order */
};

/* What charge asks of the weighted order in that place. */
struct share_asked share_asked(const struct balance *balance, size_t place,
                               const struct curve *charge);

#endif
