/*
 * sum_norm.h - the norm of a private sum, released along with the sum, with its own
 * noise (papers/adp.md 1.6.2).
 *
 *   n = rint(unit min(||z||, limit)),  released = (n + X + 1/2) / (unit G)
 *
 * z are the integers of the sum, X is the noise that noise.h draws. A record moves z by
 * at most Delta_Z, and ||z|| by no more (triangle inequality); min is 1-Lipschitz;
 * computing n moves it by at most 1/2 + unit limit 2^-51. So a record moves n by at
 * most unit (Delta_Z + limit 2^-50) + 1, and
 *
 *   noise multiplier (unit (Delta_Z + limit 2^-50) + 1) <= s0
 *
 * makes it a Gaussian release of that multiplier. The sum and the norm of one batch are
 * together one release of multiplier (z^-2 + z_norm^-2)^(-1/2), with z and z_norm their
 * own multipliers, for any batch.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_SUM_NORM_H
#define ENGINE_DP_SUM_NORM_H

#include "engine/noise/grid.h"

struct norm_grid {
    double unit, limit; /* limit: in grid steps of the sum */
    double scale;       /* unit G: steps of n per unit of the norm */
    double multiplier;  /* at least the requested one */
};

/* Plans for sums on grid over batches of batch expected records.
 *   ST_INVALID  the grid has no room for a norm with this noise */
enum status norm_grid_plan(struct norm_grid *out, const struct grid *grid,
                           double noise_multiplier, double batch, struct error *error);

/* A sum of squares in limbs of 32 bits, lowest first. The sums of up to 2^31 parts of a
 * vector can be added limb by limb (group_collect). */
enum { NORM_LIMBS = 4 };
struct norm_squares {
    int64_t limbs[NORM_LIMBS];
};

/* The squares of sum[0..count): exact, or at least 2^126, which is beyond any limit. */
struct norm_squares norm_squares_of(const int64_t *sum, size_t count);

/* n of the vector that has this sum of squares. */
int64_t norm_measure(const struct norm_grid *norm, const struct norm_squares *squares);

/* (z^-2 + z_norm^-2)^(-1/2), with z and z_norm the two multipliers. */
double norm_joint_multiplier(double sum_multiplier, double norm_multiplier);

#endif
