/*
 * job_load.h - makes a job from its row, at a start. A job that has ended is made from
 * the outline of its row (api/views/job_outline.h), and its body is read at its first
 * use (job_text.h). A job whose outline is missing or that has not ended is read
 * completely.
 */
#ifndef SERVICE_JOBS_JOB_LOAD_H
#define SERVICE_JOBS_JOB_LOAD_H

#include "service/jobs/job.h"
#include "service/jobs/jobs_base.h"
#include "store/rows/job_rows.h"

/* The caller owns *out, to be released with job_destroy.
 *   ST_CORRUPT, ST_INVALID  this program did not write the row; nothing is left */
enum status job_load_create(struct job **out, const struct job_row *row,
                            const struct jobs_base *base, struct error *error);

#endif
