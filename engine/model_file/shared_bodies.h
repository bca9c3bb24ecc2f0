/*
 * shared_bodies.h - the bodies that are in memory, by the SHA-256 of their file and the
 * layout of the network: reading BERT's body takes longer than predicting a row.
 *
 *   shared_bodies_take --> mapped by any number of models --> shared_bodies_give
 *
 * Invariants
 *   (1) A body was read from a file of that size and SHA-256. The file may be gone later.
 *   (2) Several threads that take one body at the same time read it once.
 *   (3) The bodies without a user take at most size_max bytes; the least recently used
 *       ones are removed first.
 *
 * Threads: any.
 */
#ifndef ENGINE_MODEL_FILE_SHARED_BODIES_H
#define ENGINE_MODEL_FILE_SHARED_BODIES_H

#include "engine/model_file/shared_body.h"

struct shared_bodies; /* opaque */

struct shared_bodies *shared_bodies_create(size_t size_max);
/* No body has a user any more. NULL is allowed. */
void shared_bodies_destroy(struct shared_bodies *bodies);

/* Takes the body of network in the file; reads it if it is not in memory, and waits while
 * another thread reads it. Returns the statuses of shared_body_read. */
enum status shared_bodies_take(struct shared_bodies *bodies,
                               const struct weights_source *file,
                               const struct network *network,
                               const struct shared_body **out, struct error *error);
/* Its ranges are unmapped. */
void shared_bodies_give(struct shared_bodies *bodies, const struct shared_body *body);

#endif
