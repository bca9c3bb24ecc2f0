/*
 * batch_sum.h - the description of one sum over a batch: how each record is clipped,
 * the grid that sums are rounded to, and what is computed along with the gradients. It
 * is passed to a stepper, all of whose threads read it.
 */
#ifndef ENGINE_DP_BATCH_SUM_H
#define ENGINE_DP_BATCH_SUM_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/difference/parameter_step.h"
#include "engine/dp/bin_sum.h"
#include "engine/dp/clip.h"
#include "engine/dp/histogram.h"
#include "engine/noise/grid.h"

struct batch_sum {
    const struct grid *grid; /* the grid that sums are rounded to, with its cells */
    clip_rule *clip;         /* NULL (public data only): every record counts fully */
    const void *clip_context;
    /* clip is called once for each layer, with that layer's norms and spreads, and
     * returns the factors of that layer's part. clip_rest must be NULL then. */
    bool by_layer;
    /* If set, the sum and the norms are those of the differences between records'
     * gradients and their gradients at the step's previous point, over the step's scale
     * (engine/difference/difference.h). NULL: they are those of gradients. This needs
     * clip. */
    const struct parameter_step *parameter_step;
    /* Counts the batch's records by their norms before clipping; a record that is not
     * finite counts with norm 0. Or NULL. This needs clip. */
    const struct histogram *histogram;
    /* Adds up on which side of *signs_at the norms before clipping lie (norm_sign.h),
     * into one counter. Or NULL. This needs clip, and excludes a histogram. */
    const double *signs_at;
    /* If set, the sum is not one of gradients but that of bin_sum.h, which clips by
     * itself: clip is NULL, and its integers are the first of the sum's. */
    const struct bin_sum *bins;
    /* Multiplies the clipped gradients once more and adds them to the error memory; or
     * NULL. This needs clip, and a stepper that uses_error_memory. */
    clip_rule *clip_rest;
    const void *rest_context;
};

/* The number of counters that the sum adds to: the histogram's bins, or one for signs. */
static inline size_t batch_sum_counters(const struct batch_sum *sum)
{
    if (sum->histogram != NULL)
        return sum->histogram->bins;
    return sum->signs_at != NULL ? 1 : 0;
}

#endif
