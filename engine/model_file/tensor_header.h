/*
 * tensor_header.h - the JSON header of a safetensors file, strictly read.
 *
 *   {"__metadata__":{KEY:STRING,...},            at most once
 *    NAME:{"dtype":"F32","shape":[N,...],"data_offsets":[BEGIN,END]}, ...}
 *
 * Refused besides what is not JSON in UTF-8: a first byte other than '{', anything but
 * blanks after the end, duplicate or unknown members, other types, numbers that are not
 * plain non-negative integers or overflow, more than TENSOR_RANK_MAX dimensions, names
 * that do not fit a struct tensor, bytes between, beside or shared by tensors.
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_MODEL_FILE_TENSOR_HEADER_H
#define ENGINE_MODEL_FILE_TENSOR_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/nn/network.h"

struct tensor_list { /* in the order of their bytes; offset and count in floats */
    struct tensor *tensors;
    size_t count;
};

/* Reads text[0..size), which describes data_size bytes that follow it.
 *   ST_CORRUPT  anything but the above; error->text says what
 * On ST_OK the tensors are to be released with free(). */
enum status tensor_header_parse(struct tensor_list *list, const char *text, size_t size,
                                uint64_t data_size, struct error *error);

#endif
