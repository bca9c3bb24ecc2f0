/*
 * loss_composition.h - the privacy losses of all steps of a mechanism, composed on a grid
 * that was chosen before (pld.c), and the epsilon that follows. Inside accountant only.
 *
 * Threads: pure.
 */
#ifndef ACCOUNTANT_PRICING_LOSS_COMPOSITION_H
#define ACCOUNTANT_PRICING_LOSS_COMPOSITION_H

#include <stddef.h>

#include "accountant/mechanisms/privacy_loss.h"
#include "accountant/numeric/saddle.h"

enum { LOSS_CELLS_MAX = 1 << 22 }; /* of the measure of one step */

/* A direction of the comparison. */
struct loss_side {
    enum privacy_loss_direction direction;
    struct saddle *saddle;      /* owned */
    double tilt;                /* of the window */
    double top, bottom;         /* losses at which the window ends */
    double top_tilt, tilt_most; /* of the bound beyond the top; the most there may be */
    double log_moment, log_moment_top; /* of the composed grid measure, at both tilts */
    double infinite, misplaced;        /* summed over steps */
    double rounding;                   /* relative, of the composed tilted measure */
    double error;                      /* absolute, of each place of the transform */
    double epsilon, slope;             /* the answer; -d log delta / d epsilon there */
};

struct loss_composition {
    size_t part_count, side_count;
    struct saddle_part *parts; /* owned */
    struct loss_side sides[2];
    double delta, steps;
    double effort;          /* work that may still be done (pld.h) */
    double wanted, spacing; /* spacing of the grid: the one that accuracy needs, and the
                             * actual one */
    size_t window, window_max; /* places; the most that the effort allows */
    struct fft *fft;
    double *real, *imaginary;           /* (window) composed spectrum, packed; owned */
    double *step_real, *step_imaginary; /* (window) spectrum of one part; owned */
    double *errors[2]; /* (window) bounds on the composed spectrum; owned */
};

/* Composes the losses on the grid that was placed, and answers both sides: the least
 * epsilon at which delta, with all bounds, is at most c->delta. Returns the side that
 * costs more, or NULL without memory. */
const struct loss_side *loss_composition_answer(struct loss_composition *c);

void loss_composition_fini(struct loss_composition *c);

#endif
