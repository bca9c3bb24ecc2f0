/* Goal: a frozen layer is only computed forward, and so is the weight of a layer of which
 * only the bias is trained. A record's gradient is that of the trained tensors, to the
 * bit, and so is its norm. Method: each model is compiled as a
 * whole and with parts frozen, with the same weights, and both are run over the same
 * records. */
#include "engine/nn/initial_values.h"
#include "tests/expect.h"

#include <string.h>

#include "engine/nn/layers/registry.h"
#include "engine/nn/workspace.h"

enum { RECORDS = 5, ROWS = 16, FEATURES = 72, CLASSES = 3, LAYERS_MAX = 16 };

struct choice {
    enum trainable_kind kind;
    const char *patterns[4]; /* NULL-ended */
};

static struct model_spec model_of(const struct layer_spec *layers, size_t count,
                                  const struct choice *choice)
{
    static char texts[4][TENSOR_NAME_SIZE];
    struct model_spec model = {.layer_count = count,
                               .layers = (struct layer_spec *)(uintptr_t)layers,
                               .input = {6, 6, 2},
                               .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
                               .start.trainable = choice->kind};
    for (; choice->patterns[model.start.named.count] != NULL; model.start.named.count++)
        snprintf(texts[model.start.named.count], TENSOR_NAME_SIZE, "%s",
                 choice->patterns[model.start.named.count]);
    model.start.named.texts = texts;
    return model;
}

static enum status compile(struct network **network, const struct layer_spec *layers,
                           size_t count, const struct choice *choice,
                           struct error *error)
{
    const struct model_spec model = model_of(layers, count, choice);
    return network_create(network, &model, (struct network_shape){FEATURES, CLASSES},
                          error);
}

static const struct layer_spec dense = {.kind = &layer_dense, .out = 8, .bias = true};
static const struct layer_spec last = {
    .kind = &layer_dense, .out = CLASSES, .bias = true};
static const struct layer_spec conv = {.kind = &layer_conv2d,
                                       .out = 4,
                                       .bias = true,
                                       .kernel_height = 3,
                                       .kernel_width = 3,
                                       .stride = 1,
                                       .padding = 1,
                                       .dilation = 1};

/* Names: 0, 2, 4. */
static size_t make_mlp(struct layer_spec layers[LAYERS_MAX])
{
    const struct layer_spec made[] = {
        dense, {.kind = &layer_tanh}, dense, {.kind = &layer_relu}, last};
    memcpy(layers, made, sizeof made);
    return 5;
}

/* Names: 0, 1 (a norm), 3, 5.body.0, 5.shortcut.0, 7. */
static size_t make_images(struct layer_spec layers[LAYERS_MAX])
{
    const struct layer_spec made[] = {
        conv,
        {.kind = &layer_group_norm, .groups = 2, .epsilon = 1e-5},
        {.kind = &layer_relu},
        conv,
        {.kind = &layer_tanh},
        {.kind = &layer_residual, .body = 1, .shortcut = 1},
        conv,
        conv,
        {.kind = &layer_flatten},
        last};
    memcpy(layers, made, sizeof made);
    return 10;
}

static float generic(size_t i, size_t j)
{
    return (float)sin((double)(i * 131 + j * j * 7 + j) * 0.37);
}

static struct workspace *passed(const struct network *network, float **values)
{
    struct workspace *workspace;
    *values = calloc(network_floats(network), sizeof **values);
    network_init(network, *values, 3);
    assert_int_equal(workspace_create(&workspace, network, ROWS, NULL), ST_OK);
    for (size_t i = 0; i < RECORDS; i++) {
        float *row = workspace_input(workspace) + i * workspace_stride(workspace);
        for (size_t j = 0; j < FEATURES; j++)
            row[j] = generic(i, j);
        workspace_classes(workspace)[i] = (uint32_t)(i % CLASSES);
    }
    workspace_forward(workspace, *values, RECORDS);
    workspace_loss(workspace);
    workspace_backward(workspace, *values);
    workspace_measure(workspace, NULL);
    return workspace;
}

