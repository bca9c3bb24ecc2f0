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
 *   "thresholds"      of the lower end of each bin {"threshold","precision","recall",
 *                     "selected"}; empty for a regression
 *   "confusion"       noisy counts, a row for each true class
 *   "error_clip", "residuals"                for a regression: noisy counts by bins
 */
#ifndef API_VIEWS_QUALITY_VIEW_H
#define API_VIEWS_QUALITY_VIEW_H

#include <stdbool.h>

#include "accountant/ledger/entry.h"
#include "api/json/json_writer.h"
#include "base/id.h"
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

/* The figure by which lists and orders compare models: the accuracy of a classifier, or
 * the rmse of a regression, with its 95 % interval. */
struct quality_score {
    bool is_known; /* false: there is none, and the numbers are 0 */
    double value, low, high;
};

/* Reads the score from such a text. It is not known if the text has none. */
struct quality_score quality_score_read(const char *text);

struct holdout_score { /* the newest score of a job's model on its dataset's holdout */
    struct quality_score score;
    /* The evaluation after the training that released it; "": the job itself did. */
    struct survey_id evaluation;
};

/* Writes the object {"metric","value","low","high","evaluation"}, or null if the score
 * is NULL or not known. */
void holdout_score_write(struct json_writer *writer, const char *name, bool regression,
                         const struct holdout_score *score);

#endif
