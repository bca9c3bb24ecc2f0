/*
 * selection_cost.h - the cost of choosing the best of several runs of a mechanism, each
 * with its own parameters (papers/dcsgd.md 2.4): figures for people who plan. Each run
 * that is made is still charged as a job of its own.
 *
 * Threads: pure.
 */
#ifndef ACCOUNTANT_PRICING_SELECTION_COST_H
#define ACCOUNTANT_PRICING_SELECTION_COST_H

#include "base/mechanism.h"
#include "base/status.h"

enum { SELECTION_COST_RUNS_MAX = 10000 };

/* Epsilons at the requested delta; infinite if there is none. */
struct selection_cost {
    double composed; /* of all runs together, however the choice is made */
    /* Epsilon of the run which is best by a private score, if runs are drawn at random
     * and each is the last with probability 1 / (2 runs), at most 2 runs ln(10^20) of
     * them:
     *   3 epsilon_1 + 3 sqrt(2 delta_1)
     *   delta = 3 sqrt(2 delta_1) 2 runs ln(10^20) + 10^-20
     * (Liu and Talwar 2019, Theorem 1). */
    double random_stopping;
};

/* runs in [1, SELECTION_COST_RUNS_MAX]. By the best real order.
 *   ST_INVALID  no proof under m's relation, or delta not in (2^-39, 1) */
enum status selection_cost_of(struct selection_cost *tuning, const struct mechanism *m,
                              uint64_t runs, double delta, struct error *error);

#endif
