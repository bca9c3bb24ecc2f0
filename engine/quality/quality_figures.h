/*
 * quality_figures.h - how good a model is, from the noisy vector of quality_plan.h and
 * public numbers alone: whatever is computed here costs nothing more. Each figure has a
 * 95 % interval that covers both the noise and that the records held out are a sample.
 *
 *   accuracy     correct / records, correct the sum of the confusion's diagonal
 *   of a class   precision TP / (TP + FP), recall TP / (TP + FN), and F1, which is
 *                2 J / (1 + J) with J = TP / (TP + FP + FN)
 *   auc          of two classes: the area under the ROC curve of the binned scores, ties
 *                within a bin count half; deviation by the delta method over bins
 *                (DeLong 1988), each bin's noise added
 *   calibration  of each bin the share of the event among its records
 *   rmse         sqrt(E c^2 / records), E the noisy sum of clipped squares. A square is in
 *                [0, c^2], so the variance of a mean m c^2 is at most m (1 - m) c^4
 *                (Bhatia and Davis 2000), which is what is taken
 *   r_squared    1 - mse / variance of y, by the delta method with the same bound
 *
 * What the noise leaves undecided is not known, and says so.
 *
 * Threads: pure.
 */
#ifndef ENGINE_QUALITY_QUALITY_FIGURES_H
#define ENGINE_QUALITY_QUALITY_FIGURES_H

#include "engine/quality/quality_interval.h"
#include "engine/quality/quality_plan.h"

struct quality_of_class {
    struct quality_interval precision, recall, f1;
};

struct quality_bin { /* of scores */
    double count;    /* noisy, and maybe negative */
    struct quality_interval share;
};

struct quality_figures {
    struct quality_interval accuracy, auc;   /* of a classification */
    struct quality_interval rmse, r_squared; /* of a regression; mapped units */
    struct quality_of_class of_class[QUALITY_CLASSES_MAX];
    struct quality_bin bins[QUALITY_BINS];
};

/* released  (quality_counts) the noisy vector, in records */
void quality_figures_of(struct quality_figures *figures,
                        const struct quality_plan *plan, const double *released);

#endif
