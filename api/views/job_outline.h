/*
 * job_outline.h - the summary of a job that has ended, as needed by lists, their
 * filters and orders, and the check of all rows at startup. It is extracted from the
 * stored texts (job_view.h, job_request.h) by json_scan.h, in a tenth of the time
 * that parsing them fully takes.
 *
 * Threads: any.
 */
#ifndef API_VIEWS_JOB_OUTLINE_H
#define API_VIEWS_JOB_OUTLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/views/job_view.h"

struct job_outline {
    struct dataset_id dataset;
    const struct algorithm *algorithm;
    bool is_measured;      /* it was, or should have been, measured on a holdout */
    char state_reason[24]; /* "" for null */
    uint64_t step, authorised_steps, ledger_seq, measurement_seq;
    double epsilon_planned, epsilon_spent;
    struct quality_score score; /* of the job's own measurement on the holdout */
    size_t point_count, released_count;
    struct evaluation_point last; /* the last point, if there are any */
    bool has_model, has_drawn, model_is_gone;
    struct model_id model, drawn;
    bool is_run; /* it is a run of a sweep */
    struct sweep_id sweep;
    int64_t start_ms, cancel_ms, end_ms;
};

/* Returns the outline of a job that was parsed fully. */
struct job_outline job_outline_of(const struct job_request *request,
                                  const struct job_detail *detail);

/* Reads the outline from what is stored of a job; the result is the same.
 *   false  the texts are not understood: the caller must parse them fully, which
 *          reports what is wrong with them, if anything is */
bool job_outline_read(struct job_outline *outline, const char *spec,
                      const char *detail);

#endif
