/* Goal: a list of layers on images compiles to the tensors, shapes and counts that it
 * implies, and a list that does not fit is refused with the place of the fault. Method:
 * counts from the papers' specifications and by hand; a table of broken lists. */
#include "engine/nn/initial_values.h"
#include "tests/expect.h"

#include <string.h>

#include "engine/nn/graph.h"
#include "engine/nn/layers/preset.h"
#include "tests/engine/nn/random_batch_fixture.h"

static struct network *preset(enum preset preset, struct model_input input,
                              uint32_t outputs)
{
    struct model_spec model = {.preset = preset, .groups = 32, .input = input};
    struct network_shape shape = {input.height * input.width * input.channels, outputs};
    struct network *network = NULL;
    preset_expand(&model, outputs);
    assert_int_equal(network_create(&network, &model, shape, NULL), ST_OK);
    model_spec_fini(&model);
    return network;
}

static void parameter_counts(void **state)
{
    struct network *network =
        preset(PRESET_CNN_MNIST, (struct model_input){28, 28, 1}, 10);
    static const size_t counts[] = {16 * 192, 16, 32 * 256, 32, 32 * 512, 32, 320, 10};
    static const char *const names[] = {"1.weight", "1.bias", "4.weight",  "4.bias",
                                        "8.weight", "8.bias", "10.weight", "10.bias"};
    (void)state;
    assert_int_equal(network_parameters(network), 28058);
    assert_int_equal(network_tensor_count(network), 8);
    for (size_t t = 0; t < 8; t++) {
        assert_int_equal(network_tensor(network, t)->count, counts[t]);
        assert_string_equal(network_tensor(network, t)->name, names[t]);
    }
    network_destroy(network);

    network = preset(PRESET_CNN_MNIST, (struct model_input){28, 28, 3}, 10);
    assert_int_equal(network_parameters(network), 28058);
    assert_string_equal(network_tensor(network, 0)->name, "0.weight");
    network_destroy(network);
}

static void cnn_cifar_is_the_papers_on_any_image_that_holds_it(void **state)
{
    static const uint32_t sides[] = {24, 32};
    static const char *const first[] = {"0.weight", "1.weight"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct network *network =
            preset(PRESET_CNN_CIFAR, (struct model_input){sides[k], sides[k], 3}, 10);
        assert_int_equal(network_parameters(network), 1144138);
        assert_string_equal(network_tensor(network, 0)->name, first[k]);
        network_destroy(network);
    }
}

/* 81 maps of each channel, a quarter of the image's sides; three channels are centred. */
static void scatter_is_a_linear_model_of_the_transform(void **state)
{
    static const struct {
        struct model_input input;
        size_t features, maps;
    } cases[] = {{{28, 28, 1}, 7 * 7 * 81, 81}, {{32, 32, 3}, 8 * 8 * 243, 243}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct network *network = preset(PRESET_SCATTER, cases[k].input, 10);
        assert_int_equal(network_parameters(network),
                         2 * cases[k].maps + 10 * (cases[k].features + 1));
        network_destroy(network);
        struct model_spec model = {.preset = PRESET_SCATTER, .input = cases[k].input};
        preset_expand(&model, 10);
        assert_true(model.layers[0].centre == (k == 0 ? 0 : 0.45));
        model_spec_fini(&model);
    }
    assert_int_equal(preset_trainable(PRESET_SCATTER), TRAINABLE_HEAD);
    assert_int_equal(preset_trainable(PRESET_RESNET18_GN), TRAINABLE_ALL);
}

