#include "engine/onnx_export.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "engine/model_file/safetensors.h"
#include "engine/nn/network.h"
#include "engine/nn/translation.h"
#include "engine/onnx_signature.h"

struct onnx_export {
    struct safetensors *stored;
    const struct tensor **tensors; /* in the file, in the order of the network */
    struct onnx_file *file;
};

static enum status compile(struct network **network, const struct onnx_source *source,
                           struct error *error)
{
    struct data_shape data = schema_shape(source->schema);
    struct network_shape shape = {.features = data.features,
                                  .outputs =
                                      model_spec_outputs(source->model, data.classes)};
    return network_create(network, source->model, shape, error);
}

static enum status find_tensors(struct onnx_export *export,
                                const struct network *network, struct error *error)
{
    size_t count = network_tensor_count(network);

    export->tensors = calloc(count + 1, sizeof *export->tensors);
    CHECK(export->tensors != NULL);
    for (size_t i = 0; i < count; i++) {
        const struct tensor *wanted = network_tensor(network, i);
        for (size_t k = 0; k < safetensors_tensor_count(export->stored); k++) {
            const struct tensor *tensor = safetensors_tensor(export->stored, k);
            if (strcmp(tensor->name, wanted->name) == 0 &&
                tensor->count == wanted->count)
                export->tensors[i] = tensor;
        }
        if (export->tensors[i] == NULL)
            return error_set(error, ST_CORRUPT,
                             "the file has no %s of the model's size", wanted->name);
    }
    return ST_OK;
}

static enum status write_graph(struct onnx_export *export,
                               const struct onnx_source *source,
                               const struct network *network, struct error *error)
{
    struct onnx_graph *graph = translation_graph(network);

    onnx_signature_inputs(graph, source->schema);
    onnx_signature_outputs(graph, source->schema, network_loss(network),
                           translation_run(network, graph));
    return onnx_file_create(&export->file, graph, &source->head, error);
}

enum status onnx_export_open(struct onnx_export **out, const struct onnx_source *source,
                             struct error *error)
{
    struct onnx_export *export = calloc(1, sizeof *export);
    struct network *network = NULL;
    enum status status;

    CHECK(export != NULL);
    status = safetensors_take(&export->stored, source->file_take, error);
    if (status == ST_OK)
        status = compile(&network, source, error);
    if (status == ST_OK)
        status = find_tensors(export, network, error);
    if (status == ST_OK)
        status = write_graph(export, source, network, error);
    network_destroy(network);
    if (status != ST_OK)
        onnx_export_close(export);
    else
        *out = export;
    return status;
}

void onnx_export_close(struct onnx_export *export)
{
    if (export == NULL)
        return;
    onnx_file_destroy(export->file);
    safetensors_close(export->stored);
    free(export->tensors);
    free(export);
}

uint64_t onnx_export_size(const struct onnx_export *export)
{
    return onnx_file_size(export->file);
}

size_t onnx_export_held(const struct onnx_export *export)
{
    return onnx_file_held(export->file);
}

static enum status read_piece(const struct onnx_export *export,
                              const struct onnx_piece *piece, char *to, size_t size,
                              struct error *error)
{
    if (piece->bytes == NULL)
        return safetensors_read_bytes(export->stored, export->tensors[piece->tensor],
                                      piece->offset, to, size, error);
    memcpy(to, piece->bytes, size);
    return ST_OK;
}

enum status onnx_export_read(struct onnx_export *export, uint64_t position, char *to,
                             size_t room, size_t *read, struct error *error)
{
    size_t filled = 0;

    while (filled < room && position + filled < onnx_file_size(export->file)) {
        const struct onnx_piece piece =
            onnx_file_piece(export->file, position + filled);
        size_t left = room - filled, size = piece.size < left ? piece.size : left;
        enum status status = read_piece(export, &piece, to + filled, size, error);
        if (status != ST_OK)
            return status;
        filled += size;
    }
    *read = filled;
    return ST_OK;
}

enum status onnx_export_digest(struct onnx_export *export, uint8_t digest[SHA256_SIZE],
                               struct error *error)
{
    enum { PIECE = 1 << 16 };
    char *piece = malloc(PIECE);
    struct sha256 *hash = sha256_create();
    enum status status = ST_OK;

    CHECK(piece != NULL);
    for (uint64_t at = 0; at < onnx_export_size(export) && status == ST_OK;) {
        size_t size = 0;
        status = onnx_export_read(export, at, piece, PIECE, &size, error);
        sha256_update(hash, piece, size);
        at += size;
    }
    if (status == ST_OK)
        sha256_finish(hash, digest);
    sha256_destroy(hash);
    free(piece);
    return status;
}
