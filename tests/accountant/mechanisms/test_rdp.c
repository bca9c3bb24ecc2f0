/* Goal: one step's divergence is the true one to 1e-12 and never below it, over the
 * whole range of parameters. Method: 40-digit references (tests/vectors/rdp.py,
 * $SHARED/vectors, accounting.md 2), limits, and the defects of other libraries
 * (accounting.md 3). */
#include "accountant/mechanisms/rdp.h"

#include <jansson.h>

#include "tests/expect.h"

/* The reference itself is a rounded decimal. */
static const double reference_rounding = 4e-16;

static double cost(enum relation relation, double rate, double noise, double order)
{
    struct rdp rdp = {0};
    rdp_set(&rdp, relation, &(struct mechanism_run){rate, noise, 1});
    return rdp_at(&rdp, order);
}

static void assert_just_above(double actual, double expected)
{
    assert_close(actual, expected, 1e-12);
    assert_true(actual >= expected * (1 - reference_rounding));
}

static void golden_values_are_met(void **state)
{
    (void)state;
    static const double golden[][4] = {
        {.01, 1, 2, 1.7181342207454793e-4},     {.01, 1, 2.5, 2.1757533228188045e-4},
        {.01, 1, 32, 11.246275937048069},       {.04, 1.5, 3.9, 1.8332021995838586e-3},
        {.04, 1.5, 64, 10.952253130309479},     {.001, .8, 8.2, 2.0709835277628833e-5},
        {.001, 10, 1.1, 5.5275417544016436e-9}, {1e-5, .6, 8.1, 2.2441053579878455e-7},
        {1e-8, 20, 2, 2.503127605795085e-19},   {.5, 20, 64.5, .020995459907133831},
        {.5, .5, 1.1, .79263177957152023},      {.9, 4, 10.9, .28977409660279583},
        {.2, 30, 200.5, .0046226683676113},
    };
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        const double *g = golden[i];
        /* The last one is printed to 14 digits. */
        assert_close(cost(RELATION_ZERO_OUT, g[0], g[1], g[2]), g[3], 1e-12);
    }
}

static void shared_vectors_are_met_and_never_undercut(void **state)
{
    (void)state;
    char path[1024];
    shared_path(path, "vectors/sampled_gaussian.json");
    json_t *root = json_load_file(path, 0, NULL), *rows = json_object_get(root, "rdp"),
           *row;
    size_t i;
    assert_int_equal(json_array_size(rows), 300);
    json_array_foreach(rows, i, row)
    {
        double rate, noise, order, rdp;
        assert_int_equal(json_unpack(row, "{s:F, s:F, s:F, s:F}", "sampling_rate",
                                     &rate, "noise_multiplier", &noise, "order", &order,
                                     "rdp", &rdp),
                         0);
        assert_just_above(cost(RELATION_ZERO_OUT, rate, noise, order), rdp);
    }
    json_decref(root);
}

static void own_vectors_of_both_relations_are_met_and_never_undercut(void **state)
{
    (void)state;
    FILE *file = fopen("tests/vectors/rdp.csv", "r");
    assert_non_null(file);
    char name[16];
    double rate, noise, order, rdp;
    int rows = 0;
    assert_int_equal(fscanf(file, "relation,rate,noise,order,rdp"), 0);
    while (fscanf(file, " %15[a-z_],%lf,%lf,%lf,%lf", name, &rate, &noise, &order,
                  &rdp) == 5) {
        enum relation relation;
        assert_true(relation_parse(&relation, name));
        assert_just_above(cost(relation, rate, noise, order), rdp);
        rows++;
    }
    assert_true(rows > 160);
    fclose(file);
}

static void a_full_batch_is_the_plain_gaussian(void **state)
{
    (void)state;
    assert_just_above(cost(RELATION_ZERO_OUT, 1, 2.385, 7.25),
                      7.25 / (2 * 2.385 * 2.385));
    /* Replacing a record moves the sum by twice the clip norm. */
    assert_just_above(cost(RELATION_REPLACE_ONE, 1, 2.385, 7.25),
                      2 * 7.25 / (2.385 * 2.385));
}

static void a_rate_near_one_meets_the_full_batch(void **state)
{
    (void)state;
    for (double noise = 0.05; noise < 1e6; noise *= 7.3) {
        for (double order = 1.01; order < 2048; order *= 3.1) {
            for (enum relation r = RELATION_ZERO_OUT; r <= RELATION_REPLACE_ONE; r++) {
                /* Under replacement a record is at distance 2 from its rival, and at
                 * distance 1 from the unsampled part of the mixture, which then limits
                 * the cost. */
                if (r == RELATION_REPLACE_ONE && 1.5 * order / (noise * noise) > 10)
                    continue;
                double full = cost(r, 1, noise, order);
                double near = cost(r, 1 - 0x1p-53, noise, order);
                assert_true(near <= full);
                assert_close(near, full, 1e-9);
            }
        }
    }
}

