/*
 * tensor_header.h - the JSON header of a safetensors file, strictly read.
 *
 *   {"__metadata__":{KEY:STRING,...},            at most once
 *    NAME:{"dtype":DTYPE,"shape":[N,...],"data_offsets":[BEGIN,END]}, ...}
 *
 *   DTYPE  "F32", "F16" (IEEE half) or "BF16" (the upper half of a float)
 *
 * Refused, in addition to text that is not JSON in UTF-8: a first byte other than '{',
 * anything but blanks after the end, duplicate or unknown members, other types, numbers
 * that are not plain non-negative integers or overflow, more than TENSOR_RANK_MAX
 * dimensions, names that do not fit a struct tensor, bytes between or outside tensors,
 * or shared by tensors.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_MODEL_FILE_TENSOR_HEADER_H
#define ENGINE_MODEL_FILE_TENSOR_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/nn/network.h"

enum tensor_dtype { DTYPE_F32, DTYPE_F16, DTYPE_BF16 };

struct stored_tensor {
    struct tensor tensor; /* count in values; offset, only for F32, in floats */
    enum tensor_dtype dtype;
    uint64_t begin; /* bytes */
};

size_t tensor_dtype_size(enum tensor_dtype dtype); /* bytes of a value */

struct tensor_list { /* in the order of their bytes */
    struct stored_tensor *tensors;
    size_t count;
};

/* Reads text[0..size), which describes data_size bytes that follow it.
 *   ST_CORRUPT  the text violates the above; error->text says how
 * On ST_OK the caller releases the tensors with free(). */
enum status tensor_header_parse(struct tensor_list *list, const char *text, size_t size,
                                uint64_t data_size, struct error *error);

#endif
