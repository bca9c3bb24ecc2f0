/* Goal: a written graph reads back unchanged, and its file is what protobuf-c would
 * have packed without our writer. Method: protobuf-c's own reader over the concatenated
 * pieces, with the stored tensors' bytes in their places. */
#include "tests/expect.h"

#include <string.h>

#include "engine/onnx/onnx_file.h"
#include "engine/onnx/onnx_messages.h"

enum { TENSORS = 3 };
static const float first[] = {2.385F, -0.0F, 1e-45F, 3e38F, 7.25F, -4.5F};
static const float last[] = {0.1F, -123.456F};
static const struct onnx_property properties[] = {{"epsilon", "1.5"},
                                                  {"model", "mdl_\xc3\xa9"}};
static const struct onnx_head head = {"9.8.7", properties, 2};

/* y = Gemm(x, W, b), cut at 0; tensor 1 is not used. */
static struct onnx_graph *small(void)
{
    struct onnx_graph *graph = onnx_graph_create(2, TENSORS);
    static const int64_t ints[] = {-1, 0, INT64_MAX};
    static const char *const words[] = {"a", "", "\xc3\xa9"};
    const float number = 0.5F;
    struct onnx_inputs inputs = {{onnx_graph_input(graph, "x", ONNX_FLOAT, 3)}};

    inputs.names[1] =
        onnx_stored(graph, 2, "0.weight", (struct onnx_dimensions){2, {2, 3}});
    inputs.names[2] = onnx_stored(graph, 0, "0.bias", (struct onnx_dimensions){1, {2}});
    const char *z = onnx_node(graph, "Gemm", inputs);
    onnx_attribute_int(graph, "transB", 0); /* a zero is written, not left out */
    onnx_attribute_float(graph, "alpha", 0.0F);
    onnx_attribute_ints(graph, "ints", ints, 3);
    onnx_attribute_strings(graph, "words", words, 3);
    z = onnx_ml_node(graph, "Shift",
                     (struct onnx_inputs){{z, onnx_floats(graph, &number, 0)}});
    onnx_graph_output(graph, "y", z, ONNX_FLOAT, 2);
    onnx_graph_output(graph, "z", z, ONNX_INT64, 0);
    return graph;
}

static const char *stored(size_t tensor)
{
    assert_true(tensor == 0 || tensor == 2);
    return (const char *)(tensor == 2 ? first : last);
}

/* Returns all bytes of the file, read in steps of at most step; the caller frees
 * them. */
static uint8_t *bytes_of(const struct onnx_file *file, size_t step)
{
    size_t size = (size_t)onnx_file_size(file);
    uint8_t *bytes = calloc(size + 1, 1);
    assert_non_null(bytes);
    for (size_t at = 0; at < size;) {
        struct onnx_piece piece = onnx_file_piece(file, at);
        size_t some = piece.size < step ? piece.size : step;
        assert_true(piece.size > 0 && some <= size - at);
        memcpy(bytes + at,
               piece.bytes != NULL ? piece.bytes : stored(piece.tensor) + piece.offset,
               some);
        at += some;
    }
    return bytes;
}

static Onnx__ModelProto *read_back(struct onnx_graph *graph_take)
{
    struct onnx_file *file = NULL;
    assert_int_equal(onnx_file_create(&file, graph_take, &head, NULL), ST_OK);
    size_t size = (size_t)onnx_file_size(file);
    uint8_t *bytes = bytes_of(file, SIZE_MAX), *by_one = bytes_of(file, 1);
    assert_memory_equal(bytes, by_one, size);
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, size, bytes);
    assert_non_null(model);
    /* Nothing was lost: packing the graph again gives the same bytes. */
    assert_int_equal(onnx__model_proto__get_packed_size(model), size);
    onnx__model_proto__pack(model, by_one);
    assert_memory_equal(bytes, by_one, size);
    free(by_one);
    free(bytes);
    onnx_file_destroy(file);
    return model;
}

static void a_model_says_what_it_is_of(void **state)
{
    Onnx__ModelProto *model = read_back(small());
    (void)state;
    assert_int_equal(model->ir_version, 8);
    assert_string_equal(model->producer_name, "epsilond");
    assert_string_equal(model->producer_version, "9.8.7");
    assert_int_equal(model->n_opset_import, 2);
    assert_string_equal(model->opset_import[0]->domain, "");
    assert_int_equal(model->opset_import[0]->version, 17);
    assert_string_equal(model->opset_import[1]->domain, "ai.onnx.ml");
    assert_int_equal(model->n_metadata_props, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(model->metadata_props[i]->key, properties[i].key);
        assert_string_equal(model->metadata_props[i]->value, properties[i].value);
    }
    onnx__model_proto__free_unpacked(model, NULL);
}

