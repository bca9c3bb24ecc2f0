/*
 * release.h - the releases of a step. Sums over private records leave only through
 * these functions, each of which adds the noise of its own query (noise.h); sums of
 * public data leave without noise.
 *
 *   sum, counts, norm of the sum  -->  + noise  -->  gradient, numbers
 *
 * The sums of several processes are combined first (group.h). Each process adds its own
 * noise to its own slice of the sum; before that, no process has the whole sum.
 *
 * Invariants
 *   (1) No (key, query) is used for two releases: every step has its own key, and every
 *       release in it takes the next query.
 *   (2) A sum and counts that were released are zero afterwards.
 *   (3) The number of threads changes no bit: a member of the team releases whole
 *       chunks of noise (noise.h).
 *
 * Threads: one caller; it uses the threads of the team.
 */
#ifndef ENGINE_DP_RELEASE_H
#define ENGINE_DP_RELEASE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/dp/reduction.h"
#include "engine/dp/sum_norm.h"
#include "engine/noise/noise.h"
#include "engine/parallel/team.h"

struct release {
    struct team *team;
    const struct noise_key *key; /* this step's */
    uint64_t query;              /* number of the step's next release */
    struct noise **noises;       /* (team size) */
    float *gradient;             /* (dim) the last release, if it was kept */
};

/* key points to where each step's key will be stored; key and team are borrowed until
 * fini.
 *   ST_NO_MEMORY  no room for dim floats; fini must still be called */
enum status release_init(struct release *release, struct team *team,
                         const struct noise_key *key, size_t dim, struct error *error);
void release_fini(struct release *release); /* a zeroed one is allowed */

/* Begins a step, whose key is already stored at release->key. */
void release_begin_step(struct release *release);

/* A function that is called with a part of the gradient as soon as it is released, on
 * the thread that released it, possibly on several threads at a time. gradient[0]
 * belongs to coordinate span.first, and gradient is valid only until run returns. The
 * parts make up the slice of this process. */
struct release_use {
    void (*run)(void *context, const float *gradient, struct span span);
    void *context;
};

/* gradient = (sum + noise) / divisor (noise_release), in the slice of this process.
 *   use  NULL: the gradient is kept. Otherwise use is called part by part and the
 *        gradient is not kept; release->gradient is then undefined in the slice */
void release_sum(struct release *release, struct reduction *reduction,
                 const struct grid *grid, double divisor,
                 const struct release_use *use);

/* out[j] = counts[j] + noise, j in [0, bins): all processes get the values that the
 * group's rank 0 drew.
 *   grid  planned by grid_plan_counts */
void release_counts(struct release *release, struct reduction *reduction, size_t bins,
                    const struct grid *grid, double *out);

/* Returns the norm of the sum, plus noise, in the sum's unit: all processes get the
 * value that the group's rank 0 drew. The sum stays. */
double release_norm(struct release *release, struct reduction *reduction,
                    const struct norm_grid *norm);

/* gradient = sum / divisor: only for public data, which the caller checks. */
void release_average(struct release *release, struct reduction *reduction,
                     const struct grid *grid, double divisor);

#endif
