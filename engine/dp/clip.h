/*
 * clip.h - rules that compute a record's clip factor, by which its gradient is
 * multiplied in the sum. A rule sees one record at a time: a factor that depended on
 * another record would break rule E2.
 *
 * Threads: pure.
 */
#ifndef ENGINE_DP_CLIP_H
#define ENGINE_DP_CLIP_H

#include <stddef.h>

#include "engine/nn/workspace.h"

struct measures {          /* measures of each record of a micro-batch (workspace.h) */
    const double *norms;   /* nu_up: at least the norm of the record's gradient */
    const double *spreads; /* M_up */
    const double *losses;
    size_t count;
    const struct workspace *workspace; /* for rules that read the layers' inputs */
};

/* clip_factors (measures->count), each finite and at least 0. */
typedef void clip_rule(float *clip_factors, const struct measures *measures,
                       const void *context);

struct flat_clip {
    double clip_norm; /* C */
    double spread;    /* kappa */
};

/* w = 1 if nu_up <= C and M_up <= kappa C, else (1 - 2^-22) min(1, C / nu_up,
 * kappa C / M_up) rounded toward zero: then ||fl(w b) x a|| <= C (noise.md 2.4).
 *   context  struct flat_clip */
clip_rule clip_flat;

struct shared_clip {
    struct flat_clip clip;
    double share; /* in (0, 1] */
};

/* share times clip_flat's factor, less 2^-22 and rounded toward zero if share is below
 * 1: ||fl(w b) x a|| <= share C. It is used for the records of a client that has more
 * records than the client with the fewest (diff2_shards.h).
 *   context  struct shared_clip */
clip_rule clip_shared;

struct automatic_clip {
    double clip_norm; /* C */
    double gamma;     /* > 0, and C / gamma <= CLIP_GAIN_MAX */
    double spread;    /* kappa */
};

/* The largest factor by which a rule may lengthen a gradient: factors are at most 2^64
 * (noise.md 2.4), and must stay far below the largest float32 after scaling. */
#define CLIP_GAIN_MAX 0x1p60

/* w = (1 - 2^-22) min(C / (nu_up + gamma), kappa C / M_up) rounded toward zero, for
 * every record: short ones are lengthened, up to C / gamma times (Bu et al. 2023).
 * ||fl(w b) x a|| <= C by the proof of clip_flat, which needs only that w is at most
 * (1 - 2^-22) C / nu_up.
 *   context  struct automatic_clip */
clip_rule clip_automatic;

struct rest_clip {
    struct flat_clip clip; /* the clip of the first sum */
    double whole;          /* C3: gradients are first clipped to this; 0: not */
    double rest; /* largest norm of a rest: whole - clip_norm; unused if whole is 0 */
};

/* Called after clip_flat of context->clip was applied. Computes w so that w times the
 * record's clipped gradient is the part that clipping cut off. v is the factor of
 * clip_flat, and C its clip norm:
 *   w v = min(min(1, C3 / nu_up, kappa C3 / M_up) - v, rest / nu_up, kappa rest / M_up)
 * less 2^-21 and rounded toward zero, so that with C3 the norm of what was cut off is
 * at most rest: a second rounding to float32 lengthens it by 2^-24 more (noise.md 2.4,
 * proof). w is at least 0.
 *   context  struct rest_clip */
clip_rule clip_rest;

#endif
