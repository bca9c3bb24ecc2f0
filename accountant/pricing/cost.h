/*
 * cost.h - the Renyi divergence of any mechanism, at any real order, and which
 * mechanisms have a proof. The proofs of each kind are in its file of mechanisms/
 * (proof.h); this file has what all kinds have in common and the sum over runs.
 *
 * Threads: a struct proof_scratch belongs to one thread at a time.
 */
#ifndef ACCOUNTANT_PRICING_COST_H
#define ACCOUNTANT_PRICING_COST_H

#include <stdbool.h>

#include "accountant/mechanisms/proof.h"
#include "base/mechanism.h"

/* Returns ST_OK if m has a proof under its relation and every number is in range.
 *   ST_INVALID  kind or relation unknown, no run, a rate outside (0, 1] (other than 1
 *               for a kind that takes every record), a noise multiplier outside
 *               [RDP_NOISE_MIN, RDP_NOISE_MAX], a run of no steps, or what its kind
 *               refuses; the error names the run */
enum status cost_supports(const struct mechanism *m, struct error *error);

/* Returns whether each run of m, which is supported, has a price of its own. If not, a
 * proof bounds only the whole path, and only cost_of may be called. */
bool cost_has_runs(const struct mechanism *m);

/* Returns about how many terms of quadrature one order of m takes, m being supported.
 * It is small unless many runs have little noise. */
double cost_terms(const struct mechanism *m);

/* Upper bound in nats on the divergence of count steps of one run of m at order > 1;
 * infinity is an order too. m is supported, and its runs have prices. */
double cost_of_run(struct proof_scratch *scratch, const struct mechanism *m, size_t run,
                   uint64_t count, double order);

/* Like cost_of_run, for the first steps steps of any m that is supported, counted over
 * all its runs. If prefixes have no price, the result is that of the whole of m, unless
 * steps is 0. */
double cost_of(struct proof_scratch *scratch, const struct mechanism *m, uint64_t steps,
               double order);

/* Returns the probability of the outcomes that m's curve does not bound; 0 for all
 * kinds but discovery. m is supported. Rounded up. */
double cost_delta(const struct mechanism *m);

#endif
