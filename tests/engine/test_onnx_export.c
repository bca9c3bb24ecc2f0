/* Goal: every network that is offered can be exported as ONNX: every kind of layer has
 * its translation, every name that a node reads was produced before it, and the floats
 * are those of the model's file. Method: models that together contain every row of the
 * table, their files written, exported and read back by protobuf-c.
 * tests/python/check_onnx.py shows that ONNX Runtime computes what predict does. */
#include "tests/expect.h"

#include <fcntl.h>
#include <string.h>

#include "engine/data/readers/reader_registry.h"
#include "engine/model_file/model_file.h"
#include "engine/onnx/onnx.pb-c.h"
#include "engine/onnx_export.h"
#include "tests/engine/nn/random_batch_fixture.h"

/* random_batch_fixture.h explains the letters. */
static const struct family {
    const char *layers;
    enum preset preset;
    size_t features;
    struct model_input input;
    const char *trained; /* NULL: every layer */
} families[] = {
    {"d5rn1tspuUd4lo3d3", PRESET_NONE, 6, {0, 0, 0}, NULL},
    {"zd5rd3", PRESET_NONE, 6, {0, 0, 0}, NULL},
    {"k9c4,3x2,1,1rm2[c4,3,1,1n2r|c4,1]fd3",
     PRESET_NONE,
     10 * 11 * 3,
     {10, 11, 3},
     NULL},
    {"x3c4,3,2,2,2la2gfd3", PRESET_NONE, 12 * 12, {12, 12, 1}, NULL},
    {"w3n3fd3", PRESET_NONE, 8 * 12 * 2, {8, 12, 2}, NULL},
    {NULL, PRESET_CNN_MNIST, 28 * 28, {28, 28, 1}, NULL},
    {NULL, PRESET_CNN_CIFAR, 32 * 32 * 3, {32, 32, 3}, NULL},
    {NULL, PRESET_RESNET18_GN, 17 * 17 * 3, {17, 17, 3}, NULL},
    {"e9,6i20,2y2,3q2d6|d6|d6]Hd3", PRESET_NONE, 7, {0, 0, 0}, "5.*"},
    {"e9,6[q3d6|d6|d6]]lhd3", PRESET_NONE, 7, {0, 0, 0}, "4.*"},
    {"e9,6i20ry2,3vd3", PRESET_NONE, 7, {0, 0, 0}, NULL},
    {"b4,1,3,5,2d3", PRESET_NONE, 9, {0, 0, 0}, NULL},
    {NULL, PRESET_CHAR_LSTM, 7, {0, 0, 0}, NULL},
    {NULL, PRESET_HISTOGRAMS, 7, {0, 0, 0}, NULL},
    {"e9,6j5rj4vd3", PRESET_NONE, 7, {0, 0, 0}, NULL},
};
enum { FAMILIES = sizeof families / sizeof *families };

static const struct onnx_property properties[] = {{"model", "mdl_1"}};

static struct schema schema_of(size_t features)
{
    return (struct schema){.reader = reader_find("npy"),
                           .task = TASK_CLASSIFICATION,
                           .classes = 3,
                           .shape_count = 1,
                           .shape = {(uint32_t)features},
                           .scale = 255};
}

static void scratch_path(char path[64])
{
    snprintf(path, 64, "/tmp/test_onnx_export.%ld", (long)getpid());
}

static void make(struct batch *batch, const struct family *family)
{
    batch_make(batch, &(struct batch_demand){.layers = family->layers,
                                             .preset = family->preset,
                                             .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
                                             .features = family->features,
                                             .count = 1,
                                             .input = family->input,
                                             .trained = family->trained,
                                             .form = -1});
}

static void write_model(const char *path, const struct batch *batch)
{
    struct model_content content = {batch->network, batch->theta, {0}};
    struct file_checksum seal;
    assert_int_equal(model_file_write(path, &content, &seal, NULL), ST_OK);
}

static enum status open_export(struct onnx_export **out, const char *path,
                               const struct model_spec *model,
                               const struct schema *schema, struct error *error)
{
    const struct onnx_source source = {
        open(path, O_RDONLY | O_CLOEXEC), model, schema, {"9.8.7", properties, 1}};
    return onnx_export_open(out, &source, error);
}

static uint8_t *read_all(struct onnx_export *export, size_t room)
{
    size_t size = (size_t)onnx_export_size(export), read;
    uint8_t *bytes = calloc(size + 1, 1);
    assert_non_null(bytes);
    for (size_t at = 0; at < size; at += read) {
        assert_int_equal(
            onnx_export_read(export, at, (char *)bytes + at, room, &read, NULL), ST_OK);
        assert_true(read == (size - at < room ? size - at : room));
    }
    return bytes;
}

static Onnx__ModelProto *exported(const char *path, const struct batch *batch)
{
    const struct schema schema = schema_of(batch->features);
    struct onnx_export *export = NULL;
    uint8_t digest[SHA256_SIZE], expected[SHA256_SIZE];
    write_model(path, batch);
    assert_int_equal(open_export(&export, path, &batch->model, &schema, NULL), ST_OK);
    size_t size = (size_t)onnx_export_size(export);
    uint8_t *bytes = read_all(export, 1 << 20), *small = read_all(export, 4099);
    assert_memory_equal(bytes, small, size);
    assert_int_equal(onnx_export_digest(export, digest, NULL), ST_OK);
    sha256_of(expected, bytes, size);
    assert_memory_equal(digest, expected, sizeof digest);
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, size, bytes);
    assert_non_null(model);
    free(small);
    free(bytes);
    onnx_export_close(export);
    return model;
}

