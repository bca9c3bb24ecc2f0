/*
 * start_weights.h - finds the weights that a job begins with by their id, for the
 * planner, which checks that they fit its model, and for the run, which reads them.
 *
 * Threads: any.
 */
#ifndef SERVICE_START_WEIGHTS_H
#define SERVICE_START_WEIGHTS_H

#include "api/ancestry.h"
#include "store/blob.h"

struct context;
struct principal;
struct train_spec;

struct start_weights {
    struct blob_loan loan; /* of the weights' file */
    /* The errand of a request on the desk; NULL: waits for the file. */
    struct errand *errand;
    struct file_seal seal;
    struct ancestry ancestry; /* the ancestors of a model that begins with them */
};

/* Finds weights by their id and borrows their file, which start_weights_release gives
 * back.
 *   ST_MODEL_CORRUPT  they are gone, or are not what was published
 *   ST_INVALID        they have too many ancestors ("/model/weights")
 *   ST_DISK_FULL      the cache has no room for them
 *   ST_INTERNAL       they cannot be fetched
 *   ST_QUEUE_FULL     the errand for their file is due
 *   ST_DRAINING       the errand ended because the service stops
 *   ST_CANCELLED      as blob_fetch */
enum status start_weights_find(struct start_weights *weights, struct context *context,
                               const char *id, struct error *error);
/* Zeroed ones, that were never found, are allowed. */
void start_weights_release(struct start_weights *weights,
                           const struct context *context);

/* Checks whether a job of the principal may begin with the weights that its model
 * names, if it names any, and whether they fit the model, which is compiled. errand may
 * be NULL.
 *   ST_NOT_FOUND      there are none of that id, they are not published, or the
 *                     principal may not see them ("/model/weights")
 *   ST_FORBIDDEN      the principal may read no models
 *   ST_INVALID        they do not fit such a model ("/model/weights")
 *   ST_MODEL_CORRUPT  their file cannot be read
 *   ST_QUEUE_FULL     the errand for their file is due */
enum status start_weights_check(struct context *context,
                                const struct principal *principal,
                                const struct train_spec *train, struct errand *errand,
                                struct error *error);

#endif
