/* Goal: elementwise layers agree with libm in double, in every lane alike. Method: a
 * sweep over the floats that matter, each value in each of 16 places. */
#include "tests/expect.h"

#include <string.h>

#include "engine/nn/activation.h"

enum { LANES = 16, COUNT = 4096 };

static void fill(float *z)
{
    for (size_t i = 0; i < COUNT; i++)
        z[i] =
            (float)((i % 2 == 0 ? 1.0 : -1.0) * exp2((double)(i % 509) / 8.0 - 40.0));
    z[0] = 0.0F;
    z[1] = -0.0F;
    z[2] = 0x1p-149F;
    z[3] = 100.0F;
    z[4] = -100.0F;
}

static void tanh_is_libms_to_four_units(void **state)
{
    static _Alignas(64) float z[COUNT], y[COUNT];
    (void)state;
    fill(z);
    tanh_forward(y, z, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        double expected = tanh((double)z[i]);
        assert_true(fabs((double)y[i] - expected) <=
                    0x1p-22 * fabs(expected) + 0x1p-149);
        assert_true(fabsf(y[i]) <= 1.0F);
    }
}

static void relu_keeps_what_is_positive(void **state)
{
    static _Alignas(64) float z[COUNT], y[COUNT];
    (void)state;
    fill(z);
    relu_forward(y, z, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_true(y[i] == (z[i] > 0.0F ? z[i] : 0.0F));
}

static void backward_is_the_derivative_at_the_output(void **state)
{
    static _Alignas(64) float z[COUNT], y[COUNT], dy[COUNT], dz[COUNT];
    (void)state;
    fill(z);
    for (size_t i = 0; i < COUNT; i++)
        dy[i] = (float)sin((double)i);
    tanh_forward(y, z, COUNT);
    tanh_backward(dz, dy, y, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        double slope = (1.0 - (double)y[i]) * (1.0 + (double)y[i]);
        assert_true(fabs((double)dz[i] - slope * (double)dy[i]) <=
                    0x1p-21 * fabs(slope * (double)dy[i]));
    }
    relu_forward(y, z, COUNT);
    relu_backward(dz, dy, y, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_true(dz[i] == (z[i] > 0.0F ? dy[i] : 0.0F));
}

static void in_place_is_the_same(void **state)
{
    static _Alignas(64) float z[COUNT], y[COUNT];
    (void)state;
    fill(z);
    tanh_forward(y, z, COUNT);
    tanh_forward(z, z, COUNT);
    assert_memory_equal(y, z, sizeof y);
}

static void every_lane_gives_the_same_bits(void **state)
{
    static _Alignas(64) float z[COUNT], one[LANES], first[LANES];
    (void)state;
    fill(z);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t lane = 0; lane < LANES; lane++) {
            for (size_t k = 0; k < LANES; k++)
                one[k] = z[(i + 7 * k) % COUNT];
            one[lane] = z[i];
            tanh_forward(one, one, LANES);
            if (lane == 0)
                first[0] = one[0];
            assert_memory_equal(&one[lane], &first[0], sizeof(float));
        }
}

static void a_nan_stays_one(void **state)
{
    _Alignas(64) float z[LANES] = {NAN};
    (void)state;
    relu_forward(z, z, LANES);
    assert_true(isnan(z[0]) && z[1] == 0.0F);
    tanh_forward(z, z, LANES);
    assert_true(isnan(z[0]) && z[1] == 0.0F);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tanh_is_libms_to_four_units),
        cmocka_unit_test(relu_keeps_what_is_positive),
        cmocka_unit_test(backward_is_the_derivative_at_the_output),
        cmocka_unit_test(in_place_is_the_same),
        cmocka_unit_test(every_lane_gives_the_same_bits),
        cmocka_unit_test(a_nan_stays_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
