/*
 * onnx_export.h - a published model as an ONNX file that is generated while it is read:
 * the graph is in memory, the floats come from the model's own file.
 *
 * The export depends only on that file, the model, the schema and the head: two exports
 * of one model have the same bytes.
 *
 * Threads: one at a time on one export.
 */
#ifndef ENGINE_ONNX_EXPORT_H
#define ENGINE_ONNX_EXPORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/status.h"
#include "engine/data/schema.h"
#include "engine/nn/model_spec.h"
#include "engine/onnx/onnx_file.h"

struct onnx_source { /* borrowed during onnx_export_open, except the file */
    int file_take;   /* the model's safetensors, open for reading */
    const struct model_spec *model;
    const struct schema *schema; /* of the data that it was trained on */
    struct onnx_head head;
};

struct onnx_export; /* opaque */

/*   ST_INVALID  the model does not compile for the schema, or is longer than
 *               ONNX_FILE_SIZE_MAX
 *   ST_CORRUPT  the file is not safetensors, or lacks the tensors of the model
 *   ST_IO       it cannot be read
 * The file is closed on failure; otherwise onnx_export_close closes it. */
enum status onnx_export_open(struct onnx_export **out, const struct onnx_source *source,
                             struct error *error);
void onnx_export_close(struct onnx_export *export); /* NULL is allowed */

uint64_t onnx_export_size(const struct onnx_export *export); /* bytes */
size_t onnx_export_held(const struct onnx_export *export);   /* bytes of memory */

/* Copies bytes from position, which must be below the size, to to[0..room), room > 0;
 * *read is their number, at least one.
 *   ST_IO  the model's file cannot be read */
enum status onnx_export_read(struct onnx_export *export, uint64_t position, char *to,
                             size_t room, size_t *read, struct error *error);

/* digest = the SHA-256 of the whole export, which is read once.
 *   ST_IO  as above */
enum status onnx_export_digest(struct onnx_export *export, uint8_t digest[SHA256_SIZE],
                               struct error *error);

#endif
