/*
 * poisson.h - draws which records are in a batch: every record independently, with the
 * probability that the accountant used or one that is smaller by less than 2^-64
 * (noise.md E5; privacy.md P3).
 *
 * Index i is in the batch if its 64 random bits, read as a fraction, are below rate.
 * Eight of them are byte i of the key stream (nonce 0); the other 56 are needed once in
 * 256 times and are only then drawn (nonce 1), so that most records cost one byte.
 *
 * At rates of at most 2^-6, that would be a byte for each of many records that are not
 * drawn. There, block_draw.h draws from the same distribution up to a total variation
 * distance of 2^-159 a batch (sampling.md 2), in time proportional to the batch.
 *
 * Threads: a struct poisson belongs to one thread at a time.
 */
#ifndef ENGINE_SAMPLING_POISSON_H
#define ENGINE_SAMPLING_POISSON_H

#include <stddef.h>
#include <stdint.h>

#include "engine/noise/noise_key.h"

struct poisson; /* cipher context and scratch, opaque */

struct poisson *poisson_create(void);
void poisson_destroy(struct poisson *poisson); /* NULL is allowed; zeroes */

/* Writes the indices drawn from [0, records) in ascending order and returns their
 * number: a pure function of (key, rate, records). No key may be used for two batches.
 *   indices  room for records; at most one more than the returned number is written
 *   rate     in (0, 1]; 1 takes every record */
size_t poisson_draw(struct poisson *poisson, uint32_t *indices, uint32_t records,
                    double rate, const struct noise_key *key);

/* Draws the part of poisson_draw's batch that lies in [first, end), written from
 * indices[0] on: ranges that cover all records draw that same batch. */
enum { POISSON_PART = 1 << 14 };
struct poisson_range {
    uint32_t first, end; /* first: a multiple of POISSON_PART; end: anywhere */
};
size_t poisson_draw_range(struct poisson *poisson, uint32_t *indices,
                          struct poisson_range range, double rate,
                          const struct noise_key *key);

#endif
