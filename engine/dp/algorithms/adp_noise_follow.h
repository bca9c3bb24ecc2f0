/*
 * adp_noise_follow.h - a noise multiplier z that follows a released divisor b
 * (papers/adp.md 1.6.5):
 *
 *   z = first ratio^k,  k = floor(power log(b / b_0) / log(ratio))
 *
 * b never falls, so neither does z. As z is rounded down to levels of one ratio, most
 * steps keep the grids of the step before. The rounded values are both run and charged,
 * so rounding moves noise between steps and never changes the charge.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_ALGORITHMS_ADP_NOISE_FOLLOW_H
#define ENGINE_DP_ALGORITHMS_ADP_NOISE_FOLLOW_H

struct adp_noise_follow {
    double first, power; /* the first step's noise multiplier; power in [0, 1] */
    double square_first; /* b_0^2 */
};

/* z for a divisor whose square is square >= square_first. */
double adp_noise_follow_at(const struct adp_noise_follow *rule, double square);

/* z of level k, counted from 0. */
double adp_noise_follow_level(const struct adp_noise_follow *rule, unsigned level);

#endif
