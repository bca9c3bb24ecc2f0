/*
 * noise_plan.h - the grids on which noise is added to the releases of an algorithm
 * (grid.h). The first is the grid of the clipped sum; the others have names.
 *
 * The trainer reads an algorithm's plan to allocate the cells of every grid, and the
 * certificate shows each named grid as a member of that name (privacy.md P10). So an
 * algorithm that releases another quantity names its grid here, and no other file needs
 * to know about it.
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
    size_t bins;      /* the number of counts on this grid; 0: it is the grid of a
                       * sum */
    struct grid grid;
};

struct noise_plan {
    double clip_norm, spread; /* those of the clipped sum */
    struct grid grid;         /* the clipped sum's */
    struct noise_grid named[NOISE_GRIDS_MAX];
    size_t named_count;
};

/* Appends grid to the plan's named grids, or replaces the grid of the same name. */
void noise_plan_set(struct noise_plan *plan, const struct noise_grid *grid);

#endif
