/*
 * sampler.h - the Poisson batch of a step, drawn by a team. Each member draws a share of
 * the records, and the batch is the same whoever draws what (poisson.h).
 *
 * Threads: one at a time, the one that runs the team.
 */
#ifndef ENGINE_SAMPLING_SAMPLER_H
#define ENGINE_SAMPLING_SAMPLER_H

#include "engine/sampling/poisson.h"
#include "engine/parallel/team.h"

struct sampler; /* opaque */

/* The team must outlive the sampler. */
struct sampler *sampler_create(struct team *team);
void sampler_destroy(struct sampler *sampler); /* NULL is allowed; zeroes */

/* Draws what poisson_draw_range draws, bit for bit. Each member may touch one index beyond
 * what is drawn; what is touched there is zeroed. */
size_t sampler_draw(struct sampler *sampler, uint32_t *indices,
                    struct poisson_range range, double rate,
                    const struct noise_key *key);

#endif
