#include "engine/onnx/onnx_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/onnx/onnx_messages.h"

/* The versions that are written: the IR version that has opset 17 (onnx.ai,
 * versioning). */
enum { IR_VERSION = 8, OPSET = 17, ML_OPSET = 3 };

struct part {
    uint64_t start; /* in the file */
    size_t size;
    size_t text;   /* its start in the text */
    size_t tensor; /* the stored tensor of these floats; or tensor_count: text */
};

struct onnx_file {
    size_t tensor_count;
    uint64_t size;
    char *text;
    size_t text_size;
    struct part *parts; /* without gaps, from 0 */
    size_t part_count;
};

/* ---- the model around the graph ---- */

static void import(Onnx__ModelProto *model, const char *domain, int64_t version)
{
    Onnx__OperatorSetIdProto *set = calloc(1, sizeof *set);

    CHECK(set != NULL);
    onnx__operator_set_id_proto__init(set);
    set->domain = onnx_text(domain);
    set->has_version = 1;
    set->version = version;
    model->opset_import =
        onnx_list_grow(model->opset_import, &model->n_opset_import, sizeof(void *));
    model->opset_import[model->n_opset_import - 1] = set;
}

static void add_property(Onnx__ModelProto *model, const struct onnx_property *property)
{
    Onnx__StringStringEntryProto *entry = calloc(1, sizeof *entry);

    CHECK(entry != NULL);
    onnx__string_string_entry_proto__init(entry);
    entry->key = onnx_text(property->key);
    entry->value = onnx_text(property->value);
    model->metadata_props =
        onnx_list_grow(model->metadata_props, &model->n_metadata_props, sizeof(void *));
    model->metadata_props[model->n_metadata_props - 1] = entry;
}

/* The model borrows the graph's message. */
static Onnx__ModelProto *model_around(const struct onnx_graph *graph,
                                      const struct onnx_head *head)
{
    Onnx__ModelProto *model = calloc(1, sizeof *model);

    CHECK(model != NULL);
    onnx__model_proto__init(model);
    model->has_ir_version = 1;
    model->ir_version = IR_VERSION;
    model->producer_name = onnx_text("epsilond");
    model->producer_version = onnx_text(head->version);
    import(model, "", OPSET);
    import(model, "ai.onnx.ml", ML_OPSET);
    for (size_t i = 0; i < head->property_count; i++)
        add_property(model, &head->properties[i]);
    model->graph = graph->message;
    return model;
}

/* ---- the file's parts ---- */

/* The buffer that protobuf-c packs into. protobuf-c passes data on without reading
 * it. */
struct sink {
    ProtobufCBuffer base; /* first: protobuf-c knows only this member */
    const struct onnx_graph *graph;
    struct onnx_file *file;
};

static void add_part(struct onnx_file *file, struct part part)
{
    struct part *last =
        file->part_count > 0 ? &file->parts[file->part_count - 1] : NULL;
    bool text = part.tensor == file->tensor_count;

    if (text && last != NULL && last->tensor == part.tensor) {
        last->size += part.size;
    } else {
        file->parts = onnx_list_grow(file->parts, &file->part_count, sizeof part);
        file->parts[file->part_count - 1] = part;
    }
    file->size += part.size;
}

static void append(ProtobufCBuffer *buffer, size_t size, const uint8_t *data)
{
    struct sink *sink = (struct sink *)(void *)buffer;
    struct onnx_file *file = sink->file;
    size_t tensor = onnx_graph_stored(sink->graph, data);

    if (size == 0)
        return;
    add_part(file, (struct part){file->size, size, file->text_size, tensor});
    if (tensor < file->tensor_count)
        return;
    memcpy(file->text + file->text_size, data, size);
    file->text_size += size;
}

static size_t stored_size(const struct onnx_graph *graph)
{
    size_t size = 0;
    for (size_t i = 0; i < graph->message->n_initializer; i++) {
        const ProtobufCBinaryData *data = &graph->message->initializer[i]->raw_data;
        if (onnx_graph_stored(graph, data->data) < graph->tensor_count)
            size += data->len;
    }
    return size;
}

static enum status pack(struct onnx_file *file, const struct onnx_graph *graph,
                        const Onnx__ModelProto *model, struct error *error)
{
    size_t size = onnx__model_proto__get_packed_size(model);
    struct sink sink = {{append}, graph, file};

    if (size > ONNX_FILE_SIZE_MAX)
        return error_set(error, ST_INVALID,
                         "the model would have %zu bytes as ONNX, which ends at %d",
                         size, ONNX_FILE_SIZE_MAX);
    file->text = malloc(size - stored_size(graph) + 1);
    CHECK(file->text != NULL);
    CHECK(onnx__model_proto__pack_to_buffer(model, &sink.base) == size);
    CHECK(file->size == size && file->text_size == size - stored_size(graph));
    return ST_OK;
}

enum status onnx_file_create(struct onnx_file **out, struct onnx_graph *graph_take,
                             const struct onnx_head *head, struct error *error)
{
    struct onnx_file *file = calloc(1, sizeof *file);
    Onnx__ModelProto *model = model_around(graph_take, head);

    CHECK(file != NULL);
    file->tensor_count = graph_take->tensor_count;
    enum status status = pack(file, graph_take, model, error);
    model->graph = NULL;
    onnx__model_proto__free_unpacked(model, NULL);
    onnx_graph_destroy(graph_take);
    if (status != ST_OK)
        onnx_file_destroy(file);
    else
        *out = file;
    return status;
}

void onnx_file_destroy(struct onnx_file *file)
{
    if (file == NULL)
        return;
    free(file->text);
    free(file->parts);
    free(file);
}

uint64_t onnx_file_size(const struct onnx_file *file)
{
    return file->size;
}

size_t onnx_file_held(const struct onnx_file *file)
{
    return sizeof *file + file->text_size + file->part_count * sizeof *file->parts;
}

struct onnx_piece onnx_file_piece(const struct onnx_file *file, uint64_t position)
{
    size_t low = 0, high = file->part_count; /* the part is in [low, high) */

    CHECK(position < file->size);
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (file->parts[middle].start <= position)
            low = middle;
        else
            high = middle;
    }
    const struct part *part = &file->parts[low];
    uint64_t offset = position - part->start;
    bool text = part->tensor == file->tensor_count;
    return (struct onnx_piece){.bytes = text ? file->text + part->text + offset : NULL,
                               .tensor = text ? 0 : part->tensor,
                               .offset = text ? 0 : offset,
                               .size = part->size - (size_t)offset};
}
