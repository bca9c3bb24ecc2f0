/*
 * run_quality.h - what a run measured on its holdout, as jobs and certificates show it.
 *
 * Threads: the run's.
 */
#ifndef SERVICE_RUN_QUALITY_H
#define SERVICE_RUN_QUALITY_H

#include "service/context.h"
#include "service/jobs.h"

/* The text of the released counts (quality_counts of the job's plan), to be freed. The
 * evaluation has its reservation. */
char *run_quality_text(struct context *context, const struct job *job,
                       const double *released);

#endif
