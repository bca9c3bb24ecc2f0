/*
 * parameter_step.h - two points in parameter space and the step between them, in units
 * of a power of two near its length.
 *
 *   D = (theta - theta') / s,   s = 2^k nearest to |theta - theta'| by ratio
 *
 * D then has a norm in [1/sqrt 2, sqrt 2], so squares of differences do not underflow
 * however little the parameters have moved. Both points are released iterates: length
 * and scale are public.
 *
 * Threads: parameter_step_set belongs to one thread; after that, many threads may read
 * the step.
 * Ownership: a step borrows both points until the next parameter_step_set.
 */
#ifndef ENGINE_DIFFERENCE_PARAMETER_STEP_H
#define ENGINE_DIFFERENCE_PARAMETER_STEP_H

#include <stddef.h>

#include "base/status.h"

struct parameter_step; /* opaque */

/* count  length of the flat vector
 *   ST_NO_MEMORY  no room for count floats */
enum status parameter_step_create(struct parameter_step **out, size_t count,
                                  struct error *error);
void parameter_step_destroy(struct parameter_step *step); /* NULL is allowed */

/* Bytes that parameter_step_create would take. */
size_t parameter_step_size(size_t count);

/* From then on, the step leads from previous (count), theta', to parameters (count),
 * theta. */
void parameter_step_set(struct parameter_step *step, const float *parameters,
                        const float *previous);

/* |theta - theta'|, in double: 0 if nothing moved, and not finite if a parameter is not
 * finite. No training can continue from a point that is not finite; the caller's
 * reaction reveals nothing private. */
double parameter_step_length(const struct parameter_step *step);

/* s: a power of two in [2^-100, 2^100], 1 if the length is 0 or not finite. */
double parameter_step_scale(const struct parameter_step *step);

const float *parameter_step_parameters(const struct parameter_step *step); /* theta */
const float *parameter_step_previous(const struct parameter_step *step);   /* theta' */

/* D (count): each entry rounded once. */
const float *parameter_step_scaled(const struct parameter_step *step);

#endif
