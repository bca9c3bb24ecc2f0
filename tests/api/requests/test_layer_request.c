/* Goal: layers of every kind are what their text says, read back to themselves, and are
 * refused at the member at fault. Method: a list with every kind, in two spellings; one
 * member broken at a time. */
#include "tests/expect.h"

#include <string.h>

#include "api/requests/model_request.h"
#include "engine/nn/layers/registry.h"
#include "api/json/json_reader.h"
#include "api/limits.h"
#include "engine/train_spec.h"
#include "tests/api/verdict_fixture.h"
#include "engine/data/readers/reader_registry.h"

static const struct schema images = {.reader = &idx_reader,
                                     .task = TASK_CLASSIFICATION,
                                     .classes = 10,
                                     .shape_count = 3,
                                     .shape = {1, 28, 28},
                                     .scale = 255};
static const struct schema colour = {.reader = &idx_reader,
                                     .task = TASK_CLASSIFICATION,
                                     .classes = 10,
                                     .shape_count = 3,
                                     .shape = {3, 24, 32},
                                     .scale = 255};
static const struct schema flat = {.reader = &idx_reader,
                                   .task = TASK_CLASSIFICATION,
                                   .classes = 10,
                                   .shape_count = 2,
                                   .shape = {28, 28},
                                   .scale = 255};
static const struct schema table = {.reader = &libsvm_reader,
                                    .task = TASK_CLASSIFICATION,
                                    .classes = 10,
                                    .feature_count = 784};

static const struct schema prices = {
    .reader = &libsvm_reader, .task = TASK_REGRESSION, .feature_count = 784};

static enum status parse(struct model_spec *model, const char *text,
                         const struct schema *schema, struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    bool has_loss = false;
    memset(model, 0, sizeof *model);
    if (json_reader_open(&reader, &root, json_text_of(text), error) == ST_OK)
        model_request_read(model, &has_loss, &root);
    enum status status = json_reader_close(&reader);
    if (status == ST_OK)
        status = model_request_fit(model, has_loss, schema, error);
    struct train_spec spec = {.model = *model};
    if (status == ST_OK)
        status = train_spec_compile(&spec, schema_shape(schema), error);
    train_spec_drop_network(&spec);
    return status;
}

static void must_fit(struct model_spec *model, const char *text,
                     const struct schema *schema)
{
    struct error error = {0};
    assert_taken(parse(model, text, schema, &error), text, &error);
}

