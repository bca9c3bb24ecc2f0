/*
 * cost.h - the Renyi divergence of any mechanism, at any real order, and which mechanisms
 * have a proof.
 *
 *   kind               relations with a proof           one step
 *   sampled_gaussian   zero_out, replace_one            rdp.h
 *   gaussian           zero_out, replace_one (twice)    a (distance / sigma)^2 / 2
 *   fixed_subset       zero_out, replace_one (alike)    fixed_subset.h; rate 1: as
 *                                                       gaussian; by turns: of every
 *                                                       turns-th subset
 *   laplace            zero_out, replace_one (twice)    laplace.h
 *   error_feedback     as its bound says                error_feedback.h, no sum over steps
 *
 * Threads: a struct cost belongs to one thread at a time.
 */
#ifndef ACCOUNTANT_COST_H
#define ACCOUNTANT_COST_H

#include "accountant/mechanisms/rdp.h"
#include "accountant/mechanisms/fixed_subset.h"
#include "base/mechanism.h"

struct cost { /* scratch: what is known of steps already seen; zeroed at first */
    struct rdp rdp;
    struct fixed_subset subset;
};

/* Whether m has a proof under its relation and every number in range.
 *   ST_INVALID  kind or relation unknown, no run, a rate outside (0, 1] (1 for a gaussian
 *               and a laplace), a noise multiplier outside [RDP_NOISE_MIN,
 *               RDP_NOISE_MAX], a run of no steps, or what error_feedback_supports refuses;
 *               the error names the run */
enum status cost_supports(const struct mechanism *m, struct error *error);

/* Distance of neighbours' sums in run of m, in sensitivities under zero_out: 1 or 2. */
double cost_distance(const struct mechanism *m, size_t run);

/* Upper bound on the divergence of count steps of one run of m, which is supported and
 * not an error feedback, at order > 1 (infinity is allowed), nats. */
double cost_of_run(struct cost *cost, const struct mechanism *m, size_t run,
                   uint64_t count, double order);

/* The same for the first steps steps of m, steps counted over all runs; without priced
 * prefixes for the whole of m where steps > 0. */
double cost_of(struct cost *cost, const struct mechanism *m, uint64_t steps,
               double order);

#endif
