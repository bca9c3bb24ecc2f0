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
    const float *parameters; /* (network_parameters) */
    struct metadata_list metadata;
};

/* Writes the file at path (safetensors_write).
 *   ST_IO         it cannot be written; what was written is removed
 *   ST_NO_MEMORY  a copy in the file's order cannot be had */
enum status model_file_write(const char *path, const struct model_content *content,
                             struct file_seal *seal, struct error *error);

/* parameters = the tensors of network in the file at path, which holds them all, with
 * their shapes, and no others.
 *   seal        what the file must be, checked before it is read, or NULL
 *   ST_IO       cannot be read
 *   ST_CORRUPT  not of that seal, not safetensors, or not the tensors of network
 *   ST_NO_MEMORY  a tensor in the file's order cannot be had
 * On failure parameters may be partly written. */
enum status model_file_read(const char *path, const struct file_seal *seal,
                            const struct network *network, float *parameters,
                            struct error *error);

#endif
