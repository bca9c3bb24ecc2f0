/* Goal: a model compiles to the tensors, tiles and initial weights that its description
 * implies. Method: counts from network.md, PyTorch's names, statistics of the initial
 * weights. */
#include "engine/nn/initial_values.h"
#include "tests/expect.h"

#include <string.h>

#include "base/hash.h"
#include "engine/nn/network.h"
#include "engine/nn/layers/preset.h"
#include "engine/nn/layers/registry.h"

static struct network *mlp(size_t hidden_count, const uint32_t *hidden,
                           uint32_t features)
{
    struct model_spec model = {.preset = hidden_count > 0 ? PRESET_MLP : PRESET_LINEAR,
                               .hidden_count = hidden_count,
                               .activation = &layer_relu,
                               .bias = true};
    struct network_shape shape = {features, 10};
    struct network *network = NULL;
    for (size_t i = 0; i < hidden_count; i++)
        model.hidden[i] = hidden[i];
    preset_expand(&model, 10);
    assert_int_equal(network_create(&network, &model, shape, NULL), ST_OK);
    model_spec_fini(&model);
    return network;
}

static void parameter_counts(void **state)
{
    static const uint32_t small[] = {128}, large[] = {1024, 1024};
    static const size_t expected[] = {7850, 101770, 1863690};
    struct network *networks[] = {mlp(0, NULL, 784), mlp(1, small, 784),
                                  mlp(2, large, 784)};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(network_parameters(networks[i]), expected[i]);
        assert_int_equal(network_shape(networks[i]).features, 784);
        assert_int_equal(network_predictions(networks[i]), 10);
        network_destroy(networks[i]);
    }
}

/* DIFF2's network: 8 inputs, 10 softplus, one output (papers/diff2.md). */
static void diff2s_network_has_101_parameters(void **state)
{
    struct model_spec model = {.preset = PRESET_MLP,
                               .hidden_count = 1,
                               .hidden = {10},
                               .activation = &layer_softplus,
                               .bias = true,
                               .loss = LOSS_SQUARED};
    struct network *network = NULL;
    (void)state;
    preset_expand(&model, 1);
    assert_int_equal(
        network_create(&network, &model, (struct network_shape){8, 1}, NULL), ST_OK);
    assert_int_equal(network_parameters(network), 101);
    network_destroy(network);
    model_spec_fini(&model);
}

static void flops_are_those_of_the_products(void **state)
{
    static const uint32_t large[] = {1024, 1024};
    struct network *network = mlp(2, large, 784);
    (void)state;
    /* network.md 9.2: forward 3.72, backward 2.12, sum 3.72 million */
    assert_close(network_flops(network), 9.56e6, 1e-3);
    network_destroy(network);
}

static void tensors_are_named_as_in_a_sequential(void **state)
{
    static const uint32_t hidden[] = {5, 3};
    static const char *const names[] = {"0.weight", "0.bias",   "2.weight",
                                        "2.bias",   "4.weight", "4.bias"};
    static const size_t ranks[] = {2, 1, 2, 1, 2, 1};
    static const uint64_t shapes[][2] = {{5, 7}, {5, 0},  {3, 5},
                                         {3, 0}, {10, 3}, {10, 0}};
    struct network *network = mlp(2, hidden, 7);
    size_t next = 0;
    (void)state;
    assert_int_equal(network_tensor_count(network), 6);
    for (size_t i = 0; i < 6; i++) {
        const struct tensor *tensor = network_tensor(network, i);
        assert_string_equal(tensor->name, names[i]);
        assert_int_equal(tensor->rank, ranks[i]);
        assert_memory_equal(tensor->shape, shapes[i], sizeof shapes[i]);
        assert_int_equal(tensor->offset, next);
        next += tensor->count;
    }
    assert_int_equal(next, network_parameters(network));
    network_destroy(network);
}

