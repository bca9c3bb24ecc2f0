/* Goal: a frozen layer is only computed forward. A record's gradient is that of the
 * trained layers, to the bit, and so is its norm. Method: each model is compiled as a
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
};
static const struct choice of_images[] = {
    {TRAINABLE_HEAD, {NULL}},
    {TRAINABLE_ONLY, {"1.*", NULL}},
    {TRAINABLE_ONLY, {"0.*", NULL}},
    {TRAINABLE_ONLY, {"5.body.*", NULL}},
    {TRAINABLE_ONLY, {"3.*", NULL}},
    {TRAINABLE_EXCEPT, {"[0137].*", NULL}},
    {TRAINABLE_EXCEPT, {"1.*", "5.shortcut.*", NULL}},
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
        {{TRAINABLE_ONLY, {"2.weight", NULL}}, "/model/trainable/only/0"},
        {{TRAINABLE_EXCEPT, {"*.bias", NULL}}, "/model/trainable/except/0"},
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
