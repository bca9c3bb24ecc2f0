/* Goal: with the kept error fed back, the bias of clipping moves as DiceSGD's paper
 * says. Method: the toy problems of papers/dicesgd.md with gradients in double and e on
 * a fine grid. Checks 6 and 7 of its section 7. */
#include <stdbool.h>

#include "tests/expect.h"
#include "tests/engine/draw_fixture.h"
#include "tests/engine/dp/error_memory_oracle.h"

/* Toy A (App. B.1): records at -1, -1 and 2, full batch. */
static double toy_a_gradient(double x, int record, double clip)
{
    double at = record < (int)ceil(clip) + 1 ? -1 : ceil(clip) + 1;
    return fmin(fmax(x - at, -ceil(clip) - 1), ceil(clip) + 1);
}

struct run_result {
    double x, error, widest;
    double path[6];
};

static struct run_result toy_a(double clip, double back, double seen)
{
    int records = (int)ceil(seen) + 2;
    struct machine m = {
        .clip = clip, .back = back, .batch = records, .scale = 0x1p40, .dim = 1};
    struct run_result ending = {.x = 1};
    for (int t = 0; t < 4000; t++) {
        machine_begin(&m);
        for (int i = 0; i < records; i++)
            machine_add(&m, (double[]){toy_a_gradient(ending.x, i, seen)});
        machine_end(&m);
        ending.x -= 0.1 * m.v[0];
        ending.widest = fmax(ending.widest, machine_error_norm(&m));
        if (t < 6)
            ending.path[t] = ending.x;
    }
    ending.error = machine_error(&m, 0);
    return ending;
}

static void the_bias_of_clipping_is_gone_on_the_first_toy(void **state)
{
    (void)state;
    static const struct {
        double clip, clipped_only, error, widest;
    } rows[] = {{1, -0.5, -1 / 3.0, 0.6667},
                {0.5, -0.75, -0.5 / 3.0, 1.75},
                {0.1, -0.95, -0.1 / 3.0, 32.75},
                {2.5, -0.375, -0.3, 0.3}};
    for (size_t k = 0; k < 4; k++) {
        double clip = rows[k].clip;
        struct run_result biased = toy_a(clip, 0, clip), dice = toy_a(clip, clip, clip);
        assert_close(biased.x, rows[k].clipped_only, 1e-6);
        assert_true(fabs(dice.x) < 1e-9);
        assert_close(dice.error, rows[k].error, 1e-6);
        assert_close(dice.widest, rows[k].widest, 1e-3);
    }
    static const double biased[6] = {.966666666667, .933333333333, .9,
                                     .866666666667, .833333333333, .8};
    static const double dice[6] = {.966666666667, .866666666667, .77,
                                   .683333333333, .606333333333, .538};
    struct run_result slow = toy_a(1, 0, 1), fast = toy_a(1, 1, 1);
    for (size_t t = 0; t < 6; t++) {
        assert_close(slow.path[t], biased[t], 1e-9);
        assert_close(fast.path[t], dice[t], 1e-9);
    }
}

static void too_small_an_error_clip_leaves_a_bias(void **state)
{
    (void)state;
    static const double rows[][2] = {{0.1, -0.35}, {0.2, -0.2}, {0.3, -0.05}, {1, 0}};
    for (size_t k = 0; k < 4; k++)
        assert_true(fabs(toy_a(1, rows[k][0], 1).x - rows[k][1]) < 1e-6);
    assert_close(toy_a(1, 0.1, 1).widest, 926.8, 1e-3);
}

/* One random record in each step, eta = .01, no noise: the mean of the last 30,000
 * steps. */
static double toy_a_mean(double clip, double back, uint64_t seed)
{
    struct machine m = {
        .clip = clip, .back = back, .batch = 1, .scale = 0x1p40, .dim = 1};
    double x = 1, sum = 0;
    for (int t = 0; t < 40000; t++) {
        machine_begin(&m);
        double g = toy_a_gradient(x, (int)(3 * draw_uniform(&seed)), 1);
        machine_add(&m, &g);
        machine_end(&m);
        x -= 0.01 * m.v[0];
        sum += t >= 10000 ? x : 0;
    }
    return sum / 30000;
}

static void the_bias_is_gone_with_one_record_a_step(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        assert_true(fabs(toy_a_mean(1, 1, seed)) < 0.08);
        assert_true(fabs(toy_a_mean(0.1, 0.1, seed)) < 0.08);
        assert_true(toy_a_mean(1, 0, seed) < -0.42);
        assert_true(toy_a_mean(0.1, 0, seed) < -0.9);
    }
}

/* Toy B: eight points at 0, two at (10, 5); x* = (2, 1). */
static struct run_result toy_b(double clip, double back, int steps)
{
    struct machine m = {
        .clip = clip, .back = back, .batch = 10, .scale = 0x1p32, .dim = 2};
    struct run_result ending = {0};
    double x[2] = {0, 0};
    for (int t = 0; t < steps; t++) {
        machine_begin(&m);
        for (int i = 0; i < 10; i++)
            machine_add(&m, i < 8 ? x : (double[]){x[0] - 10, x[1] - 5});
        machine_end(&m);
        x[0] -= 0.05 * m.v[0];
        x[1] -= 0.05 * m.v[1];
        ending.widest = fmax(ending.widest, machine_error_norm(&m));
    }
    ending.error = norm_of((double[]){x[0] - 2, x[1] - 1}, 2);
    return ending;
}

static void the_second_toy_winds_up_and_comes_home(void **state)
{
    (void)state;
    assert_close(toy_b(0.1, 0, 20000).error, 2.211068, 1e-4);
    assert_true(toy_b(0.1, 0.1, 2000).error > 1);
    struct run_result home = toy_b(0.1, 0.1, 20000);
    assert_true(home.error < 1e-9);
    assert_true(fabs(home.widest - 1158) <= 1);
    assert_true(toy_b(1, 3, 2000).error < 1e-9);
    assert_close(toy_b(0.1, 0.05, 20000).error, 2.14856797749979, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bias_of_clipping_is_gone_on_the_first_toy),
        cmocka_unit_test(too_small_an_error_clip_leaves_a_bias),
        cmocka_unit_test(the_bias_is_gone_with_one_record_a_step),
        cmocka_unit_test(the_second_toy_winds_up_and_comes_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
