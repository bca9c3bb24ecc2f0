/*
 * error_feedback.h - the cost of error feedback (DiceSGD; papers/dicesgd.md 3.5 has the
 * proofs).
 *
 * The part that clipping cuts off is kept as an un-noised error e and comes back,
 * clipped, in later sums. With the batches and everything released fixed, e is a
 * function of the data: so a run is an adaptive sequence of Gaussians whose shifts dv
 * have energy sum ||dv||^2 <= Delta^2 on every path, and costs a Delta^2 / (2 s^2) at
 * order a (zCDP; exactly Delta / s in Gaussian differential privacy). In clip norms,
 * with a record in at most K batches, distance D (1 under zero_out, 2 under
 * replace_one), rest h = D rest:
 *
 *   m1   Delta   = sqrt(K) D + 2 error_clip sqrt(t - 1)
 *   m2   Delta^2 = K D^2 + K^2 h^2 + 2 (K - 1)^(3/2) D h, or m1's if that is less
 *   m2r  Delta^2 = K (D^2 + h^2)
 *   m3   log sum over n of Binomial(n; T, q) exp(a (a - 1) Delta_n^2 / (2 s^2))
 *        / (a - 1), Delta_n that of m2 with K = n: the whole run, no prefix of it
 *
 * K after t steps is the number of periods begun: public, and the same on every path,
 * so the bounds hold for prefixes and for stopping by what was released.
 *
 * Threads: pure.
 */
#ifndef ACCOUNTANT_MECHANISMS_ERROR_FEEDBACK_H
#define ACCOUNTANT_MECHANISMS_ERROR_FEEDBACK_H

#include <stdint.h>

#include "base/mechanism.h"

/* m3 adds a term for every step. Longer runs cost infinity. */
#define ERROR_FEEDBACK_SAMPLED_STEPS_MAX (UINT64_C(1) << 16)

/* Returns ST_OK if m, an error feedback, has a proof under its relation.
 *   ST_INVALID  m3 under replace_one, or parts that do not fit together */
enum status error_feedback_supports(const struct mechanism *m, struct error *error);

/* Delta^2 / s^2 of the first steps steps of m, rounded up; under m3 as if every batch
 * held the record. m is an error feedback that mechanism_extra_valid accepts. */
double error_feedback_energy(const struct mechanism *m, uint64_t steps);

/* Renyi divergence of the first steps steps at order > 1, in nats, rounded up. Under m3
 * steps is all of them. */
double error_feedback_rdp(const struct mechanism *m, uint64_t steps, double order);

#endif
