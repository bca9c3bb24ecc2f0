/*
 * batch_sum.h - what one sum over a batch is of: how each record is clipped, where sums are
 * rounded to, and what comes with the gradients. A stepper takes it; all its threads read
 * it.
 */
#ifndef ENGINE_DP_BATCH_SUM_H
#define ENGINE_DP_BATCH_SUM_H

#include <stdbool.h>

#include "engine/difference/parameter_step.h"
#include "engine/dp/clip.h"
#include "engine/dp/histogram.h"
#include "engine/noise/grid.h"

struct batch_sum {
    const struct grid *grid; /* where sums are rounded to, and the cells */
    clip_rule *clip;         /* NULL, on public data alone: every record counts whole */
    const void *clip_context;
    /* clip is asked layer by layer, with that layer's norms and spreads, for the
     * factors of that layer's part. There is no clip_rest then. */
    bool by_layer;
    /* The sum is of records' gradients less those at the step's previous point, over its
     * scale (engine/difference/difference.h), and the norms of these. NULL: it is of
     * gradients. This needs clip. */
    const struct parameter_step *parameter_step;
    /* Counts the batch's records by their norms before clipping, a record that is not
     * finite as one of norm 0; or NULL. This needs clip. */
    const struct histogram *histogram;
    /* Multiplies the clipped gradients once more and adds them to the error memory; or
     * NULL. This needs clip, and a stepper that uses_error_memory. */
    clip_rule *clip_rest;
    const void *rest_context;
};

#endif
