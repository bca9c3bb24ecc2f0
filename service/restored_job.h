/*
 * restored_job.h - a job from its row, at a start: the request from its text, the plan
 * from the request and the dataset's facts, and what was last written of its run.
 *
 * The plan is made again rather than read from a second copy; inventory.h sees that it
 * charges what was reserved.
 */
#ifndef SERVICE_RESTORED_JOB_H
#define SERVICE_RESTORED_JOB_H

#include "service/datasets.h"
#include "service/job.h"
#include "store/table_rows.h"

/* The caller owns *out, to be released with job_destroy.
 *   ST_CORRUPT, ST_INVALID  the row is not one that this program wrote; nothing is left */
enum status restored_job_create(struct job **out, const struct job_row *row,
                                struct datasets *datasets, struct error *error);

#endif
