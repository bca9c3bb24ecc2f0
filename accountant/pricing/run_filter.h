/*
 * run_filter.h - how much a run may still spend if its noise follows from its own
 * releases: a Renyi filter inside one job (Feldman and Zrnic 2021; papers/adp.md 2.4,
 * F1).
 *
 * Before each step its cost is added, at every order of the grid, to what was spent; if
 * any order would pass the reserved curve the step is refused, and the run is over. A
 * step's noise is known from what was released before it, so on every path the sum of
 * the steps' divergences, each given the past, is within the reserved curve; then so is
 * the whole run's, at each of these orders. Stopping may depend on the releases, too.
 *
 * Invariants
 *   (1) before + count step <= reserved at every order, as doubles: no tolerance.
 *   (2) A refusal changes nothing.
 *   (3) Equal steps in a row cost count times one, rounded up once: as many as were
 *       reserved fit, to the last.
 *
 * Threads: one at a time. Ownership: run_filter_fini releases ran.
 */
#ifndef ACCOUNTANT_PRICING_RUN_FILTER_H
#define ACCOUNTANT_PRICING_RUN_FILTER_H

#include <stdbool.h>

#include "accountant/pricing/curve.h"
#include "base/mechanism.h"

struct run_filter {
    struct curve reserved;
    struct curve before;  /* spent by all runs of ran but the last */
    struct curve step;    /* the cost of one step of the last */
    struct mechanism ran; /* the steps taken so far; it has no runs before the first */
    enum relation relation;
    enum privacy_unit unit;
    enum mechanism_kind step_kind; /* the kind of mechanism that a step is */
};

/* Returns whether a run of m must ask a filter before each step. If not, all steps are
 * fixed beforehand. */
bool run_filter_guards(const struct mechanism *m);

/* Sets reserved to all that m, whose runs a filter guards, reserves.
 *   ST_INVALID  m has no price */
enum status run_filter_init(struct run_filter *filter, const struct mechanism *m,
                            struct error *error);
void run_filter_fini(struct run_filter *filter); /* a zeroed one is allowed */

/* Takes one step of this rate and noise multiplier. Returns false and changes nothing
 * if it does not fit, or has no price. step->steps is not read. */
bool run_filter_take(struct run_filter *filter, const struct mechanism_run *step);

/* Returns whether m can take its first step at the least noise of its filter: a run
 * that cannot would spend its reserve and get nothing. True if no filter guards its
 * runs. */
bool run_filter_begins(const struct mechanism *m);

#endif
