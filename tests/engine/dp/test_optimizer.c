/* Goal: the updates are the published ones, and a vector may be updated in parts.
 * Method: plain loops in double, 50 steps; schedules at both ends; a parameter pushed
 * out of range. */
#include "engine/dp/optimizer.h"

#include <string.h>

#include "tests/expect.h"

enum { DIM = 103, STEPS = 50 };

static void gradient_of(float *g, uint64_t step)
{
    for (int j = 0; j < DIM; j++)
        g[j] = (float)sin(0.37 * j + 1.3 * (double)step) + 0.2F;
}

struct oracle { /* one parameter's history */
    double p, first, second, noise;
};

static double oracle_rate(const struct optimizer_spec *spec, uint64_t step)
{
    double warm = floor(spec->warmup * STEPS);
    double share = ((double)step - warm) / (STEPS - 1 - warm);
    if ((double)step < warm)
        return spec->learning_rate * ((double)step + 1) / (warm + 1);
    if (spec->schedule == RATE_COSINE)
        share = pow(sin(acos(-1) * share / 2), 2); /* (1 - cos(pi x)) / 2 */
    return spec->learning_rate * (1 - share) + spec->learning_rate_final * share;
}

static void oracle_step(struct oracle *o, const struct optimizer_spec *spec, double g,
                        double noise_variance, uint64_t step)
{
    double t = (double)step + 1;
    double rate = oracle_rate(spec, step);
    o->p -= rate * spec->weight_decay * o->p;
    if (spec->kind == OPTIMIZER_SGD) {
        o->first = spec->momentum * o->first + g;
        o->p -= rate * o->first;
        return;
    }
    o->first = spec->beta1 * o->first + (1 - spec->beta1) * g;
    o->second = spec->beta2 * o->second + (1 - spec->beta2) * g * g;
    o->noise = spec->beta2 * o->noise + (1 - spec->beta2) * noise_variance;
    double mean = o->first / (1 - pow(spec->beta1, t));
    double square = o->second / (1 - pow(spec->beta2, t));
    double noise = o->noise / (1 - pow(spec->beta2, t));
    if (spec->kind == OPTIMIZER_ADAM_BC)
        square = fmax(square - noise, spec->floor * noise);
    o->p -= rate * mean / (sqrt(square) + spec->epsilon);
}

static const struct optimizer_spec specs[] = {
    {.kind = OPTIMIZER_SGD, .learning_rate = 0.3, .learning_rate_final = 0.3},
    {.kind = OPTIMIZER_SGD, .learning_rate = 0.3, .learning_rate_final = 0},
    {.kind = OPTIMIZER_SGD,
     .learning_rate = 0.1,
     .learning_rate_final = 0.02,
     .momentum = 0.9},
    {.kind = OPTIMIZER_ADAM,
     .learning_rate = 0.01,
     .learning_rate_final = 0.001,
     .beta1 = 0.9,
     .beta2 = 0.999,
     .epsilon = 1e-8},
    {.kind = OPTIMIZER_ADAM_BC,
     .learning_rate = 0.01,
     .learning_rate_final = 0.001,
     .beta1 = 0.9,
     .beta2 = 0.99,
     .epsilon = 1e-8,
     .floor = 0.01},
    {.kind = OPTIMIZER_SGD,
     .learning_rate = 0.3,
     .learning_rate_final = 0.01,
     .schedule = RATE_COSINE,
     .warmup = 0.25,
     .weight_decay = 0.2},
    {.kind = OPTIMIZER_ADAM,
     .learning_rate = 0.01,
     .beta1 = 0.9,
     .beta2 = 0.999,
     .epsilon = 1e-8,
     .schedule = RATE_COSINE,
     .warmup = 0.1,
     .weight_decay = 3},
    {.kind = OPTIMIZER_SGD,
     .learning_rate = 0.1,
     .learning_rate_final = 0.1,
     .momentum = 0.9,
     .warmup = 0.5},
};

static void updates_are_the_published_ones(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        struct oracle oracles[DIM] = {{0}};
        float whole[DIM] = {0}, parts[DIM] = {0}, g[DIM];
        struct optimizer *one, *two;
        assert_int_equal(optimizer_create(&one, &specs[k], DIM, STEPS, NULL), ST_OK);
        assert_int_equal(optimizer_create(&two, &specs[k], DIM, STEPS, NULL), ST_OK);
        for (uint64_t step = 0; step < STEPS; step++) {
            gradient_of(g, step);
            double noise_variance = step < STEPS / 2 ? 0.4 : 0.02;
            optimizer_begin_step(one, step, noise_variance);
            optimizer_begin_step(two, step, noise_variance);
            assert_true(optimizer_apply(one, whole, g, (struct span){0, DIM}));
            assert_true(
                optimizer_apply(two, parts, g + 64, (struct span){64, DIM - 64}));
            assert_true(optimizer_apply(two, parts, g, (struct span){0, 64}));
            for (int j = 0; j < DIM; j++)
                oracle_step(&oracles[j], &specs[k], (double)g[j], noise_variance, step);
        }
        for (int j = 0; j < DIM; j++) {
            /* 50 updates, a few float32 roundings each, of parameters below 50. */
            assert_true(fabs((double)whole[j] - oracles[j].p) < 1e-4);
            assert_true(fabs(oracles[j].p) > 1e-4);
        }
        assert_memory_equal(parts, whole, sizeof whole);
        optimizer_destroy(one);
        optimizer_destroy(two);
    }
    optimizer_destroy(NULL);
}

