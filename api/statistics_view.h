/*
 * statistics_view.h - a survey, which is one request of statistics, as answered and as
 * kept: what was asked, what it costs, and what came of it.
 *
 * Answers are rendered once, when they are released, and kept as text: the integers that
 * were summed are in nobody's memory afterwards. Each value comes with an interval of 95 %
 * (engine/statistics/interval.h); counts of one statistic share one margin.
 */
#ifndef API_STATISTICS_VIEW_H
#define API_STATISTICS_VIEW_H

#include <stdbool.h>

#include "accountant/figures.h"
#include "accountant/ledger_view.h"
#include "engine/statistics/interval.h"
#include "store/survey_rows.h"

struct survey_guarantee { /* what a survey is charged, public before it runs */
    const struct mechanism *mechanism;
    const struct measurement *measurement;
    struct figure figure; /* at delta */
    double delta;
    const struct ledger_entry_name *reserve;
};

/* Renders it, to be freed: "relation", "unit", "epsilon", "delta", "accountant", "order",
 * "mechanism", "noise_multiplier", "distance", "deviation", "reserve", "version". */
char *survey_guarantee_render(const struct survey_guarantee *guarantee);

/* Renders what was released of resolved statistics, an array beside theirs, to be freed.
 *   schema  says the declared values
 *   NULL    there was no memory for it */
char *statistics_answers_render(const struct measurement *measurement,
                                const struct statistics *statistics,
                                const struct schema *schema, const double *released);

/* Renders a survey, to be freed. project is its dataset's. Where the row has no answers,
 * "answers" is null. */
char *survey_render(const struct survey_row *row, const char *project);

struct survey_estimate { /* what a survey would cost; it changes nothing */
    enum ledger_fits fits;
    const struct outlook *outlook;
    const struct mechanism *mechanism;
    const struct measurement *measurement;
    const struct statistics *statistics; /* resolved */
    struct figure figure;
    double delta;
};

/* Renders it, to be freed: for each statistic the margins that its answers will have, of
 * a variance and quantiles in what they are made of. */
char *survey_estimate_render(const struct survey_estimate *estimate);

#endif
