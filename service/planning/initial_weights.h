/*
 * initial_weights.h - finds the weights that a job begins with by their id, for the
 * planner, which checks that they fit its model, and for the run, which reads them.
 *
 * Threads: any.
 */
#ifndef SERVICE_PLANNING_INITIAL_WEIGHTS_H
#define SERVICE_PLANNING_INITIAL_WEIGHTS_H

#include "api/requests/ancestry.h"
#include "store/blobs/blob.h"

struct daemon_state;
struct principal;
struct train_spec;

struct initial_weights {
    struct blob_loan loan; /* of the weights' file */
    /* The prefetch of a request in the write queue; NULL: waits for the file. */
    struct blob_prefetch *prefetch;
    struct file_checksum seal;
    /* Of the file of the body of a model whose own file was written without it. */
    struct blob_loan body_loan;
    struct file_checksum body_seal;
    bool has_body;
    struct ancestry ancestry; /* the ancestors of a model that begins with them */
};

/* Finds weights by their id and borrows their file, which initial_weights_release gives
 * back.
 *   ST_MODEL_CORRUPT  they are gone, or are not what was published
 *   ST_INVALID        they have too many ancestors ("/model/weights")
 *   ST_DISK_FULL      the cache has no room for them
 *   ST_INTERNAL       they cannot be fetched
 *   ST_QUEUE_FULL     the prefetch for their file is due
 *   ST_DRAINING       the prefetch ended because the service stops
 *   ST_CANCELLED      as blob_fetch */
enum status initial_weights_find(struct initial_weights *weights,
                                 struct daemon_state *context, const char *id,
                                 struct error *error);
/* The weights that were found, in *own, and their body in *body if they have one. Both
 * borrow from weights. */
struct weights_source;
const struct weights_source *
initial_weights_source(const struct initial_weights *weights,
                       struct weights_source *own, struct weights_source *body);
/* Zeroed ones, that were never found, are allowed. */
void initial_weights_release(struct initial_weights *weights,
                             const struct daemon_state *context);

/* text = the SHA-256 of the file of these weights; "" if id is. */
enum status initial_weights_sha256(struct daemon_state *context, const char *id,
                                   char text[SHA256_HEX_SIZE], struct error *error);

/* Checks whether a job of the principal may begin with the weights that its model
 * names, if it names any, and whether they fit the model, which is compiled. prefetch may
 * be NULL.
 *   ST_NOT_FOUND      there are none of that id, they are not published, or the
 *                     principal may not see them ("/model/weights")
 *   ST_FORBIDDEN      the principal may read no models
 *   ST_INVALID        they do not fit such a model ("/model/weights")
 *   ST_MODEL_CORRUPT  their file cannot be read
 *   ST_QUEUE_FULL     the prefetch for their file is due */
enum status initial_weights_check(struct daemon_state *context,
                                  const struct principal *principal,
                                  const struct train_spec *train,
                                  struct blob_prefetch *prefetch, struct error *error);

#endif
