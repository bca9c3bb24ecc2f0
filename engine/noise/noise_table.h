/*
 * noise_table.h - the constant table of the ziggurat (noise.md 4.1): one shape,
 * standard deviation 2^36 grid steps, 256 layers, for all jobs.
 *
 * With f(x) = exp(-x^2 / 2 s0^2), s0 = 2^36, layer i is the rectangle of width w_i and
 * height h_i above Y_i; all 256 have the same area.
 *
 * Invariants (tests/engine/dp/test_noise_table.c, in interval arithmetic)
 *   T1  the widths fall strictly, from 14 s0
 *   T2  Y_255 < 1 <= Y_256
 *   T3  f(w_i) <= Y_i                    no part of f lies outside its layer
 *   T4  f(w_(i+1) - 1) >= Y_(i+1)        the fast acceptance is certain
 *   T5  w_i h_i is the same for all i, to a relative 2^-180
 *
 * Threads: a table is constant once initialised.
 */
#ifndef ENGINE_NOISE_NOISE_TABLE_H
#define ENGINE_NOISE_NOISE_TABLE_H

#include <stdint.h>

#ifndef NOISE_STDDEV_BITS
#define NOISE_STDDEV_BITS 36 /* a test uses 10, with which integers can be counted */
#endif

enum { NOISE_LAYERS = 256, NOISE_LIMBS = 3, NOISE_FAST_SHIFT = NOISE_STDDEV_BITS - 10 };

#define NOISE_WIDTH_MASK ((UINT64_C(1) << 52) - 1)
#define NOISE_AREA       UINT64_C(22262349370601) /* 2^-16 grid steps */

struct noise_strip { /* what a decision in double reads about a layer */
    double base;     /* Y_i */
    double height;   /* h_i */
    double width;    /* w_i 2^-52 / s0: times a 52-bit U it is x / s0 */
};

struct noise_table {
    uint64_t entry[NOISE_LAYERS]; /* w_i | T_i << 52, T_i = (w_(i+1) - 1) >> 26 */
    struct noise_strip strip[NOISE_LAYERS];
    uint64_t base[NOISE_LAYERS]
                 [NOISE_LIMBS]; /* Y_i, 192-bit fraction, low limb first */
    uint64_t height[NOISE_LAYERS][NOISE_LIMBS]; /* h_i, in the same form */
};

/* The 256 widths, w_0 first. */
extern const uint64_t noise_widths[NOISE_LAYERS];

/* Derives the table from noise_widths and NOISE_AREA, in integers. */
void noise_table_init(struct noise_table *table);

/* The same from other widths and their area, below 2^64. */
void noise_table_derive(struct noise_table *table, const uint64_t widths[NOISE_LAYERS],
                        uint64_t area);

#endif
