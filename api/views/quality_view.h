/*
 * quality_view.h - the quality of a model on held-out records, in jobs, models
 * and certificates.
 *
 *   "part":"holdout", "records", "epsilon", "delta", "relation", "unit", "mechanism",
 *   "reserve"
 *   "deviation"       of the noise on a count
 *   "accuracy", "auc", "rmse", "r_squared"   each {"value","low","high"}, or null
 *   "classes"         of each {"precision","recall","f1"}; empty for a regression
 *   "calibration"     of each bin of scores {"from","to","count","share"}
 *   "confusion"       noisy counts, a row for each true class
 *   "error_clip", "residuals"                for a regression: noisy counts by bins
 */
#ifndef API_VIEWS_QUALITY_VIEW_H
#define API_VIEWS_QUALITY_VIEW_H

#include "accountant/ledger/entry.h"
#include "engine/quality/quality_plan.h"

struct quality_view {
    const struct quality_plan *plan;
    const double *released; /* (quality_counts) */
    enum privacy_unit unit; /* the unit that was held out */
    double epsilon, delta;  /* only of this measurement */
    const char *mechanism;  /* canonical text */
    struct ledger_entry_name reserve;
    /* of a regression: half the target's range, in the label's unit */
    double half_range;
};

/* Renders the object as text, to be freed. */
char *quality_render(const struct quality_view *view);

/* Returns the accuracy in such a text, or, for a regression, the rmse; NaN if it
 * has none. */
double quality_figure(const char *text, bool regression);

#endif
