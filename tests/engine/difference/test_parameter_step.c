/* Goal: a step is stored with all its digits, in units near its own length, however
 * long it is. Method: vectors of known length. */
#include "tests/expect.h"

#include "engine/difference/parameter_step.h"

enum { COUNT = 4 };

static struct parameter_step *moved(float *to, const float *from, float step)
{
    struct parameter_step *between;
    assert_int_equal(parameter_step_create(&between, COUNT, NULL), ST_OK);
    for (size_t j = 0; j < COUNT; j++)
        to[j] = from[j] + step;
    parameter_step_set(between, to, from);
    return between;
}

/* Four equal entries: twice as long as one entry. */
static void a_step_has_unit_length(void **state)
{
    static const float origin[COUNT] = {0};
    (void)state;
    for (int k = -96; k <= 96; k++)
        for (int part = 0; part < 16; part++) {
            float to[COUNT], step = ldexpf(1.0F + (float)part / 16.0F, k);
            struct parameter_step *between = moved(to, origin, step);
            double scale = parameter_step_scale(between),
                   ratio = parameter_step_length(between) / scale;
            int exponent;
            assert_close(parameter_step_length(between), 2.0 * (double)step, 1e-15);
            assert_true(frexp(scale, &exponent) == 0.5);
            assert_true(ratio >= sqrt(0.5) && ratio < sqrt(2.0));
            for (size_t j = 0; j < COUNT; j++)
                assert_true((double)parameter_step_scaled(between)[j] * scale ==
                            (double)step);
            assert_true(parameter_step_parameters(between) == to);
            assert_true(parameter_step_previous(between) == origin);
            parameter_step_destroy(between);
        }
}

/* The difference of two floats that are near each other is a float. */
static void a_small_step_is_exact(void **state)
{
    static const float from[COUNT] = {0.3F, -1.7F, 4e-9F, 25.0F};
    float to[COUNT];
    (void)state;
    struct parameter_step *between = moved(to, from, 1e-5F);
    for (size_t j = 0; j < COUNT; j++)
        assert_true((double)parameter_step_scaled(between)[j] *
                        parameter_step_scale(between) ==
                    (double)(to[j] - from[j]));
    parameter_step_destroy(between);
}

static void lengths_beyond_floats_have_a_scale(void **state)
{
    static const float origin[COUNT] = {0};
    static const struct {
        float step;
        double length, scale;
    } steps[] = {{0.0F, 0.0, 1.0},
                 {NAN, NAN, 1.0},
                 {INFINITY, INFINITY, 1.0},
                 {0x1p-140F, 0x1p-139, 0x1p-100},
                 {0x1p127F, 0x1p128, 0x1p100}};
    (void)state;
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
        float to[COUNT];
        struct parameter_step *between = moved(to, origin, steps[k].step);
        assert_true(parameter_step_length(between) == steps[k].length ||
                    isnan(steps[k].length));
        assert_int_equal(isnan(parameter_step_length(between)), isnan(steps[k].length));
        assert_true(parameter_step_scale(between) == steps[k].scale);
        parameter_step_destroy(between);
    }
}

static void its_memory_is_a_vector(void **state)
{
    (void)state;
    assert_int_equal(parameter_step_size(1000) - parameter_step_size(0),
                     1000 * sizeof(float));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_has_unit_length),
        cmocka_unit_test(a_small_step_is_exact),
        cmocka_unit_test(lengths_beyond_floats_have_a_scale),
        cmocka_unit_test(its_memory_is_a_vector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
