/* Goal: layers of every kind are what their text says, read back to themselves, and are
 * refused at the member at fault. Method: a list with every kind, in two spellings; one
 * member broken at a time. */
#include "tests/expect.h"

#include <string.h>

#include "api/model_request.h"
#include "api/json_reader.h"
#include "api/limits.h"

static const struct schema images = {.format = FORMAT_IDX,
                                     .task = TASK_CLASSIFICATION,
                                     .classes = 10,
                                     .shape_count = 3,
                                     .shape = {1, 28, 28},
                                     .scale = 255};
static const struct schema colour = {.format = FORMAT_IDX,
                                     .task = TASK_CLASSIFICATION,
                                     .classes = 10,
                                     .shape_count = 3,
                                     .shape = {3, 24, 32},
                                     .scale = 255};
static const struct schema flat = {.format = FORMAT_IDX,
                                   .task = TASK_CLASSIFICATION,
                                   .classes = 10,
                                   .shape_count = 2,
                                   .shape = {28, 28},
                                   .scale = 255};
static const struct schema table = {.format = FORMAT_LIBSVM,
                                    .task = TASK_CLASSIFICATION,
                                    .classes = 10,
                                    .feature_count = 784};

static enum status parse(struct model_spec *model, const char *text,
                         const struct schema *schema, struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    bool has_loss = false;
    memset(model, 0, sizeof *model);
    if (json_reader_open(&reader, &root, text, strlen(text), error) == ST_OK)
        model_request_read(model, &has_loss, &root);
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        status = model_request_fit(model, has_loss, schema, error);
    return status;
}

static void must_fit(struct model_spec *model, const char *text,
                     const struct schema *schema)
{
    struct error error = {0};
    if (parse(model, text, schema, &error) != ST_OK)
        fail_msg("%s: %s: %s", text, error.pointer, error.text);
}

static void refused(const char *text, const struct schema *schema, const char *pointer)
{
    struct model_spec model;
    struct error error = {0};
    if (parse(&model, text, schema, &error) != ST_INVALID)
        fail_msg("accepted: %s", text);
    if (strcmp(error.pointer, pointer) != 0)
        fail_msg("%s: pointer %s, text %s", text, error.pointer, error.text);
    model_spec_fini(&model);
}

#define EVERY_KIND                                                                     \
    "{\"layers\":[{\"type\":\"replicate\",\"channels\":3},"                            \
    "{\"type\":\"conv2d\",\"out\":8,\"kernel\":[5,3],\"stride\":2,\"padding\":2,"      \
    "\"dilation\":1,\"bias\":false},{\"type\":\"relu\"},"                              \
    "{\"type\":\"max_pool2d\",\"kernel\":2},{\"type\":\"tanh\"},"                      \
    "{\"type\":\"conv2d\",\"out\":6,\"kernel\":3},"                                    \
    "{\"type\":\"avg_pool2d\",\"kernel\":2,\"stride\":1},"                             \
    "{\"type\":\"dense\",\"out\":5},{\"type\":\"global_avg_pool\"},"                   \
    "{\"type\":\"flatten\"},{\"type\":\"dense\",\"out\":10}]}"

static void members_arrive_in_the_struct(void **state)
{
    struct model_spec model;
    (void)state;
    must_fit(&model, EVERY_KIND, &images);
    assert_int_equal(model.layer_count, 11);
    const struct layer_spec *l = model.layers;
    assert_int_equal(l[0].kind, LAYER_REPLICATE);
    assert_int_equal(l[0].out, 3);
    assert_int_equal(l[1].kind, LAYER_CONV2D);
    assert_true(l[1].out == 8 && l[1].kernel_height == 5 && l[1].kernel_width == 3);
    assert_true(l[1].stride == 2 && l[1].padding == 2 && l[1].dilation == 1);
    assert_false(l[1].bias);
    assert_true(l[3].kernel_height == 2 && l[3].kernel_width == 2 && l[3].stride == 2 &&
                l[3].padding == 0);
    assert_true(l[5].kernel_width == 3 && l[5].stride == 1 && l[5].bias);
    assert_true(l[6].kind == LAYER_AVG_POOL2D && l[6].stride == 1);
    assert_true(l[8].kind == LAYER_GLOBAL_AVG_POOL && l[9].kind == LAYER_FLATTEN);
    assert_true(model.input.height == 28 && model.input.width == 28 &&
                model.input.channels == 1);
    model_spec_fini(&model);
}

static void an_architecture_reads_back(void **state)
{
    static const struct {
        const char *text;
        const struct schema *schema;
    } cases[] = {{EVERY_KIND, &images},
                 {"{\"preset\":\"cnn_mnist\",\"init_seed\":7}", &images},
                 {"{\"preset\":\"cnn_mnist\"}", &flat},
                 {"{\"preset\":\"cnn_mnist\"}", &colour},
                 {"{\"preset\":\"cnn_mnist\",\"input\":{\"shape\":[28,28,1]}}", &table},
                 {"{\"preset\":\"mlp\"}", &images}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model_spec model, again;
        must_fit(&model, cases[i].text, cases[i].schema);
        char *text = model_spec_render(&model);
        assert_int_equal(model_spec_parse(&again, text, NULL), ST_OK);
        char *same = model_spec_render(&again);
        assert_string_equal(text, same);
        assert_memory_equal(again.layers, model.layers,
                            model.layer_count * sizeof *model.layers);
        assert_memory_equal(&again.input, &model.input, sizeof model.input);
        assert_int_equal(again.preset, model.preset);
        free(text);
        free(same);
        model_spec_fini(&model);
        model_spec_fini(&again);
    }
}

