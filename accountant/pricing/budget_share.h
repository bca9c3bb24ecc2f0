/*
 * budget_share.h - a budget in shares of its capacity, for display. Shares of one order
 * add up to 1, which epsilons do not.
 *
 *   at a weighted order a:   spent = C(a) / B(a)
 *                            held  = H(a) / B(a)
 *                            left  = (B(a) - C(a) - H(a)) / B(a)
 *
 * where C is committed, H is held and B is the capacity (filter.h). A budget is shown
 * at the weighted order at which most is left, or if equal at the main one: a job fits
 * if it fits at either of them, so that order is the last to be used up, and what is
 * left there is the budget's fraction_remaining.
 *
 * spent and held are rounded up and left is rounded down, each to the next double;
 * their sum is 1 within three such roundings. Threads: pure.
 */
#ifndef ACCOUNTANT_PRICING_BUDGET_SHARE_H
#define ACCOUNTANT_PRICING_BUDGET_SHARE_H

#include <stdbool.h>
#include <stddef.h>

#include "accountant/pricing/budget_spent.h"

struct budget_share {
    double order, weight;
    double spent, held; /* >= 0; infinite if nothing fits at this order ever again */
    double left;        /* <= 1; negative if more is taken than this order has */
};

/* Returns the index, among the balance's weighted orders, of the one at which most is
 * left. */
size_t budget_share_place(const struct balance *balance);

/* Returns the share at the order of budget_share_place, or at any. */
struct budget_share budget_share_of(const struct balance *balance);
struct budget_share budget_share_at(const struct balance *balance, size_t place);

struct budget_share_asked {
    double share; /* charge / B, rounded up; infinite if it can never fit */
    bool fits;    /* committed + held + charge <= B, at this order */
};

/* Returns what charge needs of the weighted order in that place. */
struct budget_share_asked budget_share_asked(const struct balance *balance,
                                             size_t place, const struct curve *charge);

#endif
