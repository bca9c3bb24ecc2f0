/*
 * diff2_estimate.h - a gradient estimated only from noisy releases: its value, and the
 * point at which it has that value. Adding the difference between the gradients at the
 * next point and at this one moves the estimate there (papers/diff2.md 1.2, lines 10 to
 * 12).
 *
 *   restart   value = release                 at the point now
 *   add       value = value + scale release   from point to the point now
 *   mark      point = the point now; out = value
 *
 * Values are doubles: over the rounds of a window, float32 would lose the small
 * differences that short steps add.
 *
 * Invariants
 *   (1) An estimate contains only values that were released with noise, so nothing here
 *       is secret.
 *
 * Threads: one at a time.
 */
#ifndef ENGINE_DP_ALGORITHMS_DIFF2_ESTIMATE_H
#define ENGINE_DP_ALGORITHMS_DIFF2_ESTIMATE_H

#include <stddef.h>

#include "base/status.h"

struct diff2_estimate {
    size_t dim;
    double *value; /* (dim) */
    float *point;  /* (dim) */
};

/* Makes an estimate of zeros.
 *   ST_NO_MEMORY  no room for dim parameters */
enum status diff2_estimate_init(struct diff2_estimate *estimate, size_t dim,
                                struct error *error);
void diff2_estimate_fini(struct diff2_estimate *estimate); /* a zeroed one is allowed */

/* Returns the bytes that it holds; 0 for a zeroed one. */
size_t diff2_estimate_size(const struct diff2_estimate *estimate);

/* value = release */
void diff2_estimate_restart(struct diff2_estimate *estimate, const float *release);

/* value += scale release */
void diff2_estimate_add(struct diff2_estimate *estimate, const float *release,
                        double scale);

/* value = the value of from. */
void diff2_estimate_copy(struct diff2_estimate *estimate,
                         const struct diff2_estimate *from);

/* point = parameters, at which value is the gradient; out = value, rounded to float. */
void diff2_estimate_mark(struct diff2_estimate *estimate, float *out,
                         const float *parameters);

#endif
