/*
 * job_view.h - a job in API responses (api.md 3), and the state of it that is stored
 * next to its request.
 */
#ifndef API_VIEWS_JOB_VIEW_H
#define API_VIEWS_JOB_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/http/trace_context.h"
#include "api/json/json_writer.h"
#include "api/limits.h"
#include "api/requests/job_log.h"
#include "api/requests/job_request.h"
#include "api/requests/sweep_run.h"
#include "api/views/quality_view.h"
#include "api/views/released_view.h"

struct evaluation_point {
    uint64_t step;
    double loss, quality; /* accuracy, or rmse in the label's unit */
};

struct job_view {
    const struct job_id *id;
    const struct caption *caption;    /* not part of what is stored; NULL: none */
    const char *state, *state_reason; /* reason or NULL */
    uint32_t attempt;
    const struct job_request *request; /* resolved */
    const struct sweep_run *sweep;     /* the sweep of this run; NULL or zeroed: none */
    uint64_t step, steps;
    bool is_private; /* false: "privacy" is null */
    double noise_multiplier, sampling_rate, epsilon_planned, epsilon_spent;
    uint64_t authorised_steps, ledger_seq; /* seq of RESERVE; 0 is null */
    double measurement_noise; /* noise multiplier of the evaluation on a holdout */
    uint64_t measurement_seq; /* of that evaluation's RESERVE; 0: there is none */
    const char *quality;      /* JSON (quality_view.h), once it may be shown; or NULL */
    /* The newest score on the holdout that may be shown; or NULL. Not stored. */
    const struct holdout_score *holdout;
    bool regression;
    size_t point_count;
    const struct evaluation_point *points; /* oldest first */
    size_t released_count; /* number of points of released that may be shown */
    const struct released_history *released;
    const struct model_id *model; /* once published, or NULL */
    bool model_is_gone;           /* it was deleted, and is no longer in responses */
    const struct model_id *drawn; /* the id reserved for its model; not in responses */
    const struct job_log *log;    /* NULL: none is stored */
    int64_t create_ms, start_ms, cancel_ms, end_ms;
    uint64_t queue_position, seconds_left; /* 0 is null */
    const char *project, *created_by; /* the owner's name; NULL is null; never stored */
    const char *traceparent; /* of the request that submitted the job; "" is null */
};
/* Renders a job. The member "privacy" holds what was asked for: "epsilon", which is
 * null if a noise multiplier or a fraction was named instead, and "budget_fraction",
 * only if one was named. */
char *job_render(const struct job_view *view);
/* Renders a line of a list: the same without "history" and "released" in
 * its "metrics". */
char *job_summary_render(const struct job_view *view);

/* Writes an object: "step", then "accuracy" or "rmse", "loss". */
void evaluation_point_write(struct json_writer *writer, const char *name,
                            bool regression, const struct evaluation_point *point);

/* Renders figures, progress, metrics and times, which are read back at startup. */
char *job_detail_render(const struct job_view *view);
struct job_detail {
    char state_reason[24]; /* "" for null */
    uint64_t step, authorised_steps, ledger_seq;
    double noise_multiplier, sampling_rate, epsilon_planned, epsilon_spent;
    double measurement_noise;
    uint64_t measurement_seq;
    char *quality; /* or NULL; to be freed */
    size_t point_count;
    struct evaluation_point points[LIMIT_HISTORY];
    struct released_history *released; /* or NULL; to be freed */
    bool has_model, has_drawn;         /* jobs of earlier versions have no drawn id */
    bool model_is_gone;
    struct model_id model, drawn;
    struct job_log log; /* to be released */
    int64_t start_ms, cancel_ms, end_ms;
    struct trace_context trace; /* empty for jobs of earlier versions */
    struct sweep_run sweep;     /* to be released; empty for earlier versions' jobs */
};
/* Parses what job_detail_render made.
 *   ST_INVALID  not such a text */
enum status job_detail_parse(struct job_detail *detail, const char *text,
                             struct error *error);

#endif
