/*
 * model_values.h - the values of a published model, read from its file, and from the file
 * of its body if it was written without it (model_file.h).
 *
 * Threads: values are only read once they are open.
 */
#ifndef ENGINE_MODEL_FILE_MODEL_VALUES_H
#define ENGINE_MODEL_FILE_MODEL_VALUES_H

#include "engine/model_file/shared_bodies.h"

/* The files of a published model. All of it is borrowed; bodies until the values are
 * closed. */
struct model_source {
    const char *path;                  /* a safetensors file */
    const struct file_checksum *seal;  /* of the file; NULL: not checked */
    const struct weights_source *body; /* or NULL: the file is whole */
    struct shared_bodies *bodies;      /* or NULL: a body is read for this model */
};

struct model_values { /* zeroed before open */
    float *floats;    /* (network_floats) */
    struct body_range range;
    const struct shared_body *body; /* of the store; NULL: floats are its own */
    struct shared_bodies *bodies;
};

/*   ST_IO, ST_CORRUPT, ST_NO_MEMORY  as model_file_read_on
 * After a failure values must be closed too. */
enum status model_values_open(struct model_values *values,
                              const struct model_source *source,
                              const struct network *network, struct error *error);
void model_values_close(struct model_values *values); /* a zeroed one is allowed */

#endif
