/*
 * filter.h - which charges a budget admits, whatever the order of adaptively chosen
 * jobs.
 *
 *   c_a  = (1/a) (1 - 1/a)^(a-1)
 *   B(a) = epsilon - ln(c_a / (w_a (delta - delta_d - 2^-40))) / (a - 1)
 *
 * delta_d is the part of delta that the grant sets aside for discoveries. A charge fits
 * if at some weighted order committed + held + charge <= B, and the deltas of all three
 * add up to at most delta_d. Two orders of
 * g1 carry weight: 3/4 on the main order a0, which maximises B(a)/a at w = 1 or is the
 * owner's; 1/4 on the order nearest 1 + 0.65 (a0 - 1), the higher of two equally near,
 * and never a0 itself.
 *
 * Invariants
 *   (1) The sum over the weighted orders of c_a exp((a-1)(B(a) - epsilon)) is at most
 *       delta - delta_d - 2^-40, and the deltas add up to at most delta_d, which makes
 *       the whole interaction (epsilon, delta)-DP (ledger.md 3 and accounting.md 1.15
 *       have the proofs).
 *   (2) Charges are rounded up, capacities down, to multiples of FILTER_UNIT, so their
 *       sums up to 2^13 nats are exact in binary64 and do not depend on their order.
 *       So are sums of deltas up to 1, which are multiples of FILTER_DELTA_UNIT.
 *   (3) The comparison is plain <=.
 *
 * Threads: pure.
 */
#ifndef ACCOUNTANT_PRICING_FILTER_H
#define ACCOUNTANT_PRICING_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accountant/pricing/curve.h"
#include "base/mechanism.h"
#include "base/part.h"
#include "base/status.h"

enum { LEDGER_WEIGHTED = 2 }; /* orders that carry weight */

/* This is taken from delta when a budget is opened or a job's epsilon is figured. It
 * covers the sampler's distance from the ideal noise and cells that overflow (noise.md
 * 5). */
#define LEDGER_NOISE_DELTA 0x1p-40

#define FILTER_UNIT       0x1p-40 /* nats */
#define FILTER_DELTA_UNIT 0x1p-53

/* The largest epsilon for which LEDGER_NOISE_DELTA covers the sampler, whose distance
 * is multiplied by 1 + e^epsilon (README.md): no new grant and no job may promise more.
 * Grants of earlier versions, up to 1000, are still read. */
#define LEDGER_EPSILON_MAX 30.0

struct grant {
    enum relation relation;
    double epsilon; /* in (0, 1000]; of a new grant at most LEDGER_EPSILON_MAX */
    double delta;   /* in (2^-39, 1) */
    double order; /* the owner's main order, one of g1; 0: the one that maximises B/a */
    struct division division; /* each part has the whole capacity (ledger.md 7) */
    enum privacy_unit unit;   /* to whom the promise is made */
    double
        discovery_delta; /* delta_d: only discoveries may use it; 0: there are none */
};

struct filter {
    size_t weighted[LEDGER_WEIGHTED]; /* indices into curve_orders; main order first */
    double weights[LEDGER_WEIGHTED];
    /* B, rounded down; may be negative at one of them */
    double capacity[LEDGER_WEIGHTED];
    double delta_capacity; /* delta_d, rounded down */
};

enum ledger_fits { FITS_YES, FITS_HELD, FITS_NO };

/* Returns whether both promise the same, to the last digit. */
bool grant_same(const struct grant *a, const struct grant *b);

/* The filter of a grant.
 *   ST_INVALID  a member out of range (the error names it), or no weighted order with a
 *               positive capacity */
enum status filter_of(struct filter *filter, const struct grant *grant,
                      struct error *error);

/* delta - 2^-40, rounded down. */
double filter_delta(double delta);

/* Returns what the grant leaves of its delta to curves: delta - delta_d, rounded
 * down. */
double grant_curve_delta(const struct grant *grant);

/* One entry of a curve as a ledger charges it: rounded up to a multiple of
 * FILTER_UNIT. */
double filter_round_up(double cost);
/* The same of a delta, in [0, 1], and FILTER_DELTA_UNIT. */
double filter_delta_round_up(double delta);
double filter_delta_round_down(double delta);

/* charge = the cost of the first steps steps of m as a ledger charges it: curve_of,
 * rounded up to multiples of FILTER_UNIT, and its delta of FILTER_DELTA_UNIT. Monotone
 * in steps.
 *   ST_INVALID  as curve_of */
enum status filter_charge(struct curve *charge, const struct mechanism *m,
                          uint64_t steps, struct error *error);

/* Returns whether charge fits in addition to committed and held. FITS_HELD: only what
 * is held is in the way. */
enum ledger_fits filter_fits(const struct filter *filter, const struct curve *committed,
                             const struct curve *held, const struct curve *charge);

/* Returns how often charge fits in addition to committed and held, one after the other:
 * the largest k <= most for which committed + held + k charge <= B at some weighted
 * order, and the deltas stay within delta_d. filter_fits would admit as many in sequence, if each is committed whole. */
uint64_t filter_times(const struct filter *filter, const struct curve *committed,
                      const struct curve *held, const struct curve *charge,
                      uint64_t most);

#endif
