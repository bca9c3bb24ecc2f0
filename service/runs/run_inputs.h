/*
 * run_inputs.h - opens the inputs of a job's run: the records to train on, the records
 * to evaluate the model on, and the weights that it starts from.
 *
 * Threads: the run's.
 */
#ifndef SERVICE_RUNS_RUN_INPUTS_H
#define SERVICE_RUNS_RUN_INPUTS_H

#include "service/planning/initial_weights.h"
#include "service/runs/standardise_wait.h"
#include "service/runs/verified_matrix.h"

struct daemon_state;
struct job;

struct run_inputs { /* zeroed: nothing is open */
    struct verified_matrix data;
    struct verified_matrix evaluation; /* a public dataset, or the holdout */
    struct rescaling rescaling;        /* of both matrices, if the job names ranges */
    struct initial_weights weights;    /* if the model starts from any */
    struct standardise_numbers standardise; /* if the job standardises */
};

/* Opens the inputs that the job's plan names. The stop flag of the job ends it early.
 * On failure some may be open: run_inputs_close must be called in any case.
 *   ST_MODEL_CORRUPT    the weights are gone, or have changed
 *   ST_DATASET_CORRUPT  a matrix is not what was imported
 *   ST_CANCELLED        the job was stopped
 *   ST_INTERNAL         the moments that it standardises by have failed */
enum status run_inputs_open(struct run_inputs *inputs, struct daemon_state *context,
                            struct job *job, struct error *error);
void run_inputs_close(struct run_inputs *inputs, struct daemon_state *context);

#endif
