/*
 * model_file.h - the parameters of a network as a safetensors file, and back.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_MODEL_FILE_MODEL_FILE_H
#define ENGINE_MODEL_FILE_MODEL_FILE_H

#include <stddef.h>

#include "base/status.h"
#include "engine/model_file/safetensors.h"
#include "engine/nn/network.h"

struct model_content {
    const struct network *network;
    const float *parameters; /* (network_floats) */
    struct metadata_list metadata;
};

/* Writes the file at path (safetensors_write).
 *   ST_IO         it cannot be written; what was written is removed
 *   ST_NO_MEMORY  a copy in the file's order cannot be had */
enum status model_file_write(const char *path, const struct model_content *content,
                             struct file_checksum *seal, struct error *error);

/* parameters = the tensors of network in the file at path, which holds them all, with
 * their shapes, and no others.
 *   seal        what the file must be, checked before it is read, or NULL
 *   ST_IO       cannot be read
 *   ST_CORRUPT  not of that seal, not safetensors, or not the tensors of network
 *   ST_NO_MEMORY  a tensor in the file's order cannot be had
 * On failure parameters may be partly written. */
enum status model_file_read(const char *path, const struct file_checksum *seal,
                            const struct network *network, float *parameters,
                            struct error *error);

/* A file of weights that a training begins with. */
struct weights_source {
    const char *path;
    struct file_checksum seal;
};

/* Whether the file at path has what a training of network begins with: every tensor but
 * those that are fresh, in its shape, and no others. Reads the header alone.
 *   ST_INVALID  it has not; the error names the tensor, at "/model/weights"
 *   ST_IO, ST_CORRUPT  it cannot be read, or is not safetensors */
enum status model_file_check_start(const char *path, const struct network *network,
                                   struct error *error);

/* values (network_floats) = those of the file, but for fresh tensors, which are left as
 * they are.
 *   ST_INVALID  as above, or a value is not finite
 *   ST_IO, ST_CORRUPT, ST_NO_MEMORY  as model_file_read
 * On failure values may be partly written. */
enum status model_file_read_start(const struct weights_source *source,
                                  const struct network *network, float *values,
                                  struct error *error);

/* Whether the file at path is one of weights that some training may begin with: safetensors
 * with tensors, all of whose values are finite. Fills in its seal.
 *   ST_INVALID  it is not; the error says why
 *   ST_IO       it cannot be read */
enum status model_file_check_public(const char *path, struct file_checksum *seal,
                                    struct error *error);

#endif