static void a_resnet_is_torchvisions(void **state)
{
    static const struct {
        const char *name;
        size_t count;
    } some[] = {{"conv1.weight", 9408},
                {"bn1.bias", 64},
                {"layer1.1.conv2.weight", 36864},
                {"layer2.0.downsample.0.weight", 8192},
                {"layer2.0.downsample.1.weight", 128},
                {"layer3.1.bn2.weight", 256},
                {"layer4.0.conv1.weight", 1179648},
                {"layer4.1.bn2.bias", 512},
                {"fc.weight", 5120},
                {"fc.bias", 10}};
    static const size_t parameters[] = {11181642, 21289802}, tensors[] = {62, 110};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct network *network =
            preset(k == 0 ? PRESET_RESNET18_GN : PRESET_RESNET34_GN,
                   (struct model_input){32, 32, 3}, 10);
        size_t found = 0;
        assert_int_equal(network_parameters(network), parameters[k]);
        assert_int_equal(network_tensor_count(network), tensors[k]);
        for (size_t t = 0; t < tensors[k]; t++)
            for (size_t s = 0; s < sizeof some / sizeof *some; s++)
                if (strcmp(network_tensor(network, t)->name, some[s].name) == 0) {
                    assert_int_equal(network_tensor(network, t)->count, some[s].count);
                    found++;
                }
        assert_int_equal(found, sizeof some / sizeof *some);
        assert_string_equal(network_tensor(network, tensors[k] - 3)->name,
                            k == 0 ? "layer4.1.bn2.bias" : "layer4.2.bn2.bias");
        network_destroy(network);
    }
}

static void tensors_have_the_files_shapes(void **state)
{
    struct model_spec model = {.input = {7, 5, 2}};
    struct network_shape shape = {70, 3};
    struct network *network = NULL;
    static const struct {
        size_t rank, taps;
        uint64_t shape[4];
    } expected[] = {{4, 6, {4, 2, 3, 2}}, {1, 1, {4}},      {2, 1, {6, 4}},
                    {1, 1, {6}},          {2, 12, {3, 72}}, {1, 1, {3}}};
    (void)state;
    /* 7 x 5 -> 5 x 4 -> pixel by pixel -> 4 x 3 -> 72 */
    batch_layers(&model, "c4,3x2rd6m2,1fd3");
    assert_int_equal(network_create(&network, &model, shape, NULL), ST_OK);
    assert_int_equal(network_tensor_count(network), 6);
    for (size_t t = 0; t < 6; t++) {
        const struct tensor *tensor = network_tensor(network, t);
        assert_int_equal(tensor->rank, expected[t].rank);
        assert_int_equal(tensor->taps, expected[t].taps);
        for (size_t k = 0; k < tensor->rank; k++)
            assert_int_equal(tensor->shape[k], expected[t].shape[k]);
    }
    network_destroy(network);
    model_spec_fini(&model);
}

static void flops_count_products_at_every_position(void **state)
{
    struct model_spec model = {.input = {8, 8, 64}};
    struct network_shape shape = {4096, 10};
    struct network *network = NULL;
    (void)state;
    batch_layers(&model, "c64,3,1,1rgd10");
    assert_int_equal(network_create(&network, &model, shape, NULL), ST_OK);
    /* 4 x 576 x 64 x 64 and 6 x 64 x 10 */
    assert_close(network_flops(network), 4.0 * 576 * 64 * 64 + 6.0 * 640, 1e-12);
    network_destroy(network);
    model_spec_fini(&model);
}

static void tiles_cover_the_vector_once(void **state)
{
    static const char *const layers[] = {"x3c16,8,2,3rm2,1c32,4,2rm2,1fd32rd10",
                                         "c70,3,1,1rC5000,5,2rgd10",
                                         "c6,3,2n3[n1rc6,3,1,1|C6,1]gd10"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct model_spec model = {.input = {28, 28, 1}};
        struct network_shape shape = {784, 10};
        struct network *network = NULL;
        size_t next = 0;
        batch_layers(&model, layers[i]);
        assert_int_equal(network_create(&network, &model, shape, NULL), ST_OK);
        for (size_t t = 0; t < network_tile_count(network); t++) {
            struct tile tile = network_tile(network, t);
            assert_int_equal(tile.offset, next);
            assert_true(tile.count > 0 &&
                        tile.count <= network_tile_floats_max(network));
            next += tile.count;
        }
        assert_int_equal(next, network_parameters(network));
        network_destroy(network);
        model_spec_fini(&model);
    }
}

struct denied_event {
    const char *layers, *pointer;
    struct model_input input;
};

