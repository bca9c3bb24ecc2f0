/*
 * onnx_file.h - a graph as the bytes of a file, without the floats of stored tensors: a
 * reader of the file takes them from where they are stored, and never has all of them
 * in memory.
 *
 *   | text | floats of tensor 3 | text | floats of tensor 0 | text |
 *
 * Threads: a file is constant once created.
 */
#ifndef ENGINE_ONNX_ONNX_FILE_H
#define ENGINE_ONNX_ONNX_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/onnx/onnx_graph.h"

/* No message of protobuf is longer (protobuf.dev, Proto Limits). */
#define ONNX_FILE_SIZE_MAX INT32_MAX

struct onnx_property { /* an entry of metadata_props, UTF-8 */
    const char *key, *value;
};

struct onnx_head {                          /* the file without the graph */
    const char *version;                    /* of the program */
    const struct onnx_property *properties; /* distinct keys */
    size_t property_count;
};

struct onnx_file; /* opaque */

/*   ST_INVALID  the file would be longer than ONNX_FILE_SIZE_MAX
 * The graph is destroyed, on failure too. */
enum status onnx_file_create(struct onnx_file **out, struct onnx_graph *graph_take,
                             const struct onnx_head *head, struct error *error);
void onnx_file_destroy(struct onnx_file *file); /* NULL is allowed */

uint64_t onnx_file_size(const struct onnx_file *file); /* bytes, with stored ones */
size_t onnx_file_held(const struct onnx_file *file);   /* bytes of memory */

struct onnx_piece {
    const char *bytes; /* (size), or NULL: the piece is floats of a stored tensor */
    size_t tensor;     /* the stored tensor */
    uint64_t offset;   /* the first byte of its floats */
    size_t size;       /* > 0 */
};

/* The bytes from position, which must be below the size, to the end of its piece. */
struct onnx_piece onnx_file_piece(const struct onnx_file *file, uint64_t position);

#endif
