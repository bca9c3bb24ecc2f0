/* Goal: presets expand to their layers, and names and enums agree both ways. Method:
 * the lists written out. */
#include "tests/expect.h"

#include <string.h>

#include "engine/nn/model_spec.h"
#include "engine/nn/layers/preset.h"
#include "engine/nn/layers/registry.h"

static void linear_is_one_dense_layer(void **state)
{
    struct model_spec model = {.preset = PRESET_LINEAR};
    (void)state;
    preset_expand(&model, 7);
    preset_expand(&model, 10); /* again: it replaces the first result */
    assert_int_equal(model.layer_count, 1);
    assert_ptr_equal(model.layers[0].kind, &layer_dense);
    assert_int_equal(model.layers[0].out, 10);
    assert_true(model.layers[0].bias);
    model_spec_fini(&model);
    assert_null(model.layers);
}

static void mlp_alternates_dense_and_activation(void **state)
{
    struct model_spec model = {.preset = PRESET_MLP,
                               .hidden_count = 2,
                               .hidden = {128, 37},
                               .activation = &layer_tanh,
                               .bias = false};
    static const struct layer_kind *const kinds[] = {
        &layer_dense, &layer_tanh, &layer_dense, &layer_tanh, &layer_dense};
    static const uint32_t outs[] = {128, 0, 37, 0, 10};
    (void)state;
    preset_expand(&model, 10);
    assert_int_equal(model.layer_count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(model.layers[i].kind, kinds[i]);
        assert_int_equal(model.layers[i].out, outs[i]);
        assert_false(model.layers[i].bias);
    }
    model_spec_fini(&model);
}

static void layers_given_one_by_one_stay(void **state)
{
    struct model_spec model = {.preset = PRESET_NONE, .layer_count = 1};
    (void)state;
    model.layers = calloc(1, sizeof *model.layers);
    model.layers[0].out = 3;
    preset_expand(&model, 10);
    assert_int_equal(model.layer_count, 1);
    assert_int_equal(model.layers[0].out, 3);
    model_spec_fini(&model);
}

static void a_copy_has_its_own_layers(void **state)
{
    struct model_spec model = {.preset = PRESET_LINEAR, .init_seed = 2385}, copy;
    (void)state;
    preset_expand(&model, 10);
    model_spec_copy(&copy, &model);
    assert_ptr_not_equal(copy.layers, model.layers);
    model_spec_fini(&model);
    assert_int_equal(copy.layers[0].out, 10);
    assert_int_equal(copy.init_seed, 2385);
    model_spec_fini(&copy);
    model_spec_fini(&copy);
}

static void a_loss_needs_its_outputs(void **state)
{
    static const uint32_t expected[][4] = {
        /* classes          0  1  2  10 */
        [LOSS_SOFTMAX_CROSS_ENTROPY] = {0, 0, 2, 10},
        [LOSS_LOGISTIC] = {0, 0, 1, 0},
        [LOSS_SQUARED] = {1, 0, 0, 0},
        [LOSS_HUBER] = {1, 0, 0, 0},
    };
    static const uint32_t classes[] = {0, 1, 2, 10};
    (void)state;
    for (int loss = 0; loss < 4; loss++)
        for (size_t c = 0; c < 4; c++) {
            struct model_spec model = {.loss = (enum loss)loss};
            assert_int_equal(model_spec_outputs(&model, classes[c]), expected[loss][c]);
        }
}

static void names_parse_to_what_they_name(void **state)
{
    static const char *const kinds[] = {"dense",    "relu", "tanh",     "sigmoid",
                                        "softplus", "gelu", "gelu_tanh"};
    static const char *const losses[] = {"softmax_cross_entropy", "logistic", "squared",
                                         "huber"};
    (void)state;
    for (size_t i = 0; i < 7; i++) {
        const struct layer_kind *kind = layer_find(kinds[i]);
        assert_string_equal(kind->name, kinds[i]);
        assert_int_equal(kind->is_activation, i > 0);
    }
    assert_false(layer_conv2d.is_activation);
    for (int i = 0; i < 4; i++) {
        enum loss loss;
        assert_string_equal(loss_name((enum loss)i), losses[i]);
        assert_true(loss_parse(&loss, losses[i]));
        assert_int_equal(loss, i);
    }
    enum loss loss = LOSS_SQUARED;
    assert_null(layer_find("Dense"));
    assert_null(layer_find(""));
    assert_false(loss_parse(&loss, "hinge"));
    assert_int_equal(loss, LOSS_SQUARED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_is_one_dense_layer),
        cmocka_unit_test(mlp_alternates_dense_and_activation),
        cmocka_unit_test(layers_given_one_by_one_stay),
        cmocka_unit_test(a_copy_has_its_own_layers),
        cmocka_unit_test(a_loss_needs_its_outputs),
        cmocka_unit_test(names_parse_to_what_they_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
