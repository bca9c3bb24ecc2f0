/* Goal: the layer subtracts what it was given and divides by it, is trained by no
 * choice of trainable layers, and stands before a vector only. Method: networks built
 * from a list of layers, and the formula in double. */
#include <math.h>
#include <string.h>

#include "engine/nn/layers/registry.h"
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

static void it_stands_first(void **state)
{
    (void)state;
    struct model_spec model;
    describe(&model, TRAINABLE_ALL);
    struct layer_spec first = model.layers[0];
    model.layers[0] = model.layers[1];
    model.layers[0].out = 4;
    struct layer_spec last = model.layers[1];
    model_spec_set_layers(&model, 3);
    model.layers[0] = last;
    model.layers[1] = first;
    model.layers[2] = last;
    expect_refused(&model, "/model/layers/1/type");

    describe(&model, TRAINABLE_ALL);
    model.layers[1] = model.layers[0];
    expect_refused(&model, "/model/layers/1/type");
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
        cmocka_unit_test(it_stands_first),
        cmocka_unit_test(nothing_is_left_to_train_without_another_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
