/*
 * safetensors.h - the file format of published models, written and strictly read
 * (model-file.md).
 *
 *   8 bytes: size of the header, little-endian
 *   JSON header, padded with blanks to a multiple of 8
 *   tensors in C order, little-endian, in the order of their names, without gaps
 *
 * The writer writes F32. The reader takes F16 and BF16 too, and converts them to floats.
 * A tensor of another dtype may be in a file, but is not read. The reader refuses
 * everything that the format forbids: duplicate names, gaps,
 * overlaps, a shape that does not match its bytes, bytes that belong to no tensor.
 *
 * Threads: an open file may be read by one thread at a time; the rest is pure.
 */
#ifndef ENGINE_MODEL_FILE_SAFETENSORS_H
#define ENGINE_MODEL_FILE_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file_checksum.h"
#include "base/status.h"
#include "engine/nn/network.h"

struct metadata { /* strings of the header's __metadata__, UTF-8 */
    const char *key, *value;
};

struct metadata_list {            /* {0}: none */
    const struct metadata *items; /* distinct keys */
    size_t count;
};

struct safetensors_content {
    const struct tensor *tensors; /* distinct names; each is at parameters + offset */
    size_t tensor_count;
    const float *parameters;
    struct metadata_list metadata;
};

/* Writes content to a file of mode 0600 at path, replacing an existing file. It is not
 * synced.
 *   ST_IO  the file cannot be written; the partial file is removed */
enum status safetensors_write(const char *path,
                              const struct safetensors_content *content,
                              struct file_checksum *seal, struct error *error);

struct safetensors; /* an open file, opaque */

/* Reads and checks the header of the file at path.
 *   ST_IO       cannot be read
 *   ST_CORRUPT  not a safetensors file */
enum status safetensors_open(struct safetensors **out, const char *path,
                             struct error *error);
/* The same for an open file, which is closed on failure too. */
enum status safetensors_take(struct safetensors **out, int file_take,
                             struct error *error);
void safetensors_close(struct safetensors *file); /* NULL is allowed */

/* Checks that the open file has this checksum (file_checksum_check). */
enum status safetensors_check(const struct safetensors *file,
                              const struct file_checksum *seal, struct error *error);

/* The header's JSON text without its padding, ended by 0. */
const char *safetensors_header(const struct safetensors *file);

/* Tensors in the order of their bytes; tensor->count is in values. */
size_t safetensors_tensor_count(const struct safetensors *file);
const struct tensor *safetensors_tensor(const struct safetensors *file, size_t index);

/* The dtype of one of the file's tensors, as "I64", and whether it can be read: F32, F16
 * and BF16 can. */
const char *safetensors_dtype(const struct tensor *tensor);
bool safetensors_is_readable(const struct tensor *tensor);

/* to (tensor->count) = the values of tensor, which must be one of the file's, converted
 * to floats exactly.
 *   ST_CORRUPT  it cannot be read because of its dtype
 *   ST_IO       cannot be read */
enum status safetensors_read(struct safetensors *file, const struct tensor *tensor,
                             float *to, struct error *error);

/* Checks that every value of the tensor, whose dtype can be read, is finite.
 *   ST_INVALID  one is not; the error names the tensor
 *   ST_IO       cannot be read */
enum status safetensors_check_finite(struct safetensors *file,
                                     const struct tensor *tensor, struct error *error);

/* to (size) = bytes of the tensor from offset on, which must exist.
 *   ST_IO  cannot be read */
enum status safetensors_read_bytes(const struct safetensors *file,
                                   const struct tensor *tensor, uint64_t offset,
                                   void *to, size_t size, struct error *error);

#endif
