/*
 * evaluation_run.h - the work of an evaluation of a published model, which
 * statistics_runner runs as it runs statistics: the model is opened before anything is
 * authorised, so that a model that is gone costs nothing; the records are read
 * afterwards, once.
 *
 * Threads: the run's.
 */
#ifndef SERVICE_RUNS_EVALUATION_RUN_H
#define SERVICE_RUNS_EVALUATION_RUN_H

#include "base/status.h"
#include "engine/data/rescaling.h"
#include "engine/evaluated_model.h"

struct daemon_state;
struct matrix;
struct statistics_run;

struct evaluation_run { /* zeroed: nothing is open */
    struct evaluated_model *model;
    struct rescaling rescaling; /* of the records, if the model's job names ranges */
};

/* Opens the model of the survey, which is an evaluation. The survey's stop flag ends it
 * early. On failure evaluation_run_close must be called too.
 *   ST_MODEL_CORRUPT   the model was deleted, or is not what its row says
 *   ST_NO_MEMORY, ST_DISK_FULL, ST_CANCELLED, ST_INTERNAL */
enum status evaluation_run_open(struct evaluation_run *run,
                                struct daemon_state *context,
                                const struct statistics_run *survey,
                                struct error *error);
void evaluation_run_close(struct evaluation_run *run);

/* Evaluates the model on the matrix of the survey's dataset: on every record if the
 * survey is free, else on the holdout with noise. The step of the latter must be
 * authorised. *result is the text of the result, owned by the caller.
 *   others  as evaluated_model_score and evaluated_model_measure */
enum status evaluation_run_read(struct evaluation_run *run,
                                struct daemon_state *context,
                                const struct statistics_run *survey,
                                struct matrix *matrix, char **result,
                                struct error *error);

#endif
