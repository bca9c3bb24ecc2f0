/*
 * noise_exact.h - decides one trial of the ziggurat in integer arithmetic, for the few
 * trials that a double cannot decide (noise.md 4.4, `exact`).
 *
 * Threads: pure.
 */
#ifndef ENGINE_NOISE_NOISE_EXACT_H
#define ENGINE_NOISE_NOISE_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/noise/noise_table.h"

struct noise_trial {
    uint64_t word;     /* bits 0-51: U, 52-59: layer, 63: sign */
    uint64_t height;   /* V, its first 64 bits */
    uint64_t fraction; /* theta: bits 0-51 are the next bits of U */
};

struct noise_digits { /* the next 128 bits of U and of V */
    uint64_t u_high, u_low, v_high, v_low;
};

/* Returns whether y = Y_i + h_i V lies under f at x = w_i U (noise_table.h); *magnitude
 * = floor(x). The error of each side of the comparison is below 2^-180. */
bool noise_exact(const struct noise_table *table, const struct noise_trial *trial,
                 const struct noise_digits *digits, uint64_t *magnitude);

#endif
