/* Goal: the layer subtracts what it was given and divides by it, is trained by no
 * choice of trainable layers, and reads a vector or the channels of an image. Method: networks built
 * from a list of layers, and the formula in double. */
#include <math.h>
#include <string.h>

#include "engine/nn/layers/preset.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/layers/standardise.h"
#include "engine/nn/network.h"
#include "engine/nn/workspace.h"
#include "tests/expect.h"

enum { FEATURES = 5, OUTPUTS = 3 };

static const struct network_shape shape = {FEATURES, OUTPUTS};

static void describe(struct model_spec *model, enum trainable_kind trainable)
{
    *model = (struct model_spec){.loss = LOSS_SOFTMAX_CROSS_ENTROPY,
                                 .start = {.trainable = trainable}};
    model_spec_set_layers(model, 2);
    model->layers[0].kind = &layer_standardise;
    model->layers[1] =
        (struct layer_spec){.kind = &layer_dense, .out = OUTPUTS, .bias = true};
}

static void it_is_never_trained(void **state)
{
    (void)state;
    static const enum trainable_kind choices[] = {TRAINABLE_ALL, TRAINABLE_HEAD};
    for (size_t i = 0; i < 2; i++) {
        struct model_spec model;
        struct network *network;
        describe(&model, choices[i]);
        assert_int_equal(network_create(&network, &model, shape, NULL), ST_OK);
        assert_int_equal(network_constant_layer(network), 0);
        assert_true(network_layer_is_frozen(network, 0));
        assert_false(network_layer_is_frozen(network, 1));
        assert_int_equal(network_parameters(network), (FEATURES + 1) * OUTPUTS);
        assert_int_equal(network_floats(network),
                         (FEATURES + 1) * OUTPUTS + 2 * FEATURES);
        assert_int_equal(network_frozen_width(network), 0); /* it is computed again */
        assert_string_equal(network_layer_tensors(network, 0).bias->name, "0.bias");
        network_destroy(network);
        model_spec_fini(&model);
    }
}

static void without_it_no_layer_is_constant(void **state)
{
    (void)state;
    struct model_spec model;
    struct network *network;
    describe(&model, TRAINABLE_ALL);
    model.layers[0] = model.layers[1];
    model.layer_count = 1;
    assert_int_equal(network_create(&network, &model, shape, NULL), ST_OK);
    assert_int_equal(network_constant_layer(network), network_layers(network));
    network_destroy(network);
    model_spec_fini(&model);
}

static void expect_refused(struct model_spec *model, const char *pointer)
{
    struct network *network;
    struct error error = {0};
    assert_int_equal(network_create(&network, model, shape, &error), ST_INVALID);
    assert_string_equal(error.pointer, pointer);
    model_spec_fini(model);
}

static void a_model_has_one_of_its_own(void **state)
{
    (void)state;
    struct model_spec model;
    describe(&model, TRAINABLE_ALL);
    model.layers[1] = model.layers[0];
    expect_refused(&model, "/model/layers/1/type");

    describe(&model, TRAINABLE_ALL);
    struct layer_spec own = model.layers[0], head = model.layers[1];
    model_spec_set_layers(&model, 3);
    model.layers[0] = (struct layer_spec){.kind = &layer_residual, .body = 1};
    model.layers[1] = own;
    model.layers[2] = head;
    expect_refused(&model, "/model/layers/0/body/0/type");
}

/* --- behind other layers --- */

enum { SIDE = 2, CHANNELS = 3, PIXELS = SIDE * SIDE };

/* The layers between the numbers: dense ones, or of images. */
static void describe_list(struct model_spec *model,
                          const struct layer_kind *const *kinds, size_t count)
{
    *model = (struct model_spec){.loss = LOSS_SOFTMAX_CROSS_ENTROPY,
                                 .input = {SIDE, SIDE, CHANNELS},
                                 .start = {.trainable = TRAINABLE_HEAD}};
    model_spec_set_layers(model, count);
    for (size_t i = 0; i < count; i++)
        model->layers[i] = (struct layer_spec){
            .kind = kinds[i], .out = OUTPUTS, .bias = true, .rate = 0.5};
}