/* The names of a transformer's layers in public files have up to 50 bytes. */
static void a_public_name_that_fills_its_place_names_the_tensors_whole(void **state)
{
    struct layer_spec layer = {.kind = &layer_dense, .out = 3, .bias = true};
    struct model_spec model = {.layer_count = 1, .layers = &layer};
    struct network *network = NULL;
    char expected[TENSOR_NAME_SIZE];
    (void)state;
    assert_true(LAYER_NAME_SIZE > strlen("bert.encoder.layer.11.attention.output."
                                         "LayerNorm"));
    memset(layer.public_name, 'n', LAYER_NAME_SIZE - 1);
    assert_int_equal(
        network_create(&network, &model, (struct network_shape){4, 3}, NULL), ST_OK);
    assert_int_equal(network_tensor_count(network), 2);
    snprintf(expected, sizeof expected, "%s.weight", layer.public_name);
    assert_string_equal(network_tensor(network, 0)->name, expected);
    snprintf(expected, sizeof expected, "%s.bias", layer.public_name);
    assert_string_equal(network_tensor(network, 1)->name, expected);
    network_destroy(network);
}

static void tiles_cover_the_vector_once(void **state)
{
    static const uint32_t hidden[][2] = {{1024, 1024}, {3, 70000}, {1, 1}};
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct network *network = mlp(2, hidden[k], k == 2 ? 300000 : 784);
        size_t next = 0, most = 0;
        for (size_t t = 0; t < network_tile_count(network); t++) {
            struct tile tile = network_tile(network, t);
            assert_int_equal(tile.offset, next);
            assert_true(tile.count > 0);
            next += tile.count;
            most = tile.count > most ? tile.count : most;
        }
        assert_int_equal(next, network_parameters(network));
        assert_int_equal(most, network_tile_floats_max(network));
        network_destroy(network);
    }
}

static void the_start_is_uniform_within_the_fan(void **state)
{
    static const uint32_t hidden[] = {300};
    struct network *network = mlp(1, hidden, 400);
    float *theta = calloc(network_parameters(network), sizeof *theta);
    (void)state;
    network_init(network, theta, 0);
    for (size_t t = 0; t < network_tensor_count(network); t++) {
        const struct tensor *tensor = network_tensor(network, t);
        double bound = 1.0 / sqrt(t < 2 ? 400.0 : 300.0), sum = 0.0, square = 0.0;
        double n = (double)tensor->count;
        for (size_t j = 0; j < tensor->count; j++) {
            double x = (double)theta[tensor->offset + j];
            assert_true(fabs(x) <= bound * (1.0 + 0x1p-23));
            sum += x / bound;
            square += x * x / (bound * bound);
        }
        /* Uniform on [-1, 1]: mean 0, variance 1/3; its square has variance 4/45. Five
         * standard errors. */
        assert_true(fabs(sum / n) <= 5.0 * sqrt(1.0 / 3.0 / n));
        assert_true(fabs(square / n - 1.0 / 3.0) <= 5.0 * sqrt(4.0 / 45.0 / n));
    }
    free(theta);
    network_destroy(network);
}

static void the_start_is_the_seeds_alone(void **state)
{
    static const uint32_t hidden[] = {300};
    struct network *one = mlp(1, hidden, 400), *two = mlp(1, hidden, 400);
    size_t count = network_parameters(one), same = 0;
    float *a = calloc(count, sizeof *a), *b = calloc(count, sizeof *b);
    (void)state;
    network_init(one, a, 2385);
    network_init(two, b, 2385);
    assert_memory_equal(a, b, count * sizeof *a);
    network_init(two, b, 2386);
    for (size_t j = 0; j < count; j++)
        same += a[j] == b[j];
    assert_true(same < 10);
    free(a);
    free(b);
    network_destroy(one);
    network_destroy(two);
}

/* Spans of all lengths, none of which begins at a multiple of the words that are read
 * at a time. The floats around each span are not changed. */
