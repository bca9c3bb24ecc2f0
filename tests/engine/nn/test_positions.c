/* Goal: forms are chosen by the rule; weights are gathered and scattered without loss; a
 * record that is a product of its own has the same bits in any row. Method: the table of
 * the rule, one loop over single numbers, and one record in every row. */
#include "tests/expect.h"

#include <cblas.h>
#include <string.h>

#include "tests/engine/nn/position_shape_fixture.h"

/* network.md 2.2's table where images have these shapes, with what a product in double
 * changes: README.md. */
static void the_form_is_that_of_the_rule(void **state)
{
    static const struct {
        struct position_shape shape;
        size_t positions, inputs;
        enum norm_form form;
    } cases[] = {
        {{{28, 28, 1}, 8, 2, 3, 16, 3}, 196, 64, NORM_PER_EXAMPLE},
        {{{28, 28, 3}, 8, 2, 3, 16, 1}, 196, 192, NORM_PER_EXAMPLE},
        {{{13, 13, 16}, 4, 2, 0, 32, 1}, 25, 256, NORM_PER_EXAMPLE},
        {{{32, 32, 3}, 7, 2, 3, 64, 1}, 256, 147, NORM_PER_EXAMPLE},
        {{{8, 8, 64}, 3, 1, 1, 64, 1}, 64, 576, NORM_EXPLICIT},
        {{{4, 4, 128}, 3, 1, 1, 128, 1}, 16, 1152, NORM_GRAM},
        {{{2, 2, 512}, 3, 1, 1, 512, 1}, 4, 4608, NORM_GRAM},
        {{{1, 1, 512}, 3, 1, 1, 512, 1}, 1, 512, NORM_GRAM},
        {{{14, 14, 256}, 3, 1, 1, 256, 1}, 196, 2304, NORM_EXPLICIT},
        {{{28, 28, 128}, 3, 1, 1, 128, 1}, 784, 1152, NORM_PER_EXAMPLE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct position_layer layer = position_layer_of(&cases[i].shape, true);
        assert_int_equal(window_positions(&layer.window), cases[i].positions);
        assert_int_equal(layer.rows.inputs, cases[i].inputs);
        assert_int_equal(layer.form, cases[i].form);
    }
}

/* Copies add up, taps that meet nothing are left out; a gathered gradient is written
 * back to every copy, zero elsewhere. */
static void weights_are_gathered_and_scattered(void **state)
{
    static const struct position_shape shapes[] = {{{5, 4, 1}, 3, 1, 0, 2, 3},
                                                   {{1, 1, 2}, 3, 1, 1, 3, 1},
                                                   {{1, 2, 1}, 3, 2, 1, 2, 2}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct position_layer layer = position_layer_of(&shapes[i], false);
        size_t copies = shapes[i].copies, row = positions_row_floats(&layer);
        size_t channels = shapes[i].image.channels, d = layer.rows.inputs;
        float weights[256], gathered[256], back[256];
        for (size_t j = 0; j < row * shapes[i].outputs; j++)
            weights[j] = (float)(j * j % 97);
        assert_int_equal(positions_gathered(&layer), d * shapes[i].outputs);
        assert_ptr_equal(positions_gather(&layer, weights, gathered), gathered);
        for (size_t o = 0; o < shapes[i].outputs; o++) {
            size_t met = 0;
            positions_scatter(&layer, back, gathered + o * d);
            for (size_t j = 0; j < row; j++) {
                size_t tap = j / copies / channels, c = j / copies % channels;
                size_t ky = tap / 3 - layer.first.y, kx = tap % 3 - layer.first.x;
                if (ky >= layer.window.kernel_height ||
                    kx >= layer.window.kernel_width) {
                    assert_true(back[j] == 0.0F);
                    continue;
                }
                size_t at = (ky * layer.window.kernel_width + kx) * channels + c;
                float sum = 0.0F;
                for (size_t k = 0; k < copies; k++)
                    sum += weights[o * row + (tap * channels + c) * copies + k];
                assert_true(gathered[o * d + at] == sum && back[j] == sum);
                met++;
            }
            assert_int_equal(met, d * copies);
        }
    }
}

/* 16 rows of one record in a layer of 25 positions: whatever the BLAS, each is a product
 * of its own and has the bits of the first. */
static void a_product_of_its_own_has_the_same_bits_in_every_row(void **state)
{
    const struct position_shape shape = {{13, 13, 16}, 4, 2, 0, 32, 1};
    struct position_layer layer = position_layer_of(&shape, false);
    size_t inputs = 13 * 13 * 16 + 0, outputs = 25 * 32, weights = 32 * 256;
    struct rows a = {aligned_alloc(64, 16 * 2704 * 4), 2704, 16};
    struct rows z = {aligned_alloc(64, 16 * 800 * 4), 800, 16};
    float *w = calloc(weights, sizeof *w);
    struct position_pass pass = {
        .layer = &layer,
        .weights = w,
        .scratch = aligned_alloc(64, (positions_unfolded(&layer) + 15) / 16 * 64)};
    (void)state;
    openblas_set_num_threads(1);
    assert_int_equal(inputs, a.stride);
    for (size_t j = 0; j < 16 * inputs; j++)
        a.data[j] = (float)((j % inputs) * 7919 % 1009) / 1009.0F - 0.5F;
    for (size_t j = 0; j < weights; j++)
        w[j] = (float)(j * 104729 % 1013) / 1013.0F - 0.5F;
    positions_forward(&pass, z, a);
    for (size_t i = 1; i < 16; i++)
        assert_memory_equal(z.data, z.data + i * 800, outputs * sizeof(float));
    positions_backward(&pass, a, z);
    for (size_t i = 1; i < 16; i++)
        assert_memory_equal(a.data, a.data + i * 2704, inputs * sizeof(float));
    free(a.data);
    free(z.data);
    free(w);
    free(pass.scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_form_is_that_of_the_rule),
        cmocka_unit_test(weights_are_gathered_and_scattered),
        cmocka_unit_test(a_product_of_its_own_has_the_same_bits_in_every_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
