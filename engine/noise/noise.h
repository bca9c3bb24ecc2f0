/*
 * noise.h - the noise of every private release, and the only functions that release
 * anything (noise.md; privacy.md P4).
 *
 * A release is a sum of integers on a public grid (grid.h) plus, in each coordinate, an
 * independent X = floor(N(0, s0^2)), s0 = 2^36 grid steps. As
 *   z + floor(N) = floor(z + N)    for an integer z,
 * a release is a function of the continuous Gaussian mechanism on z, and every bound
 * proved for that mechanism holds. X is within total variation 2^-145 of its law.
 *
 * Invariants
 *   (1) X is a pure function of (key, query, coordinate): threads, splits and
 *       processors do not affect it.
 *   (2) One (key, query) is used for one sum. Two sums with the same noise would reveal
 *       their exact difference.
 *   (3) After a call, no random value that it drew is left in memory, except in the
 *       outputs.
 *
 * Threads: a struct noise belongs to one thread at a time; give each thread its own.
 */
#ifndef ENGINE_NOISE_NOISE_H
#define ENGINE_NOISE_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/noise/grid.h"
#include "engine/noise/noise_chunk.h"
#include "engine/noise/noise_key.h"
#include "engine/parallel/span.h"

struct noise; /* the sampler's table, scratch and cipher context; opaque */

struct noise *noise_create(void);
void noise_destroy(struct noise *noise); /* NULL is allowed; zeroes */

struct noise_address {
    const struct noise_key *key;
    uint64_t query; /* numbers the releases inside a step, from 0 */
};

/* out = X of the coordinates [NOISE_CHUNK chunk, NOISE_CHUNK (chunk + chunks)). */
void noise_draw(struct noise *noise, int64_t *out, const struct noise_address *address,
                uint64_t chunk, size_t chunks);

struct noise_release {
    struct noise_address address;
    const struct grid *grid;
    double divisor; /* public: the expected batch, or n */
};

/* out[j] = (sum[j] + X_(span.first + j) + 1/2) / (G divisor), j in [0, span.count)
 * out and sum start at coordinate span.first, a multiple of NOISE_CHUNK. Splitting a
 * vector into such spans changes nothing. */
void noise_release(struct noise *noise, float *out, const int64_t *sum,
                   struct span span, const struct noise_release *release);

/* out[j] = (G counts[j] + X_j + 1/2) / (G divisor), j in [0, count)
 * G is an integer (grid_plan_counts). */
void noise_release_counts(struct noise *noise, double *out, const int64_t *counts,
                          size_t count, const struct noise_release *release);

#endif
