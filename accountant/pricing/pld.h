/*
 * pld.h - tight epsilon by numerical composition of privacy losses: an upper bound.
 *
 * Each step's loss is replaced by a measure on a grid that dominates it
 * (privacy_loss.h), tilted by exp(s l) so that the losses that decide epsilon are in
 * the middle, and composed by a Fourier transform. Bounds on all that is lost are added
 * to delta, or to epsilon: the mass beyond the grid, the tail beyond the transform's
 * window, and every rounding (README.md). What wraps around in the transform only adds.
 * Both directions are composed, and the worse counts.
 *
 * It holds for a mechanism whose runs were all fixed before the first: a job's own
 * figure. The ledger, whose jobs are chosen adaptively, cannot use it.
 *
 * Threads: pure.
 */
#ifndef ACCOUNTANT_PRICING_PLD_H
#define ACCOUNTANT_PRICING_PLD_H

#include "base/mechanism.h"

enum { PLD_RUNS_MAX = 4096 };

/* The most effort for one figure, and for all compositions of one search for a noise
 * multiplier (pld_epsilon_within). */
#define PLD_EFFORT_MAX        12e6
#define PLD_SEARCH_EFFORT_MAX 32e6

/* Upper bound on epsilon of the first steps steps of m at delta in (0, 1); about 0.2 %
 * above the truth if a grid of 2^20 places allows. Infinity if the bound's own error is
 * larger than delta.
 *   ST_INVALID    m is not supported (cost_supports), of a kind without privacy losses
 *                 (proof.h), has more than PLD_RUNS_MAX runs or fewer steps; delta out
 *                 of range
 *   ST_NO_MEMORY  some 100 MB at most are needed, and not there */
enum status pld_epsilon(double *epsilon, const struct mechanism *m, uint64_t steps,
                        double delta, struct error *error);

/* Like pld_epsilon, with at most *effort of work, from which the work is subtracted: a
 * unit is about a nanosecond of a core. The grid is as coarse as the effort requires,
 * which makes epsilon larger: a coarse bound is a bound. Infinity if the effort does
 * not suffice for the coarsest grid. The work follows from the mechanism only, never
 * from a clock. */
enum status pld_epsilon_within(double *epsilon, double *effort,
                               const struct mechanism *m, uint64_t steps, double delta,
                               struct error *error);

#endif