static void refused(const char *text, const struct schema *schema, const char *pointer)
{
    struct model_spec model;
    struct error error = {0};
    enum status status = parse(&model, text, schema, &error);
    assert_refused_at(status, text, &error, pointer);
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
    "{\"type\":\"sigmoid\"},{\"type\":\"softplus\"},{\"type\":\"gelu\"},"              \
    "{\"type\":\"gelu\",\"approximate\":\"tanh\"},"                                    \
    "{\"type\":\"flatten\"},{\"type\":\"dense\",\"out\":10}]}"

static void members_arrive_in_the_struct(void **state)
{
    struct model_spec model;
    (void)state;
    must_fit(&model, EVERY_KIND, &images);
    assert_int_equal(model.layer_count, 15);
    const struct layer_spec *l = model.layers;
    assert_ptr_equal(l[0].kind, &layer_replicate);
    assert_int_equal(l[0].out, 3);
    assert_ptr_equal(l[1].kind, &layer_conv2d);
    assert_true(l[1].out == 8 && l[1].kernel_height == 5 && l[1].kernel_width == 3);
    assert_true(l[1].stride == 2 && l[1].padding == 2 && l[1].dilation == 1);
    assert_false(l[1].bias);
    assert_true(l[3].kernel_height == 2 && l[3].kernel_width == 2 && l[3].stride == 2 &&
                l[3].padding == 0);
    assert_true(l[5].kernel_width == 3 && l[5].stride == 1 && l[5].bias);
    assert_true(l[6].kind == &layer_avg_pool2d && l[6].stride == 1);
    assert_true(l[8].kind == &layer_global_avg_pool && l[13].kind == &layer_flatten);
    assert_true(l[9].kind == &layer_sigmoid && l[10].kind == &layer_softplus);
    assert_true(l[11].kind == &layer_gelu && l[12].kind == &layer_gelu_tanh);
    assert_true(model.input.height == 28 && model.input.width == 28 &&
                model.input.channels == 1);
    model_spec_fini(&model);
}

#define BLOCK                                                                          \
    "{\"layers\":[{\"type\":\"conv2d\",\"out\":8,\"kernel\":3},"                       \
    "{\"type\":\"group_norm\",\"groups\":4},{\"type\":\"dropout\",\"rate\":0.25},"     \
    "{\"type\":\"residual\",\"body\":[{\"type\":\"conv2d\",\"out\":6,\"kernel\":3,"    \
    "\"stride\":2,\"padding\":1},{\"type\":\"residual\",\"body\":[{\"type\":\"relu\"}" \
    "]}],"                                                                             \
    "\"shortcut\":[{\"type\":\"conv2d\",\"out\":6,\"kernel\":1,\"stride\":2},"         \
    "{\"type\":\"group_norm\",\"groups\":3,\"eps\":0.001}]},"                          \
    "{\"type\":\"global_avg_pool\"},{\"type\":\"dense\",\"out\":10}]}"

static void branches_lie_behind_their_residual(void **state)
{
    static const struct layer_kind *const kinds[] = {
        &layer_conv2d,     &layer_group_norm,      &layer_dropout, &layer_residual,
        &layer_conv2d,     &layer_residual,        &layer_relu,    &layer_conv2d,
        &layer_group_norm, &layer_global_avg_pool, &layer_dense};
    struct model_spec model;
    (void)state;
    must_fit(&model, BLOCK, &images);
    const struct layer_spec *l = model.layers;
    assert_int_equal(model.layer_count, sizeof kinds / sizeof *kinds);
    for (size_t i = 0; i < model.layer_count; i++)
        assert_int_equal(l[i].kind, kinds[i]);
    assert_true(l[1].groups == 4 && l[1].epsilon == 1e-5 && l[2].rate == 0.25);
    assert_true(l[3].body == 3 && l[3].shortcut == 2);
    assert_true(l[5].body == 1 && l[5].shortcut == 0 && l[8].epsilon == 0.001);
    model_spec_fini(&model);
}

/* Every layer counts, at any depth. */
static void layers_in_branches_are_limited_in_number(void **state)
{
    char *text = malloc(64 * (size_t)LIMIT_LAYERS);
    struct model_spec model;
    struct error error = {0};
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        size_t at =
            (size_t)sprintf(text, "{\"layers\":[{\"type\":\"residual\",\"body\":[");
        for (size_t i = 0; i < LIMIT_LAYERS - 2 + more; i++)
            at += (size_t)sprintf(text + at, "%s{\"type\":\"relu\"}", i > 0 ? "," : "");
        sprintf(text + at, "]},{\"type\":\"dense\",\"out\":10}]}");
        assert_int_equal(parse(&model, text, &images, &error),
                         more > 0 ? ST_INVALID : ST_OK);
        model_spec_fini(&model);
    }
    assert_string_equal(error.pointer, "/layers/1");
    free(text);
}