/* Returns the gradient (network_parameters) of one record. */
static float *gradient_of(const struct network *network,
                          const struct workspace *workspace, size_t record)
{
    float *gradient = calloc(network_parameters(network), sizeof *gradient);
    float *block = aligned_alloc(
        64, (network_tile_floats_max(network) * sizeof *block + 63) / 64 * 64);
    for (size_t t = 0; t < network_tile_count(network); t++) {
        struct tile tile = network_tile(network, t);
        workspace_sum(workspace, t, (struct row_range){record, 1}, block);
        memcpy(gradient + tile.offset, block, tile.count * sizeof *block);
    }
    free(block);
    return gradient;
}

static const struct tensor *tensor_of(const struct network *network, const char *name)
{
    for (size_t i = 0; i < network_tensor_count(network); i++)
        if (strcmp(network_tensor(network, i)->name, name) == 0)
            return network_tensor(network, i);
    fail_msg("no %s", name);
    return NULL;
}

/* Compares the record's gradient with the same part of the whole gradient, and its
 * norm. */
static void compare_record(const struct network *whole, const struct network *part,
                           const struct workspace *all, const struct workspace *some,
                           size_t record)
{
    float *expected = gradient_of(whole, all, record);
    float *gradient = gradient_of(part, some, record);
    double square = 0;
    for (size_t i = 0; i < network_tensor_count(part); i++) {
        const struct tensor *tensor = network_tensor(part, i);
        const struct tensor *from = tensor_of(whole, tensor->name);
        if (tensor->offset >= network_parameters(part))
            continue;
        assert_memory_equal(gradient + tensor->offset, expected + from->offset,
                            tensor->count * sizeof *gradient);
        for (size_t j = 0; j < tensor->count; j++)
            square += pow((double)gradient[tensor->offset + j], 2);
    }
    assert_true(square > 0);
    double norm = workspace_norms(some)[record];
    assert_true(norm >= sqrt(square) && norm <= sqrt(square) * (1 + 1e-4));
    free(expected);
    free(gradient);
}

static void check_choice(const struct layer_spec *layers, size_t count,
                         const struct choice *choice)
{
    struct network *whole, *part;
    float *values[2];
    const struct choice all = {.kind = TRAINABLE_ALL};
    assert_int_equal(compile(&whole, layers, count, &all, NULL), ST_OK);
    assert_int_equal(compile(&part, layers, count, choice, NULL), ST_OK);
    assert_int_equal(network_floats(part), network_parameters(whole));
    assert_true(network_parameters(part) < network_parameters(whole));
    struct workspace *of_whole = passed(whole, &values[0]);
    struct workspace *of_part = passed(part, &values[1]);
    for (size_t i = 0; i < RECORDS; i++)
        compare_record(whole, part, of_whole, of_part, i);
    assert_memory_equal(workspace_losses(of_whole), workspace_losses(of_part),
                        RECORDS * sizeof(double));
    for (int k = 0; k < 2; k++)
        free(values[k]);
    workspace_destroy(of_whole);
    workspace_destroy(of_part);
    network_destroy(whole);
    network_destroy(part);
}

static const struct choice of_mlp[] = {
    {TRAINABLE_HEAD, {NULL}},
    {TRAINABLE_ONLY, {"0.*", NULL}},
    {TRAINABLE_ONLY, {"2.?*", NULL}},
    {TRAINABLE_EXCEPT, {"[02].*", NULL}},
    {TRAINABLE_ONLY, {"*.bias", NULL}},
    {TRAINABLE_ONLY, {"0.bias", NULL}},
    {TRAINABLE_ONLY, {"0.bias", "2.*", NULL}},
    {TRAINABLE_EXCEPT, {"[24].weight", NULL}},
    {TRAINABLE_BIAS, {NULL}},
};
static const struct choice of_images[] = {
    {TRAINABLE_HEAD, {NULL}},
    {TRAINABLE_ONLY, {"1.*", NULL}},
    {TRAINABLE_ONLY, {"0.*", NULL}},
    {TRAINABLE_ONLY, {"5.body.*", NULL}},
    {TRAINABLE_ONLY, {"3.*", NULL}},
    {TRAINABLE_EXCEPT, {"[0137].*", NULL}},
    {TRAINABLE_EXCEPT, {"1.*", "5.shortcut.*", NULL}},
    {TRAINABLE_ONLY, {"*.bias", NULL}},
    {TRAINABLE_ONLY, {"1.bias", NULL}},
    {TRAINABLE_ONLY, {"0.bias", "5.body.0.*", NULL}},
    {TRAINABLE_EXCEPT, {"*.weight", NULL}},
    {TRAINABLE_BIAS, {NULL}},
};