static void the_rate_goes_in_a_straight_line(void **state)
{
    (void)state;
    struct optimizer *optimizer;
    struct optimizer_spec spec = {.learning_rate = 8, .learning_rate_final = 2};
    assert_int_equal(optimizer_create(&optimizer, &spec, 1, 4, NULL), ST_OK);
    for (uint64_t step = 0; step < 4; step++)
        assert_close(optimizer_rate(optimizer, step), 8 - 2 * (double)step, 1e-15);
    optimizer_destroy(optimizer);
    assert_int_equal(optimizer_create(&optimizer, &spec, 1, 1, NULL), ST_OK);
    assert_close(optimizer_rate(optimizer, 0), 8, 0);
    optimizer_destroy(optimizer);
}

static void a_warm_up_leaves_the_last_step_its_rate(void **state)
{
    (void)state;
    static const double warmups[] = {0.999, 1 - 0x1p-53};
    for (size_t k = 0; k < 2; k++) {
        struct optimizer *optimizer;
        struct optimizer_spec spec = {.schedule = RATE_COSINE, .warmup = warmups[k]};
        optimizer_spec_set_rate(&spec, 8);
        assert_true(spec.learning_rate_final == 0);
        assert_int_equal(optimizer_create(&optimizer, &spec, 1, 4, NULL), ST_OK);
        for (uint64_t step = 0; step < 4; step++) {
            double rate = optimizer_rate(optimizer, step);
            assert_true(rate > 0 && rate <= 8);
        }
        optimizer_destroy(optimizer);
    }
}

static void a_parameter_out_of_range_is_told(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        for (int bad = 0; bad < 2; bad++) {
            struct optimizer *optimizer;
            float p[DIM] = {0}, g[DIM] = {0};
            g[41] = bad == 0 ? NAN : 1;
            p[41] = bad == 0 ? 0 : -INFINITY;
            assert_int_equal(optimizer_create(&optimizer, &specs[k], DIM, STEPS, NULL),
                             ST_OK);
            optimizer_begin_step(optimizer, 0, 0);
            assert_true(optimizer_apply(optimizer, p, g, (struct span){0, 41}));
            assert_false(optimizer_apply(optimizer, p, g + 41, (struct span){41, 62}));
            optimizer_destroy(optimizer);
        }
    }
}

static void state_has_the_size_that_was_said(void **state)
{
    (void)state;
    assert_int_equal(optimizer_size(&specs[0], 1000), 0);
    assert_int_equal(optimizer_size(&specs[2], 1000), 4000);
    assert_int_equal(optimizer_size(&specs[3], 1000), 8000);
}

static void state_that_cannot_be_had_is_refused(void **state)
{
    (void)state;
    struct optimizer *optimizer = NULL;
    struct error error = {0};
    if (SANITIZED)
        skip_because("a sanitizer's allocator aborts");
    assert_int_equal(
        optimizer_create(&optimizer, &specs[3], SIZE_MAX / 8, STEPS, &error),
        ST_NO_MEMORY);
    assert_null(optimizer);
    assert_int_equal(error.status, ST_NO_MEMORY);
}

static void names_are_read_back(void **state)
{
    (void)state;
    enum optimizer_kind kind;
    assert_true(optimizer_kind_parse(&kind, "adam") && kind == OPTIMIZER_ADAM);
    assert_true(optimizer_kind_parse(&kind, "sgd") && kind == OPTIMIZER_SGD);
    assert_true(optimizer_kind_parse(&kind, "adam_bc") && kind == OPTIMIZER_ADAM_BC);
    assert_false(optimizer_kind_parse(&kind, "SGD"));
    assert_string_equal(optimizer_kind_name(OPTIMIZER_ADAM), "adam");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_are_the_published_ones),
        cmocka_unit_test(the_rate_goes_in_a_straight_line),
        cmocka_unit_test(a_warm_up_leaves_the_last_step_its_rate),
        cmocka_unit_test(a_parameter_out_of_range_is_told),
        cmocka_unit_test(state_has_the_size_that_was_said),
        cmocka_unit_test(state_that_cannot_be_had_is_refused),
        cmocka_unit_test(names_are_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
