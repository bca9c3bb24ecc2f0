/*
 * predictor.h - a published model, loaded to answer predict.
 *
 * Threads: predictor_run may be called by one thread at a time on one predictor.
 */
#ifndef ENGINE_PREDICTOR_H
#define ENGINE_PREDICTOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/data/schema.h"
#include "engine/model_file/model_values.h"
#include "engine/nn/model_spec.h"

struct predictor; /* opaque */

/* The arguments of predictor_open, which borrows them during the call; the shared bodies
 * of the files until the predictor is closed. */
struct predictor_source {
    struct model_source files;
    const struct model_spec *model;
    struct data_shape data; /* shape of the data that the model was trained on */
};

/* Reads the tensors of the model from its file.
 *   ST_INVALID  the model does not compile for the data
 *   ST_IO       cannot be read
 *   ST_CORRUPT  another checksum, not safetensors, or not the tensors of the model
 *   ST_NO_MEMORY  the parameters do not fit */
enum status predictor_open(struct predictor **out,
                           const struct predictor_source *source, struct error *error);
void predictor_close(struct predictor *predictor); /* NULL is allowed */

/* The bytes of memory that the predictor takes, without a shared body. */
size_t predictor_size(const struct predictor *predictor);
/* The body that it shares with other models, or NULL. */
const struct shared_body *predictor_body(const struct predictor *predictor);

/* Floating-point operations of one row. The model need not be opened.
 *   ST_INVALID  as predictor_open */
enum status predictor_flops(double *flops, const struct model_spec *model,
                            struct data_shape data, struct error *error);

/* Rows are predicted in blocks: PREDICTOR_ROWS of them cost as much as one. */
enum { PREDICTOR_ROWS = 64 };

/* (PREDICTOR_ROWS, features) float32, rows *stride floats apart: the caller writes the
 * encoded features of its rows, of all of them before each run. */
float *predictor_input(struct predictor *predictor, size_t *stride);

/* Predicts the first count <= PREDICTOR_ROWS rows of the input.
 *   outputs  (count, classes), row-major: the classes' probabilities; for a regression
 *            (count): mapped values */
void predictor_run(struct predictor *predictor, double *outputs, size_t count);

/* The safetensors header of the file at path, as text that the caller releases with
 * free().
 *   ST_IO, ST_CORRUPT  as predictor_open */
enum status predictor_header(char **header, const char *path, struct error *error);

#endif
