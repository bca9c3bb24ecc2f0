/*
 * motion.h - two points in the space of the parameters and the step between them, in
 * units of a power of two near its length.
 *
 *   D = (theta - theta') / s,   s = 2^k nearest to |theta - theta'| by ratio
 *
 * D then has a norm in [1/sqrt 2, sqrt 2], so squares of differences do not underflow
 * however little the parameters have moved. Both points are released iterates: length
 * and scale are public.
 *
 * Threads: motion_set belongs to one thread; what is set may be read by many.
 * Ownership: a motion borrows both points until the next motion_set.
 */
#ifndef ENGINE_NN_MOTION_H
#define ENGINE_NN_MOTION_H

#include <stddef.h>

#include "base/status.h"

struct motion; /* opaque */

/* count  length of the flat vector
 *   ST_NO_MEMORY  no room for count floats */
enum status motion_create(struct motion **out, size_t count, struct error *error);
void motion_destroy(struct motion *motion); /* NULL is allowed */

/* Bytes that motion_create would take. */
size_t motion_size(size_t count);

/* The motion is from then on that from previous (count), theta', to parameters (count),
 * theta. */
void motion_set(struct motion *motion, const float *parameters, const float *previous);

/* |theta - theta'|, in double: 0 if nothing moved, and not finite if a parameter is not.
 * Nobody can train from a point that is not finite; what a caller does about it shows
 * nothing private. */
double motion_length(const struct motion *motion);

/* s: a power of two in [2^-100, 2^100], 1 if the length is 0 or not finite. */
double motion_scale(const struct motion *motion);

const float *motion_parameters(const struct motion *motion); /* theta */
const float *motion_previous(const struct motion *motion);   /* theta' */

/* D (count): each entry rounded once. */
const float *motion_step(const struct motion *motion);

#endif
