/*
 * run_quality.h - the text of a run's quality on its holdout, for jobs and
 * certificates.
 *
 * Threads: the run's.
 */
#ifndef SERVICE_RUN_QUALITY_H
#define SERVICE_RUN_QUALITY_H

struct context;
struct job;

/* Returns the text of the released counts (quality_counts of the job's plan), to be
 * freed. The evaluation must have its reservation. */
char *run_quality_text(struct context *context, const struct job *job,
                       const double *released);

#endif