static const struct denied_event refusals[] = {
    {"c4,3fd2", "/model/layers/0/type", {0, 0, 0}},
    {"d6c4,3fd2", "/model/layers/1/type", {4, 4, 1}},
    {"fm2d2", "/model/layers/1/type", {4, 4, 1}},
    {"gd2", "/model/layers/0/type", {0, 0, 0}},
    {"c4,5fd2", "/model/layers/0/kernel", {4, 4, 1}},
    {"c4,0fd2", "/model/layers/0/kernel", {4, 4, 1}},
    {"c4,65,1,99fd2", "/model/layers/0/kernel", {4, 4, 1}},
    {"c4,3,0fd2", "/model/layers/0/stride", {4, 4, 1}},
    {"c4,3,4097fd2", "/model/layers/0/stride", {4, 4, 1}},
    {"c4,2,1,4097fd2", "/model/layers/0/padding", {4, 4, 1}},
    {"c4,2,1,0,0fd2", "/model/layers/0/dilation", {4, 4, 1}},
    {"c4,1,1,1,4097fd2", "/model/layers/0/dilation", {4, 4, 1}},
    {"c0,3fd2", "/model/layers/0/out", {4, 4, 1}},
    {"rc4294967295,3fd2", "/model/layers/1/out", {4, 4, 1}},
    {"c67108864,1fd2", "/model/layers/0", {4, 4, 1}},
    {"c4,1,1,70fd2", "/model/layers/0", {4, 4, 1}},
    {"m3,1,2fd2", "/model/layers/0/padding", {4, 4, 1}},
    {"m3,0fd2", "/model/layers/0/stride", {4, 4, 1}},
    {"x3c4,3fd2", "/model/layers/0/type", {4, 2, 2}},
    {"x65c4,3fd2", "/model/layers/0/channels", {4, 4, 1}},
    {"x3x3c4,3fd2", "/model/layers/1/type", {4, 4, 1}},
    {"x3rc4,3fd2", "/model/layers/1/type", {4, 4, 1}},
    {"x3m2fd2", "/model/layers/1/type", {4, 4, 1}},
    {"x3gd2", "/model/layers/1/type", {4, 4, 1}},
    {"x3d2", "/model/layers/1/type", {4, 4, 1}},
    {"c4,3d2", "/model/layers/1", {4, 4, 1}},
    {"c4,3fd2", "/model/input", {4, 5, 1}},
    {"k5fd2", "/model/layers/0/size", {4, 4, 1}},
    {"k0fd2", "/model/layers/0/size", {4, 4, 1}},
    {"rk2fd2", "/model/layers/1/type", {4, 4, 1}},
    {"x3k2c4,1fd2", "/model/layers/1/type", {4, 4, 1}},
    {"k2fd2", "/model/layers/0/type", {0, 0, 0}},
    {"c4,1n3fd2", "/model/layers/1/groups", {4, 4, 1}},
    {"c4,1n0fd2", "/model/layers/1/groups", {4, 4, 1}},
    {"fn4d2", "/model/layers/1/type", {4, 4, 1}},
    {"x3n1c4,1fd2", "/model/layers/1/type", {4, 4, 1}},
    {"fld2", "/model/layers/1/type", {4, 4, 1}},
    {"wd2", "/model/layers/0/type", {0, 0, 0}},
    {"fwd2", "/model/layers/1/type", {4, 4, 1}},
    {"x3wd2", "/model/layers/1/type", {4, 4, 1}},
    {"c4,1wfd2", "/model/layers/1/type", {4, 4, 1}},
    {"x3lc4,1fd2", "/model/layers/1/type", {4, 4, 1}},
    {"d4o8d2", "/model/layers/1/rate", {0, 0, 0}},
    {"x3o1c4,1fd2", "/model/layers/1/type", {4, 4, 1}},
    {"[c4,3]fd2", "/model/layers/0", {4, 4, 1}},
    {"[c1,1|c2,1]fd2", "/model/layers/0", {4, 4, 1}},
    {"[fd16|f]d2", "/model/layers/0", {4, 4, 1}},
    {"[]d2", "/model/layers/0/body", {0, 0, 0}},
    {"r[c4,1|rc4,9]fd2", "/model/layers/1/shortcut/1/kernel", {4, 4, 1}},
    {"[r[rc0,1]]fd2", "/model/layers/0/body/1/body/1/out", {4, 4, 1}},
    {"[n3]fd2", "/model/layers/0/body/0/groups", {4, 4, 1}},
    {"x3[c1,1]fd2", "/model/layers/1/type", {4, 4, 1}},
    {"c1,1[x1]fd2", "/model/layers/1/body/0/type", {4, 4, 1}},
    {"[[[[[[[[[r]]]]]]]]]d2",
     "/model/layers/0/body/0/body/0/body/0/body/0/body/0/body/0/body/0/body/0",
     {0, 0, 0}},
    {"o1[r]", "/model/layers", {0, 0, 0}},
};