static void the_start_is_the_same_in_stretches(void **state)
{
    static const uint32_t hidden[] = {300};
    struct network *network = mlp(1, hidden, 400);
    size_t count = network_floats(network);
    float *whole = calloc(count, sizeof *whole),
          *parts = calloc(count + 1, sizeof *parts);
    (void)state;
    network_init(network, whole, 7);
    for (size_t length = 3; length < 2 * count; length = 5 * length + 2) {
        for (size_t j = 0; j <= count; j++)
            parts[j] = 9;
        for (size_t first = 0; first < count; first += length) {
            size_t left = count - first, part = left < length ? left : length;
            network_init_span(network, parts, 7, (struct span){first, part});
            assert_true(parts[first + part] == 9);
        }
        assert_memory_equal(parts, whole, count * sizeof *parts);
    }
    free(whole);
    free(parts);
    network_destroy(network);
}

/* A known answer, so that a seed in an old job always gives the same weights: computed
 * by tests/engine/nn/initial_weights.py, with its own ChaCha20. */
static void the_start_of_seed_0_is_known(void **state)
{
    static const uint32_t hidden[] = {3};
    static const float expected[] = {
        -0x1.e6c7960p-4F, 0x1.178d100p-1F,  -0x1.c6c0c00p-3F, -0x1.2dccae0p-1F,
        0x1.41cb540p-2F,  -0x1.43a8a80p-2F, 0x1.1d0e4e0p-4F,  -0x1.c188520p-2F,
        0x1.4b4eb00p-2F,  0x1.b534440p-7F,  -0x1.e2e0220p-2F, 0x1.6a67b80p-2F,
        -0x1.0edbac0p-2F, -0x1.1ca39c0p-2F, -0x1.fbcf940p-2F, -0x1.9d9afa0p-2F,
        -0x1.167f500p-4F, -0x1.eddcb60p-2F, -0x1.a35aa80p-2F, 0x1.b148b20p-3F,
        0x1.c15e160p-2F,  0x1.e3a2c00p-7F,  -0x1.9e27ae0p-3F, 0x1.59e9580p-2F,
        -0x1.586e860p-2F, -0x1.e330060p-3F, -0x1.1624d20p-1F, 0x1.3993cc0p-3F,
        -0x1.43932c0p-6F, 0x1.0e8fb40p-1F,  -0x1.024bb20p-1F, -0x1.0a13e80p-3F,
        0x1.4a73b40p-2F,  -0x1.ca9a280p-3F, -0x1.5ea1280p-3F, 0x1.1a36300p-6F,
        -0x1.218bc20p-1F, 0x1.02b32e0p-1F,  0x1.05f1ea0p-4F,  0x1.f6b1860p-2F,
        0x1.cef1de0p-6F,  0x1.8102600p-3F,  -0x1.41c1940p-3F, -0x1.0645a20p-1F,
        -0x1.a249100p-2F, 0x1.97c42a0p-2F,  -0x1.a98bc40p-2F, -0x1.9e21720p-2F,
        0x1.1662620p-1F};
    struct network *network = mlp(1, hidden, 2);
    float theta[49];
    (void)state;
    assert_int_equal(network_parameters(network), 49);
    network_init(network, theta, 0);
    assert_memory_equal(theta, expected, sizeof expected);
    network_destroy(network);
}

struct denied_event {
    const char *pointer;
    struct network_shape shape;
    enum loss loss;
    size_t layer_count;
    struct layer_spec layers[3];
};