static void the_input_is_the_datasets_unless_named(void **state)
{
    struct model_spec model;
    (void)state;
    must_fit(&model, "{\"preset\":\"cnn_mnist\"}", &colour);
    assert_true(model.input.height == 24 && model.input.width == 32 &&
                model.input.channels == 3);
    assert_int_equal(model.layers[0].kind, LAYER_CONV2D); /* nothing to replicate */
    model_spec_fini(&model);

    must_fit(&model, "{\"preset\":\"cnn_mnist\"}", &flat);
    assert_true(model.input.height == 28 && model.input.channels == 1);
    model_spec_fini(&model);

    /* A model that needs no image says nothing of one. */
    must_fit(&model, "{\"preset\":\"mlp\"}", &images);
    assert_int_equal(model.input.channels, 0);
    char *text = model_spec_render(&model);
    assert_null(strstr(text, "input"));
    free(text);
    model_spec_fini(&model);

    must_fit(&model,
             "{\"input\":{\"shape\":[14,56,1]},\"layers\":[{\"type\":\"conv2d\","
             "\"out\":10,\"kernel\":3},{\"type\":\"global_avg_pool\"}]}",
             &images);
    assert_true(model.input.height == 14 && model.input.width == 56);
    model_spec_fini(&model);
    refused("{\"preset\":\"cnn_mnist\"}", &table, "/model");
    refused("{\"preset\":\"cnn_mnist\",\"input\":{\"shape\":[28,29,1]}}", &images,
            "/model/input");
}

#define CONV                                                                           \
    "{\"layers\":[{\"type\":\"conv2d\",\"out\":4,\"kernel\":3%s},%s"                   \
    "{\"type\":\"flatten\"},{\"type\":\"dense\",\"out\":10}]}"

static void members_are_checked(void **state)
{
    static const struct {
        const char *member, *layers, *pointer; /* of the conv2d, and after it */
    } cases[] = {
        {",\"stride\":0", "", "/layers/0/stride"},
        {",\"stride\":4097", "", "/layers/0/stride"},
        {",\"stride\":\"1\"", "", "/layers/0/stride"},
        {",\"padding\":-1", "", "/layers/0/padding"},
        {",\"dilation\":0", "", "/layers/0/dilation"},
        {",\"bias\":1", "", "/layers/0/bias"},
        {",\"groups\":1", "", "/layers/0/groups"},
        {",\"channels\":1", "", "/layers/0/channels"},
        {"", "{\"type\":\"relu\",\"kernel\":2},", "/layers/1/kernel"},
        {"", "{\"type\":\"max_pool2d\"},", "/layers/1/kernel"},
        {"", "{\"type\":\"max_pool2d\",\"kernel\":0},", "/layers/1/kernel"},
        {"", "{\"type\":\"max_pool2d\",\"kernel\":65},", "/layers/1/kernel"},
        {"", "{\"type\":\"max_pool2d\",\"kernel\":[2]},", "/layers/1/kernel"},
        {"", "{\"type\":\"max_pool2d\",\"kernel\":[2,0]},", "/layers/1/kernel/1"},
        {"", "{\"type\":\"max_pool2d\",\"kernel\":2,\"out\":3},", "/layers/1/out"},
        {"", "{\"type\":\"avg_pool2d\",\"kernel\":2,\"padding\":1},",
         "/layers/1/padding"},
        {"", "{\"type\":\"global_avg_pool\",\"kernel\":2},", "/layers/1/kernel"},
        {"", "{\"type\":\"replicate\"},", "/layers/1/channels"},
        {"", "{\"type\":\"batch_norm\"},", "/layers/1/type"},
        {"", "{\"type\":\"replicate\",\"channels\":3},", "/model/layers/1/type"},
        {"", "{\"type\":\"max_pool2d\",\"kernel\":40},", "/model/layers/1/kernel"},
        {"", "{\"type\":\"flatten\"},{\"type\":\"conv2d\",\"out\":1,\"kernel\":1},",
         "/model/layers/2/type"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        snprintf(text, sizeof text, CONV, cases[i].member, cases[i].layers);
        refused(text, &images, cases[i].pointer);
    }
    refused("{\"input\":{\"shape\":[28,28]},\"layers\":[{\"type\":\"relu\"}]}", &images,
            "/input/shape");
    refused("{\"input\":{\"shape\":[28,0,1]},\"layers\":[{\"type\":\"relu\"}]}",
            &images, "/input/shape/1");
    refused("{\"input\":{\"tokens\":3},\"layers\":[{\"type\":\"relu\"}]}", &images,
            "/input/tokens");
    refused("{\"preset\":\"linear\",\"input\":{\"shape\":[28,28,1]}}", &images,
            "/input");
    refused("{\"preset\":\"cnn_mnist\",\"hidden\":[3]}", &images, "/hidden");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_arrive_in_the_struct),
        cmocka_unit_test(an_architecture_reads_back),
        cmocka_unit_test(the_input_is_the_datasets_unless_named),
        cmocka_unit_test(members_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
