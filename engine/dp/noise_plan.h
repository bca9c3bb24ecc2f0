/*
 * noise_plan.h - the grids on which what an algorithm releases gets its noise (grid.h).
 * The first is that of the clipped sum; the others have names.
 *
 * A row gives its plan to the trainer, which makes room for the cells of every grid, and
 * to the certificate, which shows each named grid as a member of that name (privacy.md
 * P10). So an algorithm that releases a quantity of its own names its grid here, and no
 * other file has to know of it.
 *
 * Threads: plain values.
 */
#ifndef ENGINE_DP_NOISE_PLAN_H
#define ENGINE_DP_NOISE_PLAN_H

#include <stddef.h>

#include "engine/noise/grid.h"

enum { NOISE_GRIDS_MAX = 4 }; /* no algorithm here has more than two */

struct noise_grid {
    const char *name; /* a constant, and the member's name in the certificate */
    size_t bins;      /* how many counts it is the grid of; 0: it is that of a sum */
    struct grid grid;
};

struct noise_plan {
    double clip_norm, spread; /* those of the clipped sum */
    struct grid grid;         /* the clipped sum's */
    struct noise_grid named[NOISE_GRIDS_MAX];
    size_t named_count;
};

/* Puts grid at the end of the plan's named grids, or in the place of the one that has its
 * name. */
void noise_plan_set(struct noise_plan *plan, const struct noise_grid *grid);

#endif
