/*
 * adp_schedule.h - how the steps of a run shrink and how their noise grows. Everything
 * is fixed before the first record is read (papers/adp.md 1.1, 1.2).
 *
 *   rate of step t (from 0)    learning rate / b(t)
 *   noise of step t            noise of step 0 * (b(t) / b(0))^power
 *
 * b(t) is the divisor of step t. power 0 is constant noise, 1/2 the paper's ADP.
 *
 * Invariants
 *   (1) b is positive, finite and never falls, so noise never falls either.
 *   (2) A run has at most ADP_NOISE_LEVELS_MAX noise multipliers. For longer runs, the
 *       rule is rounded down to that number of levels of one ratio. The rounded values
 *       are both run and priced, so rounding moves noise between steps and never
 *       changes the charge.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_ALGORITHMS_ADP_SCHEDULE_H
#define ENGINE_DP_ALGORITHMS_ADP_SCHEDULE_H

#include <stdint.h>

/* This is the number of levels that can be calibrated while a request waits. Their
 * ratio is 1.025 for the paper's 1/sqrt(20 + t) over 11760 steps; this rounding costs
 * 5e-5 of the noise's energy. */
enum { ADP_NOISE_LEVELS_MAX = 64 };

enum adp_schedule_rule {
    SCHEDULE_CONSTANT,     /* b = 1 */
    SCHEDULE_INVERSE_SQRT, /* b = sqrt(offset + slope (t + 1)) */
    SCHEDULE_SQRT_DECAY, /* 1/b = final + (initial - final) (1 - sqrt((t + 1)/steps)) */
    SCHEDULE_INVERSE,    /* b = t + 1 */
    SCHEDULE_ADAGRAD_NORM, /* b = sqrt(offset + slope (t + 1)), an envelope that only
                            * the noise follows: adp_adagrad_norm.h divides the steps */
};

struct adp_schedule {
    enum adp_schedule_rule rule;
    uint64_t steps;        /* > 0 */
    double offset, slope;  /* inverse_sqrt, adagrad_norm: >= 0, offset + slope > 0 */
    double initial, final; /* sqrt_decay: 0 < final <= initial */
    double power;          /* in [0, 1] */
};

/* b(t), t < steps. */
double adp_schedule_divisor(const struct adp_schedule *schedule, uint64_t step);

/* (b(t) / b(0))^power, at least 1. */
double adp_schedule_noise_rule(const struct adp_schedule *schedule, uint64_t step);

/* The noise multiplier of step over that of the first step, as it is run: the rule's
 * value, or a level below it by at most the ratio of two levels. */
double adp_schedule_noise_ratio(const struct adp_schedule *schedule, uint64_t step);

/* The first step after step with another noise ratio, or steps if there is none. */
uint64_t adp_schedule_level_end(const struct adp_schedule *schedule, uint64_t step);

#endif
