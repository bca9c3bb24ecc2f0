/*
 * job_body.h - what of a job its answer, its log and its run need, and lists do not: what
 * it was asked and planned to do, and what its run has come to, point by point.
 *
 * The plan is made again rather than read from a second copy; inventory.h sees that it
 * charges what was reserved.
 */
#ifndef SERVICE_JOB_BODY_H
#define SERVICE_JOB_BODY_H

#include "api/job_view.h"
#include "service/datasets.h"
#include "service/job_plan.h"

struct job_body {
    struct job_plan plan;
    struct trace_context trace; /* of the request that submitted it */
    char
        *quality; /* what was measured on a holdout, as JSON; shown once it SUCCEEDED */
    struct evaluation_point *points;   /* (LIMIT_HISTORY), NULL before the first */
    struct released_history *released; /* NULL before the first */
    struct job_log log;
};

struct job_texts { /* of a job's row (store/job_rows.h) */
    const char *spec, *detail;
    bool has_ended; /* then nothing is added to its points, and its model is not compiled */
};

/* A body without anything in it. */
struct job_body *job_body_create(void);
void job_body_destroy(struct job_body *body); /* NULL is allowed */

/* Reads the body from the row's texts; what the texts say beside it is in detail, of which
 * the body has taken what it owns.
 *   ST_CORRUPT, ST_INVALID  the texts are not what this program wrote; nothing is left */
enum status job_body_read(struct job_body **out, struct job_detail *detail,
                          const struct job_texts *texts, struct datasets *datasets,
                          struct error *error);

#endif
