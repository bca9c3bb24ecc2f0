/*
 * privacy_loss.h - the privacy loss of one step of the (Poisson-sampled) Gaussian:
 * exactly, and as a measure on the grid {i * spacing} that dominates it.
 *
 * With t the noisy sum over the noise, the loss of seeing t is L(t) = log p(t)/q(t):
 *   zero_out     p = (1-r) N(0, 1) + r N(1/s, 1), q = N(0, 1)   (removing), and swapped
 *   replace_one  p as above, q = (1-r) N(0, 1) + r N(-1/s, 1); swapped it is the same
 * with rate r and noise multiplier s. L grows with t.
 *
 * A measure W on the grid dominates p against q if for every epsilon
 *   sum_i W_i max(0, 1 - exp(epsilon - i spacing))
 *       >= integral max(0, p - exp(epsilon) q).
 * It then does so under composition too. Connecting the dots (Doroshenko et al. 2022):
 * the mass of a cell is split between its two ends; any split does that has at least
 * the mass p(cell), and at the upper end at least
 *   (p(cell) - exp(lower) q(cell)) / (1 - exp(-spacing)),
 * for between the ends the profile is convex in exp(epsilon). Both are taken with their
 * rounding errors added, so W is a little too heavy, never too light.
 *
 * Threads: pure. Ownership: privacy_loss_measure allocates, privacy_loss_fini releases.
 */
#ifndef ACCOUNTANT_MECHANISMS_PRIVACY_LOSS_H
#define ACCOUNTANT_MECHANISMS_PRIVACY_LOSS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mechanism.h"

enum privacy_loss_direction { LOSS_REMOVING, LOSS_ADDING };

struct privacy_loss_step {
    enum relation relation;
    double rate, noise;
};

/* The part of the line that is evaluated. What lies outside is rounded up, and on the
 * side of large losses to infinity. */
struct privacy_loss_range {
    double low, high; /* of t */
};

/* The least range outside which p and q each have at most tail, on either side. */
struct privacy_loss_range privacy_loss_range_of(const struct privacy_loss_step *step,
                                                double tail);

double privacy_loss_at(const struct privacy_loss_step *step, double t);

/* Density of p at t; if direction is LOSS_ADDING, of q. */
double privacy_loss_density(const struct privacy_loss_step *step,
                            enum privacy_loss_direction direction, double t);

struct privacy_loss {
    long first; /* place of mass[0]: its loss is first * spacing */
    size_t count;
    double *mass;     /* owned */
    double infinite;  /* mass at infinite loss */
    double misplaced; /* no loss of the step lies further than this outside its cell */
};

/* Makes the dominating measures of both directions, indexed by privacy_loss_direction.
 * Under replace_one they are the same, and the second is empty. On failure (no memory,
 * or more than max places) returns false and leaves loss. */
bool privacy_loss_measure(struct privacy_loss loss[2],
                          const struct privacy_loss_step *step,
                          struct privacy_loss_range range, double spacing, size_t max);
void privacy_loss_fini(struct privacy_loss *loss); /* a zeroed one is allowed */

#endif
