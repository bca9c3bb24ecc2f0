/*
 * optimizer.h - updates the parameters, given a released gradient: this is
 * post-processing, so it costs no privacy.
 *
 *   sgd   v = momentum v + g;  p -= rate v
 *   adam  m = beta1 m + (1 - beta1) g;  s = beta2 s + (1 - beta2) g^2;
 *         p -= rate (m / (1 - beta1^t)) / (sqrt(s / (1 - beta2^t)) + epsilon)
 *   adam_bc  m and s as adam, f = beta2 f + (1 - beta2) V;
 *         p -= rate (m / (1 - beta1^t))
 *              / (sqrt(max(s - f, floor f) / (1 - beta2^t)) + epsilon)
 *
 * p are the parameters, g the gradient, and t counts steps from 1. V is the variance of
 * the noise in each coordinate of g, by the step's plan and not as measured, so it is
 * public. It is 0 on public data, where adam_bc is adam.
 *
 * adam divides by the root of the gradient's mean square plus V. If V is much larger,
 * the divisor is the same everywhere, and the update is that of momentum. adam_bc
 * divides by the root of the mean square without V (Tang, Shpilevskiy & Lecuyer 2024,
 * 2312.14334). That paper has a constant gamma' in place of floor f, and it depends on
 * the clip norm and the batch. A share of f does not, so one default serves all jobs,
 * and V may change from step to step.
 *
 * Before any update, weight decay shrinks every parameter, decoupled from the moments
 * (Loshchilov & Hutter 2019, 1711.05101):
 *
 *   p = (1 - rate weight_decay) p
 *
 * The rate of step t, counted from 0, of T steps of which W = floor(warmup T) warm up:
 *
 *   warm-up  t < W   learning_rate (t + 1) / (W + 1)
 *   linear   t >= W  learning_rate + (learning_rate_final - learning_rate) x
 *   cosine   t >= W  learning_rate_final
 *                    + (learning_rate - learning_rate_final) (1 + cos(pi x)) / 2
 *
 * with x = (t - W) / (T - 1 - W), so that the last step has learning_rate_final.
 *
 * Threads: spans that do not overlap may be updated concurrently.
 */
#ifndef ENGINE_DP_OPTIMIZER_H
#define ENGINE_DP_OPTIMIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/dp/optimizer_kind.h"
#include "engine/parallel/span.h"

extern const char *const rate_schedule_names[RATE_COSINE + 2]; /* then NULL */

/* Sets the rate, and the last rate for a job that gives none: a linear schedule stays
 * constant, a cosine ends at 0. */
void optimizer_spec_set_rate(struct optimizer_spec *spec, double learning_rate);

struct optimizer; /* the spec and its state, opaque */

/*   ST_NO_MEMORY  no room for the state */
enum status optimizer_create(struct optimizer **out, const struct optimizer_spec *spec,
                             size_t dim, uint64_t steps, struct error *error);
void optimizer_destroy(struct optimizer *optimizer); /* NULL is allowed */

/* Bytes of state that optimizer_create takes for dim parameters. */
size_t optimizer_size(const struct optimizer_spec *spec, size_t dim);

/* The rate of step, counted from 0. */
double optimizer_rate(const struct optimizer *optimizer, uint64_t step);

/* Begins a step, counted from 0, whose gradient has noise of the given variance in each
 * coordinate. Call it once before the spans of the step, on one thread. */
void optimizer_begin_step(struct optimizer *optimizer, uint64_t step,
                          double noise_variance);

/* Updates parameters[span] with gradient, whose first value belongs to coordinate
 * span.first, for the step that has begun. Every step must be applied once to every
 * span, in order. Returns false if a parameter is no longer finite. */
bool optimizer_apply(struct optimizer *optimizer, float *parameters,
                     const float *gradient, struct span span);

#endif
