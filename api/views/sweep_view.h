/*
 * sweep_view.h - a sweep in API responses, and its estimate.
 */
#ifndef API_VIEWS_SWEEP_VIEW_H
#define API_VIEWS_SWEEP_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/requests/sweep_run.h"
#include "api/views/job_view.h"

/* Returns "ENDED" or "ACTIVE". */
const char *sweep_state_name(bool ended);

struct sweep_line { /* one run */
    const struct sweep_run *run;
    const struct job_id *job; /* NULL in an estimate */
    const char *state;
    uint64_t step, steps;
    double epsilon_planned, epsilon_spent, noise_multiplier;
    bool evaluated;
    struct evaluation_point evaluation; /* the last one, if it was evaluated */
    struct holdout_score holdout; /* the newest, charged; not known: there is none */
    bool has_model;
    struct model_id model;
};

struct sweep_view {
    const struct sweep_id *id;
    const char *dataset, *evaluation; /* evaluation NULL: none */
    const char *project, *created_by;
    int64_t create_ms;
    bool is_private, regression, ended;
    uint64_t runs;  /* number of runs that it was made with */
    double epsilon; /* of all runs together, as reserved */
    /* The epsilon spent by the runs that still exist, together, and the delta of both
     * epsilons; NaN: not known. */
    double epsilon_spent, delta;
    const char *const *state_names;
    const size_t *by_state; /* (state_count) of the runs that still exist */
    size_t state_count;
    const struct sweep_line *lines; /* (line_count) */
    size_t line_count;
    const struct sweep_line *winner; /* NULL: none yet */
};

enum sweep_extent {
    SWEEP_WHOLE,
    SWEEP_SUMMARY /* a line of a list: without "epsilon_spent", "delta" and "runs" */
};

/* Renders {"id","dataset","evaluation","state","states","epsilon",
 * "epsilon_spent","delta","metric","winner","winner_model","winner_metrics":{...},
 * "run_count","runs":[...],"project","created_by","create_time"} */
char *sweep_render(const struct sweep_view *view, enum sweep_extent extent);

struct sweep_estimate {
    const char *fits; /* as in an estimate of a job */
    bool is_private;
    double epsilon;         /* of all runs together */
    double epsilon_after;   /* of the dataset's budget, with what is spent and held */
    double epsilon_holdout; /* of all evaluations on the holdout together; 0: none */
    double delta;           /* of the grant */
    const struct sweep_line *lines;
    size_t line_count;
};

/* Renders {"fits","epsilon","epsilon_after","epsilon_holdout","delta","run_count",
 * "runs":[...]} */
char *sweep_estimate_render(const struct sweep_estimate *estimate);

/* Renders {"dataset","runs","epsilon"} for the audit trail. */
char *sweep_act_render(const char *dataset, size_t runs, double epsilon);

#endif