static void what_is_left_is_the_gradient_of_the_trained(void **state)
{
    (void)state;
    struct layer_spec layers[LAYERS_MAX];
    size_t count = make_mlp(layers);
    for (size_t k = 0; k < sizeof of_mlp / sizeof *of_mlp; k++)
        check_choice(layers, count, &of_mlp[k]);
    count = make_images(layers);
    for (size_t k = 0; k < sizeof of_images / sizeof *of_images; k++)
        check_choice(layers, count, &of_images[k]);
}

static void trained_floats_come_first(void **state)
{
    (void)state;
    struct layer_spec layers[LAYERS_MAX];
    struct network *whole, *part;
    size_t count = make_images(layers);
    const struct choice all = {.kind = TRAINABLE_ALL};
    const struct choice some = {TRAINABLE_EXCEPT, {"0.*", "3.*", NULL}};
    assert_int_equal(compile(&whole, layers, count, &all, NULL), ST_OK);
    assert_int_equal(compile(&part, layers, count, &some, NULL), ST_OK);
    size_t trained = 0, frozen = network_parameters(part);
    for (size_t i = 0; i < network_tensor_count(part); i++) {
        const struct tensor *tensor = network_tensor(part, i);
        bool keeps = tensor->name[0] == '0' || tensor->name[0] == '3';
        size_t *next = keeps ? &frozen : &trained;
        assert_int_equal(tensor->offset, *next);
        *next += tensor->count;
    }
    assert_int_equal(trained, network_parameters(part));
    assert_int_equal(frozen, network_floats(part));
    assert_int_equal(network_trained_layers(part), network_layers(whole) - 2);
    float *a = calloc(network_floats(whole), sizeof *a);
    float *b = calloc(network_floats(part), sizeof *b);
    network_init(whole, a, 9);
    network_init(part, b, 9);
    for (size_t i = 0; i < network_tensor_count(part); i++) {
        const struct tensor *tensor = network_tensor(part, i);
        assert_memory_equal(b + tensor->offset,
                            a + tensor_of(whole, tensor->name)->offset,
                            tensor->count * sizeof *a);
    }
    free(a);
    free(b);
    network_destroy(whole);
    network_destroy(part);
}