static const struct denied_event refusals[] = {
    {"/model/layers", {4, 3}, LOSS_SOFTMAX_CROSS_ENTROPY, 0, {{0}}},
    {"/model/layers",
     {4, 4},
     LOSS_SOFTMAX_CROSS_ENTROPY,
     1,
     {{.kind = &layer_relu, .out = 0, .bias = false}}},
    {"/model/layers/0",
     {4, 3},
     LOSS_SOFTMAX_CROSS_ENTROPY,
     1,
     {{.kind = &layer_dense, .out = 4, .bias = true}}},
    {"/model/layers/1/out",
     {4, 3},
     LOSS_SOFTMAX_CROSS_ENTROPY,
     2,
     {{.kind = &layer_relu, .out = 0, .bias = false},
      {.kind = &layer_dense, .out = 0, .bias = true}}},
    {"/model/layers/1/out",
     {4, 65536},
     LOSS_SOFTMAX_CROSS_ENTROPY,
     2,
     {{.kind = &layer_dense, .out = 32768, .bias = true},
      {.kind = &layer_dense, .out = 65536, .bias = true}}},
    {"/model/layers/0/out",
     {67108864, 33},
     LOSS_SOFTMAX_CROSS_ENTROPY,
     1,
     {{.kind = &layer_dense, .out = 33, .bias = true}}},
    {"/model/layers/0/out",
     {4, 4294967295},
     LOSS_SOFTMAX_CROSS_ENTROPY,
     1,
     {{.kind = &layer_dense, .out = 4294967295, .bias = true}}},
    {"/model/loss",
     {4, 1},
     LOSS_SOFTMAX_CROSS_ENTROPY,
     1,
     {{.kind = &layer_dense, .out = 1, .bias = true}}},
    {"/model/loss",
     {4, 2},
     LOSS_LOGISTIC,
     1,
     {{.kind = &layer_dense, .out = 2, .bias = true}}},
    {"/model/loss",
     {4, 2},
     LOSS_SQUARED,
     1,
     {{.kind = &layer_dense, .out = 2, .bias = true}}},
    {"/model",
     {0, 2},
     LOSS_SOFTMAX_CROSS_ENTROPY,
     1,
     {{.kind = &layer_dense, .out = 2, .bias = true}}},
    {"/model",
     {67108865, 2},
     LOSS_SOFTMAX_CROSS_ENTROPY,
     1,
     {{.kind = &layer_dense, .out = 2, .bias = true}}},
};

static void what_does_not_fit_is_refused_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const struct denied_event *refusal = &refusals[i];
        struct model_spec model = {.layer_count = refusal->layer_count,
                                   .loss = refusal->loss};
        struct layer_spec layers[3];
        struct network *network = NULL;
        struct error error = {0};
        memcpy(layers, refusal->layers, sizeof layers);
        model.layers = layers;
        assert_int_equal(network_create(&network, &model, refusal->shape, &error),
                         ST_INVALID);
        assert_string_equal(error.pointer, refusal->pointer);
        assert_true(error.text[0] != '\0');
        assert_null(network);
    }
    network_destroy(NULL);
}

static void more_layers_than_the_limit_are_refused(void **state)
{
    struct model_spec model = {.layer_count = MODEL_LAYERS_MAX + 1};
    struct network *network = NULL;
    struct network_shape shape = {4, 3};
    (void)state;
    model.layers = calloc(model.layer_count, sizeof *model.layers);
    for (size_t i = 0; i < model.layer_count; i++)
        model.layers[i] =
            (struct layer_spec){.kind = &layer_dense, .out = 3, .bias = true};
    assert_int_equal(network_create(&network, &model, shape, NULL), ST_INVALID);
    model.layer_count--;
    assert_int_equal(network_create(&network, &model, shape, NULL), ST_OK);
    network_destroy(network);
    model_spec_fini(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameter_counts),
        cmocka_unit_test(diff2s_network_has_101_parameters),
        cmocka_unit_test(flops_are_those_of_the_products),
        cmocka_unit_test(tensors_are_named_as_in_a_sequential),
        cmocka_unit_test(a_public_name_that_fills_its_place_names_the_tensors_whole),
        cmocka_unit_test(tiles_cover_the_vector_once),
        cmocka_unit_test(the_start_is_uniform_within_the_fan),
        cmocka_unit_test(the_start_is_the_seeds_alone),
        cmocka_unit_test(the_start_is_the_same_in_stretches),
        cmocka_unit_test(the_start_of_seed_0_is_known),
        cmocka_unit_test(what_does_not_fit_is_refused_with_its_place),
        cmocka_unit_test(more_layers_than_the_limit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