static void it_knows_whether_what_it_reads_is_fixed(void **state)
{
    (void)state;
    static const struct {
        const struct layer_kind *kinds[4];
        size_t count, nodes, list;
        enum trainable_kind trainable;
        bool is_fixed;
    } cases[] = {
        {{&layer_standardise, &layer_dense}, 2, 0, 0, TRAINABLE_ALL, true},
        {{&layer_dense, &layer_standardise, &layer_dense},
         3,
         1,
         1,
         TRAINABLE_HEAD,
         true},
        {{&layer_dense, &layer_standardise, &layer_dense},
         3,
         1,
         1,
         TRAINABLE_ALL,
         false},
        {{&layer_dense, &layer_dropout, &layer_standardise, &layer_dense},
         4,
         2,
         2,
         TRAINABLE_HEAD,
         false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct model_spec model;
        struct network *network;
        describe_list(&model, cases[k].kinds, cases[k].count);
        model.input = (struct model_input){0};
        model.start.trainable = cases[k].trainable;
        assert_int_equal(network_create(&network, &model, shape, NULL), ST_OK);
        const struct scaled_input input = network_scaled_input(network);
        assert_int_equal(input.nodes, cases[k].nodes);
        assert_int_equal(input.list, cases[k].list);
        assert_int_equal(input.positions, 1);
        assert_int_equal(input.is_fixed, cases[k].is_fixed);
        network_destroy(network);
        model_spec_fini(&model);
    }
}

/* A record lies channel by channel; the layer has one weight and one bias for each. */
static void it_scales_the_channels_of_an_image(void **state)
{
    (void)state;
    static const struct layer_kind *const kinds[] = {&layer_standardise, &layer_flatten,
                                                     &layer_dense};
    static const struct network_shape images = {PIXELS * CHANNELS, OUTPUTS};
    struct model_spec model;
    struct network *network;
    struct workspace *workspace;
    describe_list(&model, kinds, 3);
    assert_int_equal(network_create(&network, &model, images, NULL), ST_OK);
    assert_int_equal(network_scaled_input(network).positions, PIXELS);
    assert_int_equal(network_scaled_input(network).channels, CHANNELS);
    const struct layer_tensors scale = network_layer_tensors(network, 0);
    const struct layer_tensors head = network_layer_tensors(network, 1);
    assert_int_equal(scale.weight->count, CHANNELS);
    float *values = calloc(network_floats(network), sizeof *values);
    assert_non_null(values);
    for (size_t c = 0; c < CHANNELS; c++) {
        values[scale.weight->offset + c] = (float)(c + 1);
        values[scale.bias->offset + c] = 0.25F * (float)c;
    }
    /* Output o is the number of pixel o of channel o; in memory, channels are last. */
    for (size_t o = 0; o < OUTPUTS; o++)
        values[head.weight->offset + o * PIXELS * CHANNELS + o * CHANNELS + o] = 1;
    assert_int_equal(workspace_create(&workspace, network, 16, NULL), ST_OK);
    for (size_t j = 0; j < PIXELS * CHANNELS; j++)
        workspace_input(workspace)[j] = (float)(j % 7) / 8;
    workspace_forward(workspace, values, 1);
    double outputs[OUTPUTS], powers[OUTPUTS], sum = 0;
    workspace_predict(workspace, outputs);
    for (size_t o = 0; o < OUTPUTS; o++) {
        size_t at = o * PIXELS + o;
        powers[o] = exp((double)(at % 7) / 8 * (double)(o + 1) + 0.25 * (double)o);
        sum += powers[o];
    }
    for (size_t o = 0; o < OUTPUTS; o++)
        assert_close(outputs[o], powers[o] / sum, 1e-6);
    workspace_destroy(workspace);
    free(values);
    network_destroy(network);
    model_spec_fini(&model);
}

static void it_reads_no_flat_image(void **state)
{
    (void)state;
    static const struct layer_kind *const kinds[] = {&layer_flatten, &layer_standardise,
                                                     &layer_dense};
    static const struct network_shape images = {PIXELS * CHANNELS, OUTPUTS};
    struct model_spec model;
    struct network *network;
    struct error error = {0};
    describe_list(&model, kinds, 3);
    assert_int_equal(network_create(&network, &model, images, &error), ST_INVALID);
    assert_string_equal(error.pointer, "/model/layers/1/type");
    model_spec_fini(&model);
}

/* --- its place --- */

static void it_is_put_before_a_layer_of_the_list(void **state)
{
    (void)state;
    static const struct layer_kind *const kinds[] = {
        &layer_relu, &layer_residual, &layer_relu, &layer_flatten, &layer_dense};
    static const struct {
        size_t first, entry, number;
    } cases[] = {{0, 0, 0}, {1, 1, 1}, {2, 1, 1}, {3, 3, 2}, {4, 3, 2}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct model_spec model;
        describe_list(&model, kinds, 5);
        model.layers[1].body = 1;
        const struct standardise_place place =
            standardise_place(&model, cases[k].first);
        assert_int_equal(place.entry, cases[k].entry);
        assert_int_equal(place.number, cases[k].number);
        standardise_put(&model, place.entry);
        assert_int_equal(model.layer_count, 6);
        for (size_t i = 0, j = 0; i < 6; i++)
            assert_ptr_equal(model.layers[i].kind,
                             i == place.entry ? &layer_standardise : kinds[j++]);
        model_spec_fini(&model);
    }
}

/* Names of tensors in other software leave the layer out. */
static void a_resnet_keeps_its_names(void **state)
{
    (void)state;
    static const size_t places[] = {0, 4, 1000}; /* 1000: before the last layer */
    for (size_t k = 0; k < 3; k++) {
        struct model_spec model = {.preset = PRESET_RESNET18_GN, .groups = 8};
        preset_expand(&model, OUTPUTS);
        size_t last = model.layer_count - 1;
        size_t place = places[k] < last ? places[k] : last;
        standardise_put(&model, place);
        for (size_t i = 0; i < model.layer_count; i++)
            model.layers[i].public_name[0] = '\0';
        preset_name_layers(&model);
        assert_string_equal(model.layers[place].public_name, "");
        assert_string_equal(model.layers[place == 0].public_name, "conv1");
        assert_string_equal(model.layers[model.layer_count - 1].public_name, "fc");
        assert_string_equal(model.layers[place <= 4 ? 6 : 5].public_name,
                            "layer1.0.conv1");
        model_spec_fini(&model);
    }
}

static void nothing_is_left_to_train_without_another_layer(void **state)
{
    (void)state;
    struct model_spec model;
    describe(&model, TRAINABLE_ALL);
    struct network *network;
    model.layer_count = 1;
    assert_int_equal(network_create(&network, &model, (struct network_shape){3, 3},
                                    &(struct error){0}),
                     ST_INVALID);
    model_spec_fini(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_never_trained),
        cmocka_unit_test(without_it_no_layer_is_constant),
        cmocka_unit_test(a_model_has_one_of_its_own),
        cmocka_unit_test(it_knows_whether_what_it_reads_is_fixed),
        cmocka_unit_test(it_scales_the_channels_of_an_image),
        cmocka_unit_test(it_reads_no_flat_image),
        cmocka_unit_test(it_is_put_before_a_layer_of_the_list),
        cmocka_unit_test(a_resnet_keeps_its_names),
        cmocka_unit_test(nothing_is_left_to_train_without_another_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