static void the_frozen_end_is_one_value(void **state)
{
    (void)state;
    static const struct {
        bool images;
        struct choice choice;
        size_t width;
    } cases[] = {
        {false, {TRAINABLE_HEAD, {NULL}}, 8},
        {false, {TRAINABLE_ONLY, {"[24].*", NULL}}, 8},
        {false, {TRAINABLE_ONLY, {"0.*", NULL}}, 0},
        {true, {TRAINABLE_HEAD, {NULL}}, 144},
        {true, {TRAINABLE_ONLY, {"5.body.*", NULL}}, 144}, /* before the fork */
        {true, {TRAINABLE_ONLY, {"5.shortcut.*", NULL}}, 144},
        {true, {TRAINABLE_ONLY, {"1.*", NULL}}, 144}, /* normalised, not yet scaled */
        {true, {TRAINABLE_EXCEPT, {"3.*", NULL}}, 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct layer_spec layers[LAYERS_MAX];
        struct network *network;
        size_t count = cases[k].images ? make_images(layers) : make_mlp(layers);
        assert_int_equal(compile(&network, layers, count, &cases[k].choice, NULL),
                         ST_OK);
        assert_int_equal(network_frozen_width(network), cases[k].width);
        network_destroy(network);
    }
}

static void choices_that_mean_nothing_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct choice choice;
        const char *pointer;
    } cases[] = {
        {{TRAINABLE_ONLY, {"4.*", "5.*", NULL}}, "/model/trainable/only/1"},
        {{TRAINABLE_EXCEPT, {"head", NULL}}, "/model/trainable/except/0"},
        {{TRAINABLE_EXCEPT, {"*", NULL}}, "/model/trainable"},
        {{TRAINABLE_EXCEPT, {"0.*", "2.*", "4.*", NULL}}, "/model/trainable"},
        {{TRAINABLE_ONLY, {"0.*", "2.weight", NULL}}, "/model/trainable/only/1"},
        {{TRAINABLE_EXCEPT, {"*.bias", NULL}}, "/model/trainable/except/0"},
        {{TRAINABLE_EXCEPT, {"0.weight", "2.bias", NULL}}, "/model/trainable/except/1"},
    };
    struct layer_spec layers[LAYERS_MAX];
    size_t count = make_mlp(layers);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct network *network;
        struct error error = {0};
        assert_int_equal(compile(&network, layers, count, &cases[k].choice, &error),
                         ST_INVALID);
        assert_string_equal(error.pointer, cases[k].pointer);
    }
}

/* The trained tensors of the model, in order, with spaces between. */
static void expect_trained(const struct model_spec *model, const char *names)
{
    struct network *network;
    struct error error = {0};
    char trained[512] = "";
    if (network_create(&network, model, (struct network_shape){FEATURES, CLASSES},
                       &error) != ST_OK)
        fail_msg("%s: %s", error.pointer, error.text);
    for (size_t i = 0; i < network_tensor_count(network); i++) {
        const struct tensor *tensor = network_tensor(network, i);
        size_t length = strlen(trained);
        if (tensor->offset < network_parameters(network))
            snprintf(trained + length, sizeof trained - length, "%s ", tensor->name);
    }
    assert_string_equal(trained, names);
    network_destroy(network);
}

static void a_word_names_what_is_trained(void **state)
{
    (void)state;
    const struct choice bias = {TRAINABLE_BIAS, {NULL}},
                        blocks = {TRAINABLE_LAST, {NULL}};
    struct layer_spec layers[LAYERS_MAX];
    struct model_spec model = model_of(layers, make_images(layers), &bias);
    expect_trained(&model, "0.bias 1.weight 1.bias 3.bias 5.body.0.bias "
                           "5.shortcut.0.bias 7.weight 7.bias ");
    layers[0].bias = layers[3].bias = false;
    expect_trained(&model, "1.weight 1.bias 5.body.0.bias 5.shortcut.0.bias 7.weight "
                           "7.bias ");
    model = model_of(layers, make_mlp(layers), &blocks);
    model.start.last = 2;
    expect_trained(&model, "2.weight 2.bias 4.weight 4.bias ");
    model.start.last = 3;
    expect_trained(&model, "0.weight 0.bias 2.weight 2.bias 4.weight 4.bias ");
    model.start.last = 1;
    expect_trained(&model, "4.weight 4.bias ");
}

static void expect_start_refused(struct model_spec *model, const char *pointer,
                                 const char *text)
{
    struct network *network;
    struct error error = {0};
    assert_int_equal(network_create(&network, model,
                                    (struct network_shape){FEATURES, CLASSES}, &error),
                     ST_INVALID);
    assert_string_equal(error.pointer, pointer);
    assert_non_null(strstr(error.text, text));
}

static void more_blocks_than_there_are_is_refused(void **state)
{
    (void)state;
    const struct choice blocks = {TRAINABLE_LAST, {NULL}};
    struct layer_spec layers[LAYERS_MAX];
    struct model_spec model = model_of(layers, make_mlp(layers), &blocks);
    model.start.last = 4;
    expect_start_refused(&model, "/model/trainable/last", "3 blocks");
}

