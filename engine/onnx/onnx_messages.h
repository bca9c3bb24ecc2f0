/*
 * onnx_messages.h - the graph as messages of protobuf-c; for this folder and its tests.
 *
 * Every message, text and list of the tree is allocated with malloc and belongs to it,
 * so that protobuf-c's own function releases the whole tree. The floats of stored
 * tensors are an exception: their data points into marks, which has a byte for each
 * tensor, and is never read.
 *
 * Threads: as the graph.
 */
#ifndef ENGINE_ONNX_ONNX_MESSAGES_H
#define ENGINE_ONNX_ONNX_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

#include "engine/onnx/onnx.pb-c.h"

struct named_value; /* a value of the network, private to onnx_graph.c */

struct onnx_graph {
    Onnx__GraphProto *message;
    size_t names; /* number of names so far */
    size_t value_count, tensor_count;
    struct named_value *values; /* (value_count) */
    uint8_t *marks;             /* (tensor_count) */
};

/* The place of the stored tensor that has this data; or tensor_count. */
size_t onnx_graph_stored(const struct onnx_graph *graph, const uint8_t *data);

/* Returns list, which has *count items of size bytes, with room for one more, and
 * increments *count. */
void *onnx_list_grow(void *list_take, size_t *count, size_t size);

/* A copy of text, allocated with malloc. */
char *onnx_text(const char *text);

#endif