static void nodes_and_their_attributes_read_back(void **state)
{
    Onnx__ModelProto *model = read_back(small());
    const Onnx__GraphProto *graph = model->graph;
    (void)state;
    assert_int_equal(graph->n_node, 4); /* and one for each output */
    const Onnx__NodeProto *gemm = graph->node[0], *shift = graph->node[1];
    assert_string_equal(gemm->op_type, "Gemm");
    assert_null(gemm->domain);
    assert_int_equal(gemm->n_input, 3);
    assert_string_equal(gemm->input[0], "x");
    assert_string_equal(gemm->input[1], "0.weight");
    assert_string_equal(gemm->input[2], "0.bias");
    assert_int_equal(gemm->n_attribute, 4);
    assert_true(gemm->attribute[0]->has_i && gemm->attribute[0]->i == 0);
    assert_int_equal(gemm->attribute[0]->type, 2);
    assert_true(gemm->attribute[1]->has_f && gemm->attribute[1]->f == 0.0F);
    assert_int_equal(gemm->attribute[1]->type, 1);
    assert_int_equal(gemm->attribute[2]->n_ints, 3);
    assert_true(gemm->attribute[2]->ints[0] == -1 &&
                gemm->attribute[2]->ints[2] == INT64_MAX);
    assert_int_equal(gemm->attribute[3]->n_strings, 3);
    assert_int_equal(gemm->attribute[3]->strings[1].len, 0);
    assert_memory_equal(gemm->attribute[3]->strings[2].data, "\xc3\xa9", 2);
    assert_string_equal(shift->domain, "ai.onnx.ml");
    assert_string_equal(shift->input[0], gemm->output[0]);
    onnx__model_proto__free_unpacked(model, NULL);
}

static void tensors_have_the_bytes_that_are_stored(void **state)
{
    Onnx__ModelProto *model = read_back(small());
    const Onnx__GraphProto *graph = model->graph;
    const float number = 0.5F;
    (void)state;
    assert_int_equal(graph->n_initializer, 3);
    const Onnx__TensorProto *weight = graph->initializer[0];
    assert_string_equal(weight->name, "0.weight");
    assert_int_equal(weight->data_type, 1);
    assert_int_equal(weight->n_dims, 2);
    assert_true(weight->dims[0] == 2 && weight->dims[1] == 3);
    assert_int_equal(weight->raw_data.len, sizeof first);
    assert_memory_equal(weight->raw_data.data, first, sizeof first);
    assert_memory_equal(graph->initializer[1]->raw_data.data, last, sizeof last);
    assert_int_equal(graph->initializer[2]->n_dims, 0); /* a number */
    assert_memory_equal(graph->initializer[2]->raw_data.data, &number, sizeof number);
    onnx__model_proto__free_unpacked(model, NULL);
}

static void ends_have_a_type_and_a_batch_of_any_size(void **state)
{
    Onnx__ModelProto *model = read_back(small());
    const Onnx__GraphProto *graph = model->graph;
    (void)state;
    assert_int_equal(graph->n_input, 1);
    assert_int_equal(graph->n_output, 2);
    const Onnx__TypeProto__Tensor *x = graph->input[0]->type->tensor_type,
                                  *z = graph->output[1]->type->tensor_type;
    assert_int_equal(x->elem_type, 1);
    assert_int_equal(x->shape->n_dim, 2);
    assert_string_equal(x->shape->dim[0]->dim_param, "batch");
    assert_false(x->shape->dim[0]->has_dim_value);
    assert_int_equal(x->shape->dim[1]->dim_value, 3);
    assert_int_equal(z->elem_type, 7);
    assert_int_equal(z->shape->n_dim, 1);
    assert_string_equal(graph->output[0]->name, "y");
    assert_string_equal(graph->node[2]->output[0], "y");
    onnx__model_proto__free_unpacked(model, NULL);
}

static void values_are_images_or_vectors_as_they_are_asked_for(void **state)
{
    struct onnx_graph *graph = onnx_graph_create(1, 0);
    const struct onnx_image image = {3, 5, 7};
    (void)state;
    onnx_give(graph, 0, onnx_graph_input(graph, "x", ONNX_FLOAT, 105), onnx_vector);
    assert_string_equal(onnx_value_as(graph, 0, onnx_vector), "x");
    const char *shaped = onnx_value_as(graph, 0, image);
    assert_string_not_equal(shaped, "x");
    onnx_give(graph, 0, shaped, image);
    assert_ptr_equal(onnx_value_as(graph, 0, image), shaped);
    assert_string_not_equal(onnx_value_as(graph, 0, onnx_vector), shaped);
    onnx_graph_destroy(graph);
    onnx_graph_destroy(NULL);
    onnx_file_destroy(NULL);
}

static void a_file_beyond_the_format_is_refused(void **state)
{
    struct onnx_graph *graph = onnx_graph_create(1, 1);
    struct onnx_file *file = NULL;
    struct error error = {0};
    (void)state;
    onnx_stored(graph, 0, "0.weight", (struct onnx_dimensions){2, {1 << 15, 1 << 14}});
    assert_int_equal(onnx_file_create(&file, graph, &head, &error), ST_INVALID);
    assert_null(file);
    assert_non_null(strstr(error.text, "2147483647"));
    graph = onnx_graph_create(1, 1);
    onnx_stored(graph, 0, "0.weight", (struct onnx_dimensions){1, {(1 << 29) - 100}});
    assert_int_equal(onnx_file_create(&file, graph, &head, NULL), ST_OK);
    assert_true(onnx_file_held(file) < 4096); /* the floats are elsewhere */
    onnx_file_destroy(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_says_what_it_is_of),
        cmocka_unit_test(nodes_and_their_attributes_read_back),
        cmocka_unit_test(tensors_have_the_bytes_that_are_stored),
        cmocka_unit_test(ends_have_a_type_and_a_batch_of_any_size),
        cmocka_unit_test(values_are_images_or_vectors_as_they_are_asked_for),
        cmocka_unit_test(a_file_beyond_the_format_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