/* A weight that is neither read nor trained would be noise for ever. */
static void a_fresh_layer_is_trained_whole(void **state)
{
    (void)state;
    const struct choice bias = {TRAINABLE_BIAS, {NULL}};
    struct layer_spec layers[LAYERS_MAX];
    struct model_spec model = model_of(layers, make_mlp(layers), &bias);
    char fresh[1][TENSOR_NAME_SIZE] = {"2.*"};
    model.start.fresh_head = true;
    expect_trained(&model, "0.bias 2.bias 4.weight 4.bias ");
    model.start.fresh = (struct name_patterns){1, fresh};
    expect_start_refused(&model, "/model/fresh", "would be frozen");
    snprintf(fresh[0], sizeof fresh[0], "*.bias");
    expect_start_refused(&model, "/model/fresh/0", "a part of a layer");
    snprintf(fresh[0], sizeof fresh[0], "*.weight");
    expect_start_refused(&model, "/model/fresh/0", "a part of a layer");
}

/* A weight that is not trained has no product in the sum, and no floats a record. */
static void a_bias_costs_no_product_and_no_matrix(void **state)
{
    (void)state;
    const struct choice all = {TRAINABLE_ALL, {NULL}},
                        bias = {TRAINABLE_ONLY, {"*.bias", NULL}};
    const size_t products = 72 * 8 + 8 * 8 + 8 * 3, below = 8 * 8 + 8 * 3;
    struct layer_spec layers[LAYERS_MAX];
    struct network *whole, *part;
    size_t count = make_mlp(layers);
    assert_int_equal(compile(&part, layers, count, &bias, NULL), ST_OK);
    assert_true(network_flops(part) == (double)(2 * products + 2 * below));
    network_destroy(part);
    count = make_images(layers);
    assert_int_equal(compile(&whole, layers, count, &all, NULL), ST_OK);
    assert_int_equal(compile(&part, layers, count, &bias, NULL), ST_OK);
    assert_true(workspace_size(part, ROWS) < workspace_size(whole, ROWS));
    network_destroy(whole);
    network_destroy(part);
}

static void a_fresh_layer_is_trained(void **state)
{
    (void)state;
    struct layer_spec layers[LAYERS_MAX];
    size_t count = make_mlp(layers);
    struct network *network;
    struct error error = {0};
    struct choice choice = {TRAINABLE_HEAD, {NULL}};
    struct model_spec model = model_of(layers, count, &choice);
    const struct network_shape shape = {FEATURES, CLASSES};
    char fresh[1][TENSOR_NAME_SIZE] = {"2.*"};
    model.start.fresh_head = true;
    assert_int_equal(network_create(&network, &model, shape, NULL), ST_OK);
    assert_false(tensor_of(network, "2.weight")->fresh);
    assert_true(tensor_of(network, "4.weight")->fresh);
    assert_true(tensor_of(network, "4.bias")->fresh);
    network_destroy(network);
    model.start.fresh = (struct name_patterns){1, fresh};
    assert_int_equal(network_create(&network, &model, shape, &error), ST_INVALID);
    assert_string_equal(error.pointer, "/model/fresh");
    memcpy(fresh[0], "9.*", 4);
    error = (struct error){0};
    assert_int_equal(network_create(&network, &model, shape, &error), ST_INVALID);
    assert_string_equal(error.pointer, "/model/fresh/0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_is_the_gradient_of_the_trained),
        cmocka_unit_test(trained_floats_come_first),
        cmocka_unit_test(the_frozen_end_is_one_value),
        cmocka_unit_test(choices_that_mean_nothing_are_refused),
        cmocka_unit_test(a_fresh_layer_is_trained),
        cmocka_unit_test(a_word_names_what_is_trained),
        cmocka_unit_test(more_blocks_than_there_are_is_refused),
        cmocka_unit_test(a_fresh_layer_is_trained_whole),
        cmocka_unit_test(a_bias_costs_no_product_and_no_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
