/*
 * sampler.h - the Poisson batch of a step, drawn by a team. Each member draws from a
 * share of the records; the batch does not depend on the division into shares
 * (poisson.h).
 *
 * Threads: one at a time, the thread that runs the team.
 */
#ifndef ENGINE_SAMPLING_SAMPLER_H
#define ENGINE_SAMPLING_SAMPLER_H

#include "engine/parallel/team.h"
#include "engine/sampling/index_range.h"
#include "engine/sampling/poisson.h"

struct sampler; /* opaque */

/* The team must outlive the sampler. */
struct sampler *sampler_create(struct team *team);
void sampler_destroy(struct sampler *sampler); /* NULL is allowed; zeroes */

/* Draws the part of poisson_draw's batch that lies in range, bit for bit. Up to
 * POISSON_PART indices, and one for each member, may be written after the drawn ones;
 * they are zeroed afterwards.
 *   indices  room for all records */
size_t sampler_draw(struct sampler *sampler, uint32_t *indices,
                    struct index_range range, double rate, const struct noise_key *key);

#endif
