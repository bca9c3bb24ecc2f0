/*
 * shared_body.h - the body of a network in memory, for all models that have it: a file
 * without a name (memfd_create) has the frozen floats, and each model maps this file
 * behind its own parameters. The pages of the body are in memory once.
 *
 *   range.start    range.values          page boundary
 *   |  unused      |  trained floats     |  frozen floats
 *   |  memory of the model               |  pages of the body; a page is copied when the
 *   |                                    |  model writes into it
 *
 * A model writes only the layer that its job gave it (network_constant_layer).
 *
 * Threads: a body is immutable once read, and any thread may map it.
 */
#ifndef ENGINE_MODEL_FILE_SHARED_BODY_H
#define ENGINE_MODEL_FILE_SHARED_BODY_H

#include <stddef.h>

#include "base/hash.h"
#include "engine/model_file/model_file.h"

struct shared_body; /* opaque */

/* Reads the body of network from a file.
 *   ST_NO_MEMORY        its floats do not fit
 *   ST_IO, ST_CORRUPT   as model_file_read_on */
enum status shared_body_read(struct shared_body **out,
                             const struct weights_source *file,
                             const struct network *network, struct error *error);
/* Ranges that were mapped stay valid. NULL is allowed. */
void shared_body_destroy(struct shared_body *body);

size_t shared_body_size(const struct shared_body *body); /* bytes */

/* digest = SHA-256 of the names, shapes and places of the body's tensors. Two networks of
 * one layout can share a body that is read from one file. */
void shared_body_layout(uint8_t digest[SHA256_SIZE], const struct network *network);

/* The values of a model on a shared body. */
struct body_range {
    float *values; /* (network_floats) */
    void *start;   /* of the mapping */
    size_t size;   /* of the mapping, bytes */
};

/* Maps a body. The trained floats are zeros, and those of a layer that the job gave too.
 *   network       of the layout of the body
 *   ST_NO_MEMORY  the range does not fit */
enum status shared_body_map(const struct shared_body *body,
                            const struct network *network, struct body_range *range,
                            struct error *error);
void body_range_unmap(struct body_range *range); /* a zeroed one is allowed */

#endif
