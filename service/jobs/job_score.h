/*
 * job_score.h - the score of a job's model on the holdout of the job's dataset: the
 * figure by which lists compare models (quality_view.h). Every score was released for a
 * charge of its own, so showing it, sorting by it and choosing by it is free.
 *
 * The score of a job is that of the newest evaluation of its model on that holdout
 * (POST /v1/models/{id}:evaluate); if there is none, or if the model was deleted, it is
 * that of the job's own evaluation. Evaluations on other datasets never count. Of two
 * evaluations, the newer is the one that ended later, or that has the greater id if
 * they ended at the same time. So the store alone decides, and all daemons agree.
 *
 * The store has no column for scores: they are read from the job's detail and from the
 * survey's answers, and kept in memory with the jobs, which lists are sorted from.
 *
 * Threads: any.
 */
#ifndef SERVICE_JOBS_JOB_SCORE_H
#define SERVICE_JOBS_JOB_SCORE_H

#include <stdbool.h>
#include <stdint.h>

#include "api/views/quality_view.h"

struct job;
struct jobs;
struct store_tx;

/* *score = the job's score that is shown.
 *   false  there is none, and *score is zeroed */
bool job_score(struct jobs *jobs, const struct job *job, struct holdout_score *score);

/* *figure = the number by which lists order jobs by quality: the score that is shown, or
 * else the accuracy or rmse of the last evaluation on a public dataset, which may be
 * NaN.
 *   false  there is neither */
bool job_figure(struct jobs *jobs, const struct job *job, double *figure);

/* Reads the newest score of each model from the rows of evaluations, at a start.
 *   ST_CORRUPT  a row does not read back; the error names it
 *   ST_IO       the store cannot be read */
enum status job_scores_load(struct jobs *jobs, struct store_tx *tx,
                            struct error *error);

struct later_score { /* of an evaluation on a holdout that has ended; borrowed */
    const struct survey_id *evaluation;
    const struct model_id *model;
    const struct dataset_id *dataset;
    const char *quality; /* JSON, as released */
    int64_t end_ms;
};

/* Shows the score once tx is durable, if it is the newest of a job on that dataset.
 * Lists and the job then have new versions, and waiting requests are woken. */
void job_scores_add(struct jobs *jobs, struct store_tx *tx,
                    const struct later_score *later);

/* Shows the score of the evaluation of that id, whose row another daemon has written.
 * Does nothing if the row is of anything else.
 *   ST_CORRUPT  the row does not read back
 *   ST_IO       the store is poisoned */
enum status job_scores_renew(struct jobs *jobs, struct store_tx *tx, const char *id,
                             struct error *error);

#endif
