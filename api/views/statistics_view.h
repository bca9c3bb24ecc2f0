/*
 * statistics_view.h - a survey, which is one request for statistics, in responses and
 * as stored: what was requested, its cost, and its answers.
 *
 * Answers are rendered once, when they are released, and stored as text: afterwards no
 * process has the summed integers in memory. Each value comes with a 95 % interval
 * (engine/statistics/interval.h); counts of one statistic share one margin.
 */
#ifndef API_VIEWS_STATISTICS_VIEW_H
#define API_VIEWS_STATISTICS_VIEW_H

#include <stdbool.h>

#include "accountant/ledger/ledger_view.h"
#include "accountant/pricing/figures.h"
#include "engine/statistics/interval.h"
#include "engine/statistics/word_counts.h"
#include "store/rows/statistics_rows.h"

struct survey_guarantee { /* the charge for a survey, public before it runs */
    const struct mechanism *mechanism;
    const struct measurement *measurement;
    struct figure figure; /* at delta */
    double delta;
    const struct ledger_entry_name *reserve;
};

/* Renders the guarantee, to be freed: "relation", "unit", "epsilon", "delta",
 * "accountant", "order", "mechanism", "noise_multiplier", of words "discovery_delta" and
 * "threshold", "distance", "deviation", "reserve", "version". */
char *survey_guarantee_render(const struct survey_guarantee *guarantee);

/* Renders the released values of resolved statistics, as an array parallel to theirs,
 * to be freed.
 *   schema  gives the declared values
 *   NULL    there was no memory for it */
char *statistics_answers_render(const struct measurement *measurement,
                                const struct statistics *statistics,
                                const struct schema *schema, const double *released);

/* Renders the words that a discovery has found, in the same form.
 *   NULL  there was no memory for it */
char *statistics_words_render(const struct statistic *statistic,
                              const struct mechanism *mechanism,
                              const struct word_counts *words);

/* Renders a survey, to be freed. project is its dataset's. If the row has no answers,
 * "answers" is null. */
char *survey_render(const struct statistics_row *row, const char *project);

struct survey_estimate { /* the cost of a survey; an estimate changes nothing */
    enum ledger_fits fits;
    const struct outlook *outlook;
    const struct mechanism *mechanism;
    const struct measurement *measurement;
    const struct statistics *statistics; /* resolved */
    struct figure figure;
    double delta;
};

/* Renders the estimate, to be freed: for each statistic the margins of its answers; for
 * a variance and quantiles, the margins of the values that they are computed from. */
char *survey_estimate_render(const struct survey_estimate *estimate);

#endif
