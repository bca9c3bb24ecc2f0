/*
 * model_file.h - the parameters of a network as a safetensors file, and back.
 *
 * The body of a network is its frozen tensors, which were not given by the job. A model's
 * file may leave them out if a file of public weights has them: a head on BERT then has
 * some kilobytes. Both files together are the model.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_MODEL_FILE_MODEL_FILE_H
#define ENGINE_MODEL_FILE_MODEL_FILE_H

#include <stdbool.h>
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
/* The same without the tensors of the body. */
enum status model_file_write_without_body(const char *path,
                                          const struct model_content *content,
                                          struct file_checksum *seal,
                                          struct error *error);

/* Returns the bytes of the copy that both functions make to write the parameters in the
 * file's order; 0 if the network has them in that order. */
size_t model_file_copy_size(const struct network *network);

/* A file of weights. */
struct weights_source {
    const char *path;
    struct file_checksum seal;
    /* The file that has the tensors of its body, if it was written without; or NULL */
    const struct weights_source *body;
};

/* Returns whether the tensor belongs to the body. */
bool model_file_is_body(const struct network *network, const struct tensor *tensor);
/* Returns whether the network has a body. */
bool model_file_has_body(const struct network *network);

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

/* The same for a file that was written without the body: the body's tensors are read
 * from the file of public weights, in which they may have public names (name_map.h).
 *   body  with a checksum; NULL: as model_file_read */
enum status model_file_read_on(const char *path, const struct file_checksum *seal,
                               const struct weights_source *body,
                               const struct network *network, float *parameters,
                               struct error *error);

/* The two parts of model_file_read_on:
 *   parameters  (network_floats) only the tensors that a file without the body has
 *   frozen      (network_floats - network_parameters) only those of the body */
enum status model_file_read_own(const char *path, const struct file_checksum *seal,
                                const struct network *network, float *parameters,
                                struct error *error);
enum status model_file_read_body(const struct weights_source *body,
                                 const struct network *network, float *frozen,
                                 struct error *error);

/* Checks that the weights have the tensors that a training of network starts with:
 * every tensor except the fresh ones, in its shape, once, and no others but those that
 * are ignored. Adapters start with their initial values if the weights have none. A file has the model's names or public ones (name_map.h). A tensor that a
 * file and its body have is that of the file. Reads only headers.
 *   ST_INVALID  it does not; the error names the tensor, at "/model/weights"
 *   ST_IO, ST_CORRUPT  it cannot be read, or is not safetensors */
enum status model_file_check_start(const struct weights_source *weights,
                                   const struct network *network, struct error *error);

/* values (network_floats) = the values of the file, except for fresh tensors, and for
 * adapters that the file has not, which stay unchanged.
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
