/*
 * job_outline.h - of a job that has ended, what lists, their filters and orders, and the
 * check of all rows at a start need: taken from what is stored of it (job_view.h,
 * job_request.h) at a glance, a tenth of what reading all of it takes.
 *
 * Threads: any.
 */
#ifndef API_JOB_OUTLINE_H
#define API_JOB_OUTLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/job_view.h"

struct job_outline {
    struct dataset_id dataset;
    const struct algorithm *algorithm;
    bool is_measured; /* on a holdout, or was to be */
    char state_reason[24]; /* "" for null */
    uint64_t step, authorised_steps, ledger_seq, measurement_seq;
    double epsilon_planned, epsilon_spent;
    size_t point_count, released_count;
    struct evaluation_point last; /* of the points, if there are any */
    bool has_model, has_drawn, model_is_gone;
    struct model_id model, drawn;
    bool is_run; /* of a sweep */
    struct sweep_id sweep;
    int64_t start_ms, cancel_ms, end_ms;
};

/* The outline of a job that was read whole. */
struct job_outline job_outline_of(const struct job_request *request,
                                  const struct job_detail *detail);

/* The outline of a job by what is stored: the same.
 *   false  a glance does not tell: it is to be read whole, which tells what is wrong with
 *          it, if anything is */
bool job_outline_read(struct job_outline *outline, const char *spec,
                      const char *detail);

#endif
