/*
 * release.h - the way out of a step. What is summed over private records leaves through
 * these functions alone, each of which adds the noise of its own query to it (noise.h);
 * sums of public data leave without.
 *
 *   sum, counts, norm of the sum  -->  + noise  -->  gradient, numbers
 *
 * What several processes have summed meets first (group.h). Each adds noise of its own to
 * its own slice of the sum, and nobody has the whole of it before that.
 *
 * Invariants
 *   (1) No (key, query) serves two releases: every step has its own key, every release in
 *       it the next query.
 *   (2) A sum and counts that were released are zero afterwards.
 *   (3) Threads change no bit: a member releases whole chunks of noise (noise.h).
 *
 * Threads: one caller; the team's threads are its own.
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
    uint64_t query;              /* of the step's next release */
    struct noise **noises;       /* (team size) */
    float *gradient;             /* (dim) as it was released last, if it was kept */
};

/* key is where each step's key will stand; it and team are borrowed until fini.
 *   ST_NO_MEMORY  no room for dim floats; fini is still to be called */
enum status release_init(struct release *release, struct team *team,
                         const struct noise_key *key, size_t dim, struct error *error);
void release_fini(struct release *release); /* a zeroed one is allowed */

/* Begins a step, whose key stands where it was said. */
void release_begin_step(struct release *release);

/* What is done with a stretch of the gradient as soon as it is out, on the thread that
 * released it, several at a time: gradient[0] is of coordinate span.first, and gone when run
 * returns. The stretches make up the slice of this process. */
struct release_use {
    void (*run)(void *context, const float *gradient, struct span span);
    void *context;
};

/* gradient = (sum + noise) / divisor (noise_release), in the slice of this process.
 *   use  NULL: the gradient is kept. Else it is used stretch by stretch and not kept; what
 *        stands in its slice is of no meaning then */
void release_sum(struct release *release, struct reduction *reduction,
                 const struct grid *grid, double divisor,
                 const struct release_use *use);

/* out[j] = counts[j] + noise, j in [0, bins): all processes get what the group's rank 0
 * draws.
 *   grid  planned by grid_plan_counts */
void release_counts(struct release *release, struct reduction *reduction, size_t bins,
                    const struct grid *grid, double *out);

/* Returns the norm of the sum, plus noise, in the sum's unit: to all processes what the
 * group's rank 0 draws. The sum stays. */
double release_norm(struct release *release, struct reduction *reduction,
                    const struct norm_grid *norm);

/* gradient = sum / divisor: of public data alone, which the caller checks. */
void release_average(struct release *release, struct reduction *reduction,
                     const struct grid *grid, double divisor);

#endif
