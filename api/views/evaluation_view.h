/*
 * evaluation_view.h - an evaluation of a published model, in responses and as stored:
 * what was requested, its cost, and its result.
 *
 *   "evaluation"  as requested: the id of a public dataset, or a holdout
 *   "guarantee"   the cost; null on a public dataset, where it is free
 *   "scores"      on a public dataset {"loss","accuracy"} or {"loss","rmse"}; else null
 *   "quality"     on a holdout, as quality_view.h says; else null
 *
 * The result is rendered once, when it is released, and stored as text.
 */
#ifndef API_VIEWS_EVALUATION_VIEW_H
#define API_VIEWS_EVALUATION_VIEW_H

#include <stdbool.h>

#include "accountant/ledger/entry.h"
#include "base/mechanism.h"
#include "engine/evaluator.h"
#include "engine/quality/quality_plan.h"
#include "store/rows/statistics_rows.h"

struct outlook;

struct evaluation_guarantee { /* the charge for a holdout, public before it is read */
    const struct mechanism *mechanism;
    const struct quality_plan *quality;
    double epsilon, delta;
    const struct ledger_entry_name *reserve;
};

/* Renders the guarantee, to be freed: "part", "records", "relation", "unit", "epsilon",
 * "delta", "mechanism", "noise_multiplier", "deviation", "reserve", "version". */
char *evaluation_guarantee_render(const struct evaluation_guarantee *guarantee);

struct evaluation_estimate { /* what an evaluation would cost */
    const struct dataset_id *dataset;
    /* The price of a look at a holdout; outlook NULL: it is free. */
    const struct quality_plan *quality;
    double epsilon;
    const struct outlook *outlook;
};

/* Renders {"dataset","measurement"}, to be freed; "measurement" as in the estimate of a
 * job, null if it is free. */
char *evaluation_estimate_render(const struct evaluation_estimate *estimate);

/* Renders the scores on a public dataset, to be freed.
 *   half_range  of a regression: half the target's range, in the label's unit; 0: a
 *               classification */
char *evaluation_scores_render(const struct evaluation *evaluation, double half_range);

/* Renders an evaluation, to be freed. project is its dataset's. If the row has no
 * answers, "scores" and "quality" are null. */
char *evaluation_render(const struct statistics_row *row, const char *project);

#endif
