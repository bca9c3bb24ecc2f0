/*
 * quality_figures.h - quality figures of a model, computed only from the noisy vector
 * of quality_plan.h and public numbers, so they cost no further budget. Each figure has
 * a 95 % interval that accounts for the noise and for the held-out records being a
 * sample.
 *
 *   accuracy     correct / records, correct the sum of the confusion's diagonal
 *   of a class   precision TP / (TP + FP), recall TP / (TP + FN), and F1, which is
 *                2 J / (1 + J) with J = TP / (TP + FP + FN)
 *   auc          of two classes: the area under the ROC curve of the binned scores,
 *                ties within a bin count half; deviation by the delta method over bins
 *                (DeLong 1988), each bin's noise added
 *   calibration  for each bin, the share of records with the event
 *   thresholds   for the lower end of each bin, what holds of the records whose score is
 *                not below it: the share of them with the event (precision), their
 *                share of all records with the event (recall), and their share of all
 *                records (selected). With two classes this is the precision-recall
 *                curve of class 1
 *   rmse         sqrt(E c^2 / records), E the noisy sum of clipped squares. A square is
 *                in [0, c^2], so the variance of a mean m c^2 is at most m (1 - m) c^4
 *                (Bhatia and Davis 2000), and this bound is used
 *   r_squared    1 - mse / variance of y, by the delta method with the same bound
 *
 * A figure that the noise does not allow to determine is marked as not known.
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
    double count;    /* noisy, may be negative */
    struct quality_interval share;
};

struct quality_threshold {
    struct quality_interval precision, recall, selected;
};

struct quality_figures {
    struct quality_interval accuracy, auc;   /* of a classification */
    struct quality_interval rmse, r_squared; /* of a regression; mapped units */
    struct quality_of_class of_class[QUALITY_CLASSES_MAX];
    struct quality_bin bins[QUALITY_BINS];
    struct quality_threshold thresholds[QUALITY_BINS]; /* at the lower end of each */
};

/* released  (quality_counts) the noisy vector, in records */
void quality_figures_of(struct quality_figures *figures,
                        const struct quality_plan *plan, const double *released);

#endif
