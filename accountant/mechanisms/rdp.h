/*
 * rdp.h - Renyi divergence of one step of the (Poisson-sampled) Gaussian, at any real
 * order.
 *
 * With noise multiplier s, rate q and order a (Mironov, Talwar, Zhang 2019; the letters
 * of rdp.c are theirs) it is
 *
 *   zero_out     log E[(1 + x)^a] / (a - 1),  x = q expm1(t/s - 1/(2 s^2)), t ~ N(0, 1)
 *   replace_one  the same of the dominating pair (1-q) N(0) + q N(+1)
 *                                            and (1-q) N(0) + q N(-1)
 *
 * and is summed by a trapezoid rule on an integrand that is not negative (accounting.md
 * 1.3): there is no signed series, and nothing cancels. README.md has the error bound.
 *
 * Invariants
 *   (1) The answer is never below the true value: the error bound is added, rounded up.
 *   (2) Never NaN. Above order 2^20 the answer is the unsampled one, which is an upper
 *       bound.
 *
 * Threads: a struct rdp belongs to one thread at a time.
 */
#ifndef ACCOUNTANT_MECHANISMS_RDP_H
#define ACCOUNTANT_MECHANISMS_RDP_H

#include <stdint.h>

#include "base/mechanism.h"

#define RDP_NOISE_MIN 0.05
#define RDP_NOISE_MAX 1e6

/* Kept for one step: all that the bulk needs at a noise multiplier of 0.1. */
enum { RDP_NODES = 1024 };

struct rdp_node { /* one point t of the rule */
    double ratio; /* likelihood ratio at t, less 1 */
    double log_ratio;
    double log_weight;  /* log of the second distribution's density, less a constant */
    double sensitivity; /* how far log_ratio moves per relative error of t / s */
};

struct rdp {
    enum relation relation;
    double rate, noise; /* of the step that it is set to; rate 0: to none */
    double spacing, angle, offset;
    long first; /* place of nodes[0] on the lattice */
    long known; /* nodes computed so far */
    struct rdp_node nodes[RDP_NODES];
};

/* Sets rdp to the steps of run. Keeps the computed nodes if it is set to them already;
 * a zeroed rdp is set to nothing. The rate is in (0, 1], the noise multiplier in
 * [RDP_NOISE_MIN, RDP_NOISE_MAX]. */
void rdp_set(struct rdp *rdp, enum relation relation, const struct mechanism_run *run);

/* Returns about how many terms the rule has at one order: 0 at rate 1, 40 at much noise,
 * 100 at a noise multiplier of 0.6, 3,100 at 0.05. A term takes some 30 ns of a core. */
double rdp_terms(enum relation relation, const struct mechanism_run *run);

/* Upper bound on the divergence of one step, in nats. order > 1; infinity is
 * allowed. */
double rdp_at(struct rdp *rdp, double order);

#endif