static bool is_made(const Onnx__GraphProto *graph, size_t before, const char *name)
{
    for (size_t i = 0; i < graph->n_input; i++)
        if (strcmp(graph->input[i]->name, name) == 0)
            return true;
    for (size_t i = 0; i < graph->n_initializer; i++)
        if (strcmp(graph->initializer[i]->name, name) == 0)
            return true;
    for (size_t i = 0; i < before; i++)
        if (strcmp(graph->node[i]->output[0], name) == 0)
            return true;
    return false;
}

static void check_names(const Onnx__GraphProto *graph)
{
    for (size_t i = 0; i < graph->n_node; i++) {
        assert_int_equal(graph->node[i]->n_output, 1);
        assert_false(is_made(graph, i, graph->node[i]->output[0]));
        for (size_t k = 0; k < graph->node[i]->n_input; k++)
            assert_true(is_made(graph, i, graph->node[i]->input[k]));
    }
    for (size_t i = 0; i < graph->n_output; i++)
        assert_true(is_made(graph, graph->n_node, graph->output[i]->name));
}

/* Every tensor of the network is present once, with the floats of the file. */
static void check_tensors(const Onnx__GraphProto *graph, const struct batch *batch)
{
    double *stored = calloc(network_floats(batch->network), sizeof *stored);
    batch_as_file(batch, stored, batch->theta);
    for (size_t t = 0; t < network_tensor_count(batch->network); t++) {
        const struct tensor *tensor = network_tensor(batch->network, t);
        const Onnx__TensorProto *found = NULL;
        for (size_t i = 0; i < graph->n_initializer; i++)
            if (strcmp(graph->initializer[i]->name, tensor->name) == 0)
                found = graph->initializer[i];
        assert_non_null(found);
        assert_int_equal(found->raw_data.len, tensor->count * sizeof(float));
        for (size_t j = 0; j < tensor->count; j++) {
            float value;
            memcpy(&value, found->raw_data.data + j * sizeof value, sizeof value);
            assert_true((double)value == stored[tensor->offset + j]);
        }
    }
    free(stored);
}

static void every_layer_and_preset_is_a_graph_of_known_names(void **state)
{
    char path[64];
    (void)state;
    scratch_path(path);
    for (size_t f = 0; f < FAMILIES; f++) {
        struct batch batch;
        make(&batch, &families[f]);
        for (size_t i = 0; i < batch.network->node_count; i++)
            if (batch.network->nodes[i].kind->onnx == NULL)
                fail_msg("a node of %s has no translation",
                         batch.network->nodes[i].name);
        Onnx__ModelProto *model = exported(path, &batch);
        check_names(model->graph);
        check_tensors(model->graph, &batch);
        onnx__model_proto__free_unpacked(model, NULL);
        batch_fini(&batch);
    }
    unlink(path);
}

/* No test would cover a row that is in none of the families above. */
static void every_row_of_the_table_is_among_them(void **state)
{
    bool held[64] = {false};
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct batch batch;
        make(&batch, &families[f]);
        for (size_t l = 0; l < batch.model.layer_count; l++)
            for (size_t k = 0; layer_kinds[k] != NULL; k++)
                held[k] = held[k] || batch.model.layers[l].kind == layer_kinds[k];
        batch_fini(&batch);
    }
    for (size_t k = 0; layer_kinds[k] != NULL; k++)
        if (!held[k])
            fail_msg("no model here has a %s", layer_kinds[k]->name);
}

static void a_graph_takes_what_predict_takes(void **state)
{
    struct batch batch;
    char path[64];
    (void)state;
    scratch_path(path);
    make(&batch, &families[0]);
    Onnx__ModelProto *model = exported(path, &batch);
    assert_int_equal(model->graph->n_input, 1);
    assert_string_equal(model->graph->input[0]->name, "inputs");
    assert_int_equal(
        model->graph->input[0]->type->tensor_type->shape->dim[1]->dim_value, 6);
    assert_string_equal(model->graph->node[0]->op_type, "Div"); /* by the scale */
    assert_int_equal(model->graph->n_output, 2);
    assert_string_equal(model->graph->output[0]->name, "probabilities");
    assert_string_equal(model->graph->output[1]->name, "class");
    assert_string_equal(model->metadata_props[0]->value, "mdl_1");
    onnx__model_proto__free_unpacked(model, NULL);
    batch_fini(&batch);
    unlink(path);
}

static void another_models_file_is_refused(void **state)
{
    struct batch batch, other;
    struct onnx_export *export = NULL;
    struct error error = {0};
    const struct schema schema = schema_of(6), wide = schema_of(7);
    char path[64];
    (void)state;
    scratch_path(path);
    make(&batch, &families[0]);
    make(&other, &families[2]);
    write_model(path, &other);
    assert_int_equal(open_export(&export, path, &batch.model, &schema, &error),
                     ST_CORRUPT);
    assert_int_equal(
        open_export(&export, "/nonexistent/model", &batch.model, &schema, NULL), ST_IO);
    write_model(path, &batch);
    assert_int_equal(open_export(&export, path, &batch.model, &wide, NULL), ST_CORRUPT);
    batch.model.loss = LOSS_SQUARED;
    assert_int_equal(open_export(&export, path, &batch.model, &schema, NULL),
                     ST_INVALID);
    assert_null(export);
    batch_fini(&batch);
    batch_fini(&other);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layer_and_preset_is_a_graph_of_known_names),
        cmocka_unit_test(every_row_of_the_table_is_among_them),
        cmocka_unit_test(a_graph_takes_what_predict_takes),
        cmocka_unit_test(another_models_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
