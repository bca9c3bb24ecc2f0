/* Goal: elementwise layers agree with libm in double, in the same way in every lane,
 * and leave the padding of rows zero. Method: a sweep over the relevant floats, each
 * value in each of 16 places. */
#include "tests/expect.h"

#include <string.h>

#include "engine/nn/layers/activation.h"
#include "engine/nn/layers/registry.h"

enum { LANES = 16, COUNT = 4096 };

static const struct layer_kind *const kinds[] = {&layer_relu,    &layer_tanh,
                                                 &layer_sigmoid, &layer_softplus,
                                                 &layer_gelu,    &layer_gelu_tanh};
enum { KINDS = sizeof kinds / sizeof *kinds };

static double expected(const struct layer_kind *kind, double z)
{
    if (kind == &layer_tanh)
        return tanh(z);
    if (kind == &layer_sigmoid)
        return z >= 0 ? 1 / (1 + exp(-z)) : exp(z) / (1 + exp(z));
    if (kind == &layer_softplus)
        return fmax(z, 0) + log1p(exp(-fabs(z)));
    if (kind == &layer_gelu)
        return z * 0.5 * erfc(-z / sqrt(2));
    if (kind == &layer_gelu_tanh)
        return z / (1 + exp(-2 * sqrt(2 / M_PI) * (z + 0.044715 * z * z * z)));
    return fmax(z, 0);
}

static double expected_slope(const struct layer_kind *kind, double z)
{
    if (kind == &layer_tanh)
        return 1 / (cosh(z) * cosh(z));
    if (kind == &layer_sigmoid)
        return 1 / (2 + exp(z) + exp(-z));
    if (kind == &layer_softplus)
        return expected(&layer_sigmoid, z);
    if (kind == &layer_gelu)
        return 0.5 * erfc(-z / sqrt(2)) + z * exp(-z * z / 2) / sqrt(2 * M_PI);
    if (kind == &layer_gelu_tanh) {
        double c = 2 * sqrt(2 / M_PI), e = exp(-c * (z + 0.044715 * z * z * z));
        double logistic = 1 / (1 + e);
        double other = e / (1 + e); /* 1 - logistic, if e is finite */
        return logistic + (isfinite(e) && e < 1e200
                               ? z * logistic * other * c * (1 + 0.134145 * z * z)
                               : 0);
    }
    return z > 0 ? 1 : 0;
}

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

static struct rows row(float *data, size_t count)
{
    return (struct rows){.data = data, .stride = count, .count = 1};
}

static void forward(const struct layer_kind *kind, float *y, float *z, size_t count)
{
    activation_forward(activation_of(kind), count, row(y, count), row(z, count));
}

static void forward_is_libms_to_a_few_units(void **state)
{
    static _Alignas(64) float z[COUNT], y[COUNT];
    (void)state;
    fill(z);
    for (size_t k = 0; k < KINDS; k++) {
        forward(kinds[k], y, z, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            double right = expected(kinds[k], (double)z[i]);
            /* Far below zero a gelu is only z times a rounding unit. */
            double size = activation_of(kinds[k])->reads_input ? (double)z[i] : right;
            if (fabs((double)y[i] - right) > 0x1p-21 * fabs(size) + 0x1p-149)
                fail_msg("%s(%g) = %g", kinds[k]->name, (double)z[i], (double)y[i]);
            assert_true(kinds[k] != &layer_tanh || fabsf(y[i]) <= 1.0F);
            assert_true(kinds[k] != &layer_sigmoid || (y[i] >= 0.0F && y[i] <= 1.0F));
        }
    }
}

/* A slope near 0 or 1 is computed from a rounded y, so its error is a few units of 1,
 * not of the slope. */
static void backward_is_the_derivative(void **state)
{
    static _Alignas(64) float z[COUNT], y[COUNT], dy[COUNT], dz[COUNT];
    (void)state;
    fill(z);
    for (size_t i = 0; i < COUNT; i++)
        dy[i] = (float)sin((double)i);
    for (size_t k = 0; k < KINDS; k++) {
        forward(kinds[k], y, z, COUNT);
        activation_backward(activation_of(kinds[k]), row(dz, COUNT), row(dy, COUNT),
                            row(activation_of(kinds[k])->reads_input ? z : y, COUNT));
        for (size_t i = 0; i < COUNT; i++) {
            double right = expected_slope(kinds[k], (double)z[i]) * (double)dy[i];
            double unit = kinds[k] == &layer_relu ? 0 : 0x1p-20 * fabs((double)dy[i]);
            if (!(fabs((double)dz[i] - right) <= unit))
                fail_msg("%s'(%g) %g is not %g", kinds[k]->name, (double)z[i],
                         (double)dz[i], right);
        }
    }
}

static void in_place_is_the_same(void **state)
{
    static _Alignas(64) float z[COUNT], y[COUNT];
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        fill(z);
        forward(kinds[k], y, z, COUNT);
        forward(kinds[k], z, z, COUNT);
        assert_memory_equal(y, z, sizeof y);
    }
}

static void every_lane_gives_the_same_bits(void **state)
{
    static _Alignas(64) float z[COUNT], one[LANES], slope[LANES], ones[LANES];
    (void)state;
    fill(z);
    for (size_t k = 0; k < LANES; k++)
        ones[k] = 1.0F;
    for (size_t kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < COUNT; i++) {
            float first[2] = {0, 0};
            for (size_t lane = 0; lane < LANES; lane++) {
                for (size_t k = 0; k < LANES; k++)
                    one[k] = z[(i + 7 * k) % COUNT];
                one[lane] = z[i];
                forward(kinds[kind], one, one, LANES);
                activation_backward(activation_of(kinds[kind]), row(slope, LANES),
                                    row(ones, LANES), row(one, LANES));
                if (lane == 0)
                    first[0] = one[0], first[1] = slope[0];
                assert_memory_equal(&one[lane], &first[0], sizeof(float));
                assert_memory_equal(&slope[lane], &first[1], sizeof(float));
            }
        }
}

static void a_nan_stays_one(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        _Alignas(64) float z[LANES] = {NAN};
        forward(kinds[k], z, z, LANES);
        assert_true(isnan(z[0]));
        assert_true(fabs((double)z[1] - expected(kinds[k], 0)) <= 0x1p-22);
    }
}

static void padding_stays_zero(void **state)
{
    enum { WIDTH = 5, ROWS = 3 };
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        _Alignas(64) float z[ROWS * LANES] = {0};
        struct rows rows = {.data = z, .stride = LANES, .count = ROWS};
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < WIDTH; j++)
                z[i * LANES + j] = (float)(i + j) - 2.0F;
        activation_forward(activation_of(kinds[k]), WIDTH, rows, rows);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < LANES; j++)
                assert_true(j < WIDTH ? z[i * LANES + 4] > 0.0F
                                      : z[i * LANES + j] == 0.0F);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_is_libms_to_a_few_units),
        cmocka_unit_test(backward_is_the_derivative),
        cmocka_unit_test(in_place_is_the_same),
        cmocka_unit_test(every_lane_gives_the_same_bits),
        cmocka_unit_test(a_nan_stays_one),
        cmocka_unit_test(padding_stays_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
