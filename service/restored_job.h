/*
 * restored_job.h - a job from its row, at a start. One that has ended is made of the
 * outline of its row (api/job_outline.h), and its body is read when somebody asks for it
 * (job_kept.h); one whose outline does not tell, and one that has not ended, is read whole.
 */
#ifndef SERVICE_RESTORED_JOB_H
#define SERVICE_RESTORED_JOB_H

#include "service/job.h"
#include "service/jobs_base.h"
#include "store/job_rows.h"

/* The caller owns *out, to be released with job_destroy.
 *   ST_CORRUPT, ST_INVALID  the row is not one that this program wrote; nothing is left */
enum status restored_job_create(struct job **out, const struct job_row *row,
                                const struct jobs_base *base, struct error *error);

#endif
