/*
 * run_quality.h - the text of a run's quality on its holdout, for jobs and
 * certificates.
 *
 * Threads: the run's.
 */
#ifndef SERVICE_RUNS_RUN_QUALITY_H
#define SERVICE_RUNS_RUN_QUALITY_H

struct daemon_state;
struct job;

/* Returns the text of the released counts (quality_counts of the job's plan), to be
 * freed. The evaluation must have its reservation. */
char *run_quality_text(struct daemon_state *context, const struct job *job,
                       const double *released);

#endif
