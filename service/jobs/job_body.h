/*
 * job_body.h - the part of a job that its answer, its log and its run need and lists do
 * not need: what it was asked and planned to do, and the results of its run, point by
 * point.
 *
 * The plan is made again from the request rather than read from a second copy;
 * consistency_check.h checks that it charges what was reserved.
 */
#ifndef SERVICE_JOBS_JOB_BODY_H
#define SERVICE_JOBS_JOB_BODY_H

#include "api/views/job_view.h"
#include "service/jobs/job_plan.h"

struct datasets;

struct job_body {
    struct job_plan plan;
    struct trace_context trace; /* trace of the request that submitted it */
    /* Quality measured on a holdout, as JSON; shown once the job SUCCEEDED. */
    char *quality;
    struct evaluation_point *points;   /* (LIMIT_HISTORY), NULL before the first */
    struct released_history *released; /* NULL before the first */
    struct job_log log;
};

struct job_texts { /* of a job's row (store/rows/job_rows.h) */
    const char *spec, *detail;
    /* If so, no points are added any more, and the model is not compiled. */
    bool has_ended;
};

/* Creates an empty body. */
struct job_body *job_body_create(void);
void job_body_destroy(struct job_body *body); /* NULL is allowed */

/* Reads the body from the row's texts. detail receives what else the texts say; the
 * body has taken over from detail what it owns.
 *   ST_CORRUPT, ST_INVALID  this program did not write these texts; nothing is left */
enum status job_body_read(struct job_body **out, struct job_detail *detail,
                          const struct job_texts *texts, struct datasets *datasets,
                          struct error *error);

#endif
