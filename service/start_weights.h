/*
 * start_weights.h - the weights that a job begins with: found by their id, for the planner,
 * which checks that they are those of its model, and for the run, which reads them.
 *
 * Threads: any.
 */
#ifndef SERVICE_START_WEIGHTS_H
#define SERVICE_START_WEIGHTS_H

#include "api/ancestry.h"
#include "engine/model_file/model_file.h"
#include "service/context.h"
#include "store/blob.h"

struct start_weights {
    struct blob_loan loan; /* of their file */
    struct file_seal seal;
    struct ancestry ancestry; /* what a model that begins with them descends from */
};

/* Finds weights by their id and borrows their file, which start_weights_release gives back.
 *   ST_MODEL_CORRUPT  they are there no more, or are not what was published
 *   ST_INVALID        they have too many ancestors ("/model/weights")
 *   ST_DISK_FULL      the cache has no room for them
 *   ST_INTERNAL       they cannot be brought here */
enum status start_weights_find(struct start_weights *weights, struct context *context,
                               const char *id, struct error *error);
/* Those that were never found are allowed, zeroed. */
void start_weights_release(struct start_weights *weights,
                           const struct context *context);

/* Whether a job of the principal's may begin with the weights that its model names, if it
 * names any, and whether they fit the model, which is compiled.
 *   ST_NOT_FOUND      there are none of that id, they are not published, or the principal
 *                     does not see them ("/model/weights")
 *   ST_FORBIDDEN      the principal may read no models
 *   ST_INVALID        they are not those of such a model ("/model/weights")
 *   ST_MODEL_CORRUPT  their file cannot be read */
enum status start_weights_check(struct context *context,
                                const struct principal *principal,
                                const struct train_spec *train, struct error *error);

#endif