static void what_does_not_fit_is_refused_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const struct denied_event *refusal = &refusals[i];
        struct model_spec model = {.input = refusal->input};
        struct network *network = NULL;
        struct error error = {0};
        batch_layers(&model, refusal->layers);
        if (network_create(&network, &model, (struct network_shape){16, 2}, &error) !=
                ST_INVALID ||
            strcmp(error.pointer, refusal->pointer) != 0)
            fail_msg("%s: %s %s", refusal->layers, error.pointer, error.text);
        assert_true(error.text[0] != '\0');
        assert_null(network);
        model_spec_fini(&model);
    }
}

static void branches_name_their_tensors(void **state)
{
    static const struct {
        const char *name;
        enum initial initial;
        size_t count;
    } expected[] = {{"0.weight", INITIAL_UNIFORM, 36},
                    {"0.bias", INITIAL_UNIFORM, 4},
                    {"1.weight", INITIAL_ONES, 4},
                    {"1.bias", INITIAL_ZEROS, 4},
                    {"2.body.0.weight", INITIAL_UNIFORM, 144},
                    {"2.body.2.body.0.weight", INITIAL_ONES, 4},
                    {"2.body.2.body.0.bias", INITIAL_ZEROS, 4},
                    {"2.shortcut.1.weight", INITIAL_UNIFORM, 16},
                    {"2.shortcut.1.bias", INITIAL_UNIFORM, 4},
                    {"4.weight", INITIAL_UNIFORM, 8},
                    {"4.bias", INITIAL_UNIFORM, 2}};
    struct model_spec model = {.input = {6, 5, 1}};
    struct network *network = NULL;
    float theta[256];
    (void)state;
    batch_layers(&model, "c4,3n2[C4,3,1,1r[n4]|o2c4,1]gd2");
    assert_int_equal(model.layer_count, 11);
    assert_int_equal(
        network_create(&network, &model, (struct network_shape){30, 2}, NULL), ST_OK);
    assert_int_equal(network_tensor_count(network), 11);
    assert_true(network_drops(network));
    network_init(network, theta, 7);
    for (size_t t = 0; t < 11; t++) {
        const struct tensor *tensor = network_tensor(network, t);
        assert_string_equal(tensor->name, expected[t].name);
        assert_int_equal(tensor->initial, expected[t].initial);
        assert_int_equal(tensor->count, expected[t].count);
        for (size_t j = 0; j < tensor->count; j++)
            if (tensor->initial != INITIAL_UNIFORM)
                assert_true(theta[tensor->offset + j] ==
                            (tensor->initial == INITIAL_ONES ? 1.0F : 0.0F));
    }
    network_destroy(network);
    model_spec_fini(&model);
}

static void a_preset_that_does_not_fit_names_the_model(void **state)
{
    struct model_spec model = {.preset = PRESET_CNN_MNIST};
    struct network *network = NULL;
    struct error error = {0};
    (void)state;
    preset_expand(&model, 10);
    assert_int_equal(
        network_create(&network, &model, (struct network_shape){784, 10}, &error),
        ST_INVALID);
    assert_string_equal(error.pointer, "/model");
    model_spec_fini(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameter_counts),
        cmocka_unit_test(scatter_is_a_linear_model_of_the_transform),
        cmocka_unit_test(cnn_cifar_is_the_papers_on_any_image_that_holds_it),
        cmocka_unit_test(a_resnet_is_torchvisions),
        cmocka_unit_test(tensors_have_the_files_shapes),
        cmocka_unit_test(flops_count_products_at_every_position),
        cmocka_unit_test(tiles_cover_the_vector_once),
        cmocka_unit_test(what_does_not_fit_is_refused_with_its_place),
        cmocka_unit_test(branches_name_their_tensors),
        cmocka_unit_test(a_preset_that_does_not_fit_names_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
