/*
 * tensor_header.h - the JSON header of a safetensors file, strictly read.
 *
 *   {"__metadata__":{KEY:STRING,...},            at most once
 *    NAME:{"dtype":DTYPE,"shape":[N,...],"data_offsets":[BEGIN,END]}, ...}
 *
 *   DTYPE  "F32", "F16" (IEEE half) or "BF16" (the upper half of a float); or another one
 *          of the format, whose values are not read
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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/nn/network.h"

/* DTYPE_F32, DTYPE_F16 and DTYPE_BF16 come first: they are read as floats. */
enum tensor_dtype {
    DTYPE_F32,
    DTYPE_F16,
    DTYPE_BF16,
    DTYPE_F64,
    DTYPE_I64,
    DTYPE_U64,
    DTYPE_I32,
    DTYPE_U32,
    DTYPE_I16,
    DTYPE_U16,
    DTYPE_I8,
    DTYPE_U8,
    DTYPE_BOOL,
    DTYPE_F8_E4M3,
    DTYPE_F8_E5M2
};

struct stored_tensor {
    struct tensor tensor; /* count in values; offset, only for F32, in floats */
    enum tensor_dtype dtype;
    uint64_t begin; /* bytes */
};

const char *tensor_dtype_name(enum tensor_dtype dtype); /* as in the header */
size_t tensor_dtype_size(enum tensor_dtype dtype);      /* bytes of a value */

static inline bool tensor_dtype_is_float(enum tensor_dtype dtype)
{
    return dtype <= DTYPE_BF16;
}

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
