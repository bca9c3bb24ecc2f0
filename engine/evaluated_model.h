/*
 * evaluated_model.h - a published model, loaded to be evaluated after its training: on
 * a public dataset (evaluator.h), or on held-out units (holdout_evaluation.h).
 *
 * Both are the functions that a training uses. A record's outputs depend only on the
 * record and the parameters, so the figures are those of the training's own evaluation
 * of the same model.
 *
 * Threads: one caller; it uses a team of the given number of threads.
 */
#ifndef ENGINE_EVALUATED_MODEL_H
#define ENGINE_EVALUATED_MODEL_H

#include "engine/evaluator.h"
#include "engine/holdout_evaluation.h"
#include "engine/predictor.h"

struct evaluated_model; /* opaque */

struct evaluated_model_setup {
    struct predictor_source source; /* borrowed for the call of open */
    /* Rows that a unit takes, as in the model's training (train_spec_unit_rows). */
    size_t unit_rows;
    unsigned threads;          /* 1 to TEAM_SIZE_MAX */
    const atomic_bool *cancel; /* or NULL; borrowed until close */
};

/* *memory = the bytes that evaluating the model takes: its parameters, the workspaces of
 * all threads, and the counts and outputs of a measurement by plan (NULL: none, on a
 * public dataset). It follows from public numbers; the model's file is not read.
 *   ST_INVALID  the model does not compile for the data */
enum status evaluated_model_memory(uint64_t *memory,
                                   const struct evaluated_model_setup *setup,
                                   const struct quality_plan *plan,
                                   struct error *error);

/*   ST_INVALID    the model does not compile for the data
 *   ST_IO, ST_CORRUPT, ST_NO_MEMORY  as predictor_open
 *   ST_NOT_FLOAT_SAFE  floats are not rounded to nearest */
enum status evaluated_model_open(struct evaluated_model **out,
                                 const struct evaluated_model_setup *setup,
                                 struct error *error);
void evaluated_model_close(struct evaluated_model *model); /* NULL is allowed */

/* Evaluates the model on every record of a public matrix.
 *   ST_INVALID  the matrix has other features or targets
 *   others      as evaluator_create and evaluator_run */
enum status evaluated_model_score(struct evaluated_model *model,
                                  const struct matrix *matrix,
                                  struct evaluation *evaluation, struct error *error);

/* Measures the model on held-out units and releases noisy counts.
 *   released    (quality_counts)
 *   ST_INVALID  the matrix has other features or targets
 *   others      as holdout_evaluation_run */
enum status evaluated_model_measure(struct evaluated_model *model,
                                    const struct quality_plan *plan,
                                    const struct matrix *holdout, double *released,
                                    struct error *error);

#endif