static void a_vanishing_rate_costs_its_square(void **state)
{
    (void)state;
    /* a/2 q^2 expm1(1/s^2) once the higher terms are gone. */
    for (double rate = 1e-9; rate > 1e-140; rate *= 1e-10)
        assert_close(cost(RELATION_ZERO_OUT, rate, 3, 5.5),
                     5.5 / 2 * rate * rate * expm1(1 / 9.0), 1e-7);
    double least = cost(RELATION_ZERO_OUT, 0x1p-1074, 0.7, 3);
    assert_true(least > 0 && least < 1e-300);
}

static void it_grows_with_order_and_rate_and_falls_with_noise(void **state)
{
    (void)state;
    for (enum relation r = RELATION_ZERO_OUT; r <= RELATION_REPLACE_ONE; r++) {
        for (double order = 1.0001; order < 5e6; order *= 1.37) {
            for (double noise = 0.05; noise < 2e5; noise *= 2.9) {
                for (double rate = 1e-7; rate < 1; rate *= 37) {
                    double here = cost(r, rate, noise, order);
                    assert_true(here > 0 && isfinite(here));
                    assert_true(cost(r, rate, noise, order * 1.01) >= here);
                    assert_true(cost(r, fmin(1, rate * 1.01), noise, order) >= here);
                    assert_true(cost(r, rate, noise * 1.01, order) < here);
                }
            }
        }
    }
}

static void replacing_costs_more_than_removing_and_less_than_both(void **state)
{
    (void)state;
    for (double noise = 0.4; noise < 50; noise *= 1.7) {
        for (double rate = 1e-5; rate < 1; rate *= 5.1) {
            for (double order = 1.3; order < 200; order *= 2.3) {
                double one = cost(RELATION_ZERO_OUT, rate, noise, order);
                double two = cost(RELATION_ZERO_OUT, rate, noise, 2 * order);
                double below = cost(RELATION_ZERO_OUT, rate, noise, 2 * order - 1);
                double replaced = cost(RELATION_REPLACE_ONE, rate, noise, order);
                assert_true(replaced > one);
                /* The weak triangle inequality of accounting.md 1.4. */
                double group = (order - 0.5) / (order - 1) * two + below;
                assert_true(replaced < group);
            }
        }
    }
}

static void infinite_and_enormous_orders_have_an_answer(void **state)
{
    (void)state;
    assert_true(isinf(cost(RELATION_ZERO_OUT, 0.3, 2, INFINITY)));
    double huge = cost(RELATION_ZERO_OUT, 0.3, 2, 1e300);
    assert_true(huge >= 1e300 / 8 && isfinite(huge));
    assert_true(isinf(cost(RELATION_REPLACE_ONE, 0.3, 0.05, 1.7e308)));
}

static void order_1030_is_a_number(void **state)
{
    (void)state;
    double before = cost(RELATION_ZERO_OUT, 0.01, 1, 1029);
    double at = cost(RELATION_ZERO_OUT, 0.01, 1, 1030);
    double after = cost(RELATION_ZERO_OUT, 0.01, 1, 1030.5);
    assert_true(before < at && at < after && after < 1030.5 / 2);
}

static void what_is_known_of_a_step_does_not_change_answers(void **state)
{
    (void)state;
    struct rdp kept = {0};
    struct mechanism_run run = {0.013, 0.9, 1}, other = {0.02, 3.1, 1};
    rdp_set(&kept, RELATION_ZERO_OUT, &run);
    double far = rdp_at(&kept, 60), near = rdp_at(&kept, 3.5);
    rdp_set(&kept, RELATION_ZERO_OUT, &run);
    assert_true(rdp_at(&kept, 3.5) == near);
    rdp_set(&kept, RELATION_REPLACE_ONE, &run);
    assert_true(rdp_at(&kept, 3.5) == cost(RELATION_REPLACE_ONE, 0.013, 0.9, 3.5));
    rdp_set(&kept, RELATION_ZERO_OUT, &other);
    rdp_set(&kept, RELATION_ZERO_OUT, &run);
    assert_true(rdp_at(&kept, 3.5) == near);
    assert_true(rdp_at(&kept, 60) == far);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_values_are_met),
        cmocka_unit_test(shared_vectors_are_met_and_never_undercut),
        cmocka_unit_test(own_vectors_of_both_relations_are_met_and_never_undercut),
        cmocka_unit_test(a_full_batch_is_the_plain_gaussian),
        cmocka_unit_test(a_rate_near_one_meets_the_full_batch),
        cmocka_unit_test(a_vanishing_rate_costs_its_square),
        cmocka_unit_test(it_grows_with_order_and_rate_and_falls_with_noise),
        cmocka_unit_test(replacing_costs_more_than_removing_and_less_than_both),
        cmocka_unit_test(infinite_and_enormous_orders_have_an_answer),
        cmocka_unit_test(order_1030_is_a_number),
        cmocka_unit_test(what_is_known_of_a_step_does_not_change_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