static void an_architecture_reads_back(void **state)
{
    static const struct {
        const char *text;
        const struct schema *schema;
    } cases[] = {{EVERY_KIND, &images},
                 {BLOCK, &images},
                 {"{\"preset\":\"cnn_mnist\",\"init_seed\":7}", &images},
                 {"{\"preset\":\"cnn_mnist\"}", &flat},
                 {"{\"preset\":\"cnn_mnist\"}", &colour},
                 {"{\"preset\":\"resnet18_gn\"}", &colour},
                 {"{\"preset\":\"cnn_cifar\"}", &colour},
                 {"{\"preset\":\"scatter\"}", &colour},
                 {"{\"preset\":\"scatter\",\"trainable\":\"all\"}", &images},
                 {"{\"preset\":\"cnn_cifar\"}", &images},
                 {"{\"preset\":\"resnet34_gn\",\"groups\":16}", &images},
                 {"{\"preset\":\"cnn_mnist\",\"input\":{\"shape\":[28,28,1]}}", &table},
                 {"{\"preset\":\"mlp\",\"activation\":\"gelu_tanh\"}", &images},
                 {"{\"preset\":\"mlp\",\"loss\":{\"huber\":{\"delta\":0.1}}}", &prices},
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
        assert_int_equal(again.groups, model.groups);
        assert_true(again.huber_delta == model.huber_delta);
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
    assert_ptr_equal(model.layers[0].kind, &layer_conv2d); /* nothing to replicate */
    model_spec_fini(&model);

    must_fit(&model, "{\"preset\":\"cnn_mnist\"}", &flat);
    assert_true(model.input.height == 28 && model.input.channels == 1);
    model_spec_fini(&model);

    /* A model that needs no image does not mention one. */
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
        {"", "{\"type\":\"gelu_tanh\"},", "/layers/1/type"},
        {"", "{\"type\":\"crop\"},", "/layers/1/size"},
        {"", "{\"type\":\"crop\",\"size\":3},", "/model/layers/1/type"},
        {"", "{\"type\":\"layer_norm\",\"eps\":9e-13},", "/layers/1/eps"},
        {"", "{\"type\":\"layer_norm\",\"groups\":2},", "/layers/1/groups"},
        {"", "{\"type\":\"scatter\",\"centre\":1000001},", "/layers/1/centre"},
        {"", "{\"type\":\"scatter\",\"scales\":2},", "/layers/1/scales"},
        {"", "{\"type\":\"scatter\"},", "/model/layers/1/type"},
        {"", "{\"type\":\"group_norm\"},", "/layers/1/groups"},
        {"", "{\"type\":\"group_norm\",\"groups\":0},", "/layers/1/groups"},
        {"", "{\"type\":\"group_norm\",\"groups\":3},", "/model/layers/1/groups"},
        {"", "{\"type\":\"group_norm\",\"groups\":2,\"eps\":9e-13},", "/layers/1/eps"},
        {"", "{\"type\":\"group_norm\",\"groups\":2,\"eps\":1.5},", "/layers/1/eps"},
        {"", "{\"type\":\"group_norm\",\"groups\":2,\"rate\":0.5},", "/layers/1/rate"},
        {"", "{\"type\":\"dropout\"},", "/layers/1/rate"},
        {"", "{\"type\":\"dropout\",\"rate\":1},", "/layers/1/rate"},
        {"", "{\"type\":\"dropout\",\"rate\":-0.1},", "/layers/1/rate"},
        {"", "{\"type\":\"residual\"},", "/layers/1/body"},
        {"", "{\"type\":\"residual\",\"body\":[]},", "/layers/1/body"},
        {"", "{\"type\":\"residual\",\"body\":[{\"type\":\"relu\",\"out\":1}]},",
         "/layers/1/body/0/out"},
        {"",
         "{\"type\":\"residual\",\"body\":[{\"type\":\"relu\"}],\"shortcut\":["
         "{\"type\":\"relu\"},{\"type\":\"lu\"}]},",
         "/layers/1/shortcut/1/type"},
        {"",
         "{\"type\":\"residual\",\"body\":[{\"type\":\"conv2d\",\"out\":3,"
         "\"kernel\":1}]},",
         "/model/layers/1"},
        {"", "{\"type\":\"gelu\",\"approximate\":\"erf\"},", "/layers/1/approximate"},
        {"", "{\"type\":\"tanh\",\"approximate\":\"tanh\"},", "/layers/1/approximate"},
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
    refused("{\"preset\":\"mlp\",\"groups\":3}", &images, "/groups");
    refused("{\"preset\":\"resnet18_gn\",\"groups\":0}", &images, "/groups");
    refused("{\"preset\":\"resnet18_gn\",\"groups\":48}", &images, "/model");
    refused("{\"preset\":\"scatter\",\"groups\":27}", &images, "/groups");
    refused("{\"preset\":\"scatter\"}", &table, "/model");
    refused("{\"preset\":\"resnet50_gn\"}", &images, "/preset");
    refused("{\"preset\":\"cnn_cifar\",\"frozen_convs\":true}", &images,
            "/frozen_convs");
    refused("{\"preset\":\"cnn_cifar\",\"input\":{\"shape\":[16,49,1]}}", &images,
            "/model");
}

static void a_loss_is_checked(void **state)
{
    static const struct {
        const char *loss, *pointer;
    } cases[] = {
        {"\"huber\"", "/loss"},
        {"\"hinge\"", "/loss"},
        {"{}", "/loss/huber"},
        {"{\"huber\":1}", "/loss/huber"},
        {"{\"huber\":{}}", "/loss/huber/delta"},
        {"{\"huber\":{\"delta\":0}}", "/loss/huber/delta"},
        {"{\"huber\":{\"delta\":1e13}}", "/loss/huber/delta"},
        {"{\"huber\":{\"delta\":1,\"gamma\":1}}", "/loss/huber/gamma"},
        {"{\"huber\":{\"delta\":1},\"squared\":1}", "/loss/squared"},
    };
    struct model_spec model;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[160];
        snprintf(text, sizeof text, "{\"preset\":\"linear\",\"loss\":%s}",
                 cases[i].loss);
        refused(text, &prices, cases[i].pointer);
    }
    must_fit(&model, "{\"preset\":\"linear\",\"loss\":{\"huber\":{\"delta\":1.345}}}",
             &prices);
    assert_int_equal(model.loss, LOSS_HUBER);
    assert_true(model.huber_delta == 1.345 && model.layers[0].out == 1);
    model_spec_fini(&model);
    refused("{\"preset\":\"linear\",\"loss\":{\"huber\":{\"delta\":1}}}", &images,
            "/model/loss");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_arrive_in_the_struct),
        cmocka_unit_test(branches_lie_behind_their_residual),
        cmocka_unit_test(layers_in_branches_are_limited_in_number),
        cmocka_unit_test(an_architecture_reads_back),
        cmocka_unit_test(the_input_is_the_datasets_unless_named),
        cmocka_unit_test(members_are_checked),
        cmocka_unit_test(a_loss_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
