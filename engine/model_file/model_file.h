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
 *   ST_IO         it cannot be written; the partial file is removed
 *   ST_NO_MEMORY  no memory for a copy in the file's order */
enum status model_file_write(const char *path, const struct model_content *content,
                             struct file_checksum *seal, struct error *error);

/* parameters = the tensors of network in the file at path, which must hold all of them,
 * with their shapes, and no others.
 *   seal        the expected checksum, checked before the file is read, or NULL
 *   ST_IO       cannot be read
 *   ST_CORRUPT  another checksum, not safetensors, or not the tensors of network
 *   ST_NO_MEMORY  no memory for a tensor in the file's order
 * On failure parameters may be partly written. */
enum status model_file_read(const char *path, const struct file_checksum *seal,
                            const struct network *network, float *parameters,
                            struct error *error);

/* A file with the initial weights of a training. */
struct weights_source {
    const char *path;
    struct file_checksum seal;
};

/* Checks that the file at path has the tensors that a training of network starts with:
 * every tensor except the fresh ones, in its shape, once, and no others but those that
 * are ignored. The file has the model's names or public ones (name_map.h). Reads only
 * the header.
 *   ST_INVALID  it does not; the error names the tensor, at "/model/weights"
 *   ST_IO, ST_CORRUPT  it cannot be read, or is not safetensors */
enum status model_file_check_start(const char *path, const struct network *network,
                                   struct error *error);

/* values (network_floats) = the values of the file, except for fresh tensors, which
 * stay unchanged.
 *   ST_INVALID  as above, or a value is not finite
 *   ST_IO, ST_CORRUPT, ST_NO_MEMORY  as model_file_read
 * On failure values may be partly written. */
enum status model_file_read_start(const struct weights_source *weights,
                                  const struct network *network, float *values,
                                  struct error *error);

/* Checks that the file at path can be the initial weights of a training: safetensors
 * with tensors of floats, all of whose values are finite. Fills in its checksum.
 *   ST_INVALID  it cannot; the error says why
 *   ST_IO       it cannot be read */
enum status model_file_check_public(const char *path, struct file_checksum *seal,
                                    struct error *error);

#endif
