/*
 * saddle.h - where a sum of independent losses matters: its moments under a tilt, and
 * the tilt at which a given delta is decided. These are estimates that place a grid; no
 * proof depends on them.
 *
 *   moment of tilt s: log E[exp(s sum L)], mean and variance under the law tilted by it
 *
 * Threads: pure. Ownership: created sums are destroyed by the caller.
 */
#ifndef ACCOUNTANT_NUMERIC_SADDLE_H
#define ACCOUNTANT_NUMERIC_SADDLE_H

#include <stddef.h>

#include "accountant/mechanisms/privacy_loss.h"

struct saddle_part { /* equal steps */
    struct privacy_loss_step step;
    struct privacy_loss_range range;
    double steps;
};

struct saddle; /* opaque */

/* The sum is over the steps of all parts, in one direction. NULL without memory. */
struct saddle *saddle_create(const struct saddle_part *parts, size_t count,
                             enum privacy_loss_direction direction);
void saddle_destroy(struct saddle *saddle); /* NULL is allowed */

struct saddle_moment {
    double log, mean, variance;
};

struct saddle_moment saddle_moment(const struct saddle *saddle, double tilt);

/* The tilt >= 0 whose mean is about the epsilon at delta; 0 if that is below the
 * mean. */
double saddle_tilt(const struct saddle *saddle, double delta);

/* The least loss at which the Chernoff bound on the tail above, by a tilt of at most
 * most, is at most tail; *tilt: the tilt of that bound. */
double saddle_top(const struct saddle *saddle, double tail, double most, double *tilt);

#endif
