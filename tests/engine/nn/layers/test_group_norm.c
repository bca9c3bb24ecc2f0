/* Goal: a group norm is precise on values far from zero, stays finite on constant
 * values, and gives the same result in every row. Method: the formulas in double, one
 * number at a time; records made to cancel. test_gradients.c checks its gradients. */
#include "tests/expect.h"

#include <string.h>

#include "engine/nn/layers/group_norm.h"

enum { ROWS = 5, POSITIONS = 12, CHANNELS = 10, WIDTH = POSITIONS * CHANNELS };
enum { STRIDE = (WIDTH + 15) / 16 * 16, GROUPS_MAX = CHANNELS };

static const struct group_norm norms[] = {{POSITIONS, CHANNELS, 1, 1e-5},
                                          {POSITIONS, CHANNELS, 2, 1e-5},
                                          {POSITIONS, CHANNELS, 5, 1e-3},
                                          {POSITIONS, CHANNELS, 10, 1e-12},
                                          {1, WIDTH, 10, 1e-5}};
enum { NORMS = sizeof norms / sizeof *norms };

struct fixture {
    _Alignas(64) float x[ROWS * STRIDE], xh[ROWS * STRIDE], dx[ROWS * STRIDE];
    _Alignas(64) float inverse[ROWS * 16], scratch[6 * 128];
    struct group_norm_pass pass;
};

static struct rows rows_of(float *data, size_t stride)
{
    return (struct rows){.data = data, .stride = stride, .count = ROWS};
}

static void fill(struct fixture *f, double middle, double size)
{
    memset(f, 0, sizeof *f);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < WIDTH; j++)
            f->x[i * STRIDE + j] =
                (float)(middle + size * sin(1.3 * (double)(i * i + j * j)));
}

static void run(struct fixture *f, const struct group_norm *norm)
{
    assert_true(group_norm_scratch(norm) <= 6 * 128);
    f->pass = (struct group_norm_pass){.xh = rows_of(f->xh, STRIDE),
                                       .inverse = rows_of(f->inverse, 16)};
    group_norm_forward(norm, f->pass.xh, rows_of(f->x, STRIDE), f->pass.inverse,
                       f->scratch);
}

/* The largest error of record i's normalised values. */
static double error_of(const struct fixture *f, const struct group_norm *norm, size_t i)
{
    size_t width = norm->channels / norm->groups;
    double worst = 0;
    for (size_t g = 0; g < norm->groups; g++) {
        double mean = 0, variance = 0, m = (double)(norm->positions * width);
        for (int pass = 0; pass < 3; pass++)
            for (size_t t = 0; t < norm->positions; t++)
                for (size_t c = g * width; c < (g + 1) * width; c++) {
                    size_t at = i * STRIDE + t * norm->channels + c;
                    double off = (double)f->x[at] - mean;
                    if (pass == 0)
                        mean += (double)f->x[at] / m;
                    else if (pass == 1)
                        variance += off * off / m;
                    else
                        worst = fmax(worst, fabs((double)f->xh[at] -
                                                 off / sqrt(variance + norm->epsilon)));
                }
    }
    return worst;
}

static void values_far_from_zero_keep_their_digits(void **state)
{
    static const double middles[] = {0, 1, 1000, -30000};
    (void)state;
    for (size_t n = 0; n < NORMS; n++)
        for (size_t k = 0; k < 4; k++) {
            struct fixture f;
            fill(&f, middles[k], 2.385);
            run(&f, &norms[n]);
            /* The error of x - mu if the mean is rounded to a float. */
            double unit = 0x1p-22 + 0x1p-24 * fabs(middles[k]);
            for (size_t i = 0; i < ROWS; i++)
                assert_true(error_of(&f, &norms[n], i) <= 4 * unit);
        }
}

static void a_constant_record_becomes_zeros(void **state)
{
    (void)state;
    for (size_t n = 0; n < NORMS; n++) {
        struct fixture f;
        fill(&f, 0.125, 0);
        run(&f, &norms[n]);
        group_norm_backward(&norms[n], rows_of(f.dx, STRIDE), rows_of(f.x, STRIDE),
                            &f.pass, f.scratch);
        for (size_t j = 0; j < ROWS * STRIDE; j++)
            assert_true(f.xh[j] == 0.0F && f.dx[j] == 0.0F);
    }
}

static void padding_stays_zero_and_in_place_is_the_same(void **state)
{
    (void)state;
    for (size_t n = 0; n < NORMS; n++) {
        struct fixture f, other;
        fill(&f, 0.3, 1);
        run(&f, &norms[n]);
        fill(&other, 0.3, 1);
        group_norm_forward(&norms[n], rows_of(other.x, STRIDE),
                           rows_of(other.x, STRIDE), rows_of(other.inverse, 16),
                           other.scratch);
        assert_memory_equal(f.xh, other.x, sizeof f.xh);
        assert_memory_equal(f.inverse, other.inverse, sizeof f.inverse);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = WIDTH; j < STRIDE; j++)
                assert_true(f.xh[i * STRIDE + j] == 0.0F);
    }
}

static void every_row_gives_the_same_bits(void **state)
{
    (void)state;
    for (size_t n = 0; n < NORMS; n++) {
        struct fixture f;
        fill(&f, 0.3, 1);
        for (size_t i = 1; i < ROWS; i++)
            memcpy(f.x + i * STRIDE, f.x, WIDTH * sizeof *f.x);
        run(&f, &norms[n]);
        group_norm_backward(&norms[n], rows_of(f.dx, STRIDE), rows_of(f.x, STRIDE),
                            &f.pass, f.scratch);
        for (size_t i = 1; i < ROWS; i++) {
            assert_memory_equal(f.xh + i * STRIDE, f.xh, STRIDE * sizeof *f.xh);
            assert_memory_equal(f.dx + i * STRIDE, f.dx, STRIDE * sizeof *f.dx);
        }
    }
}

static void a_nan_stays_with_its_record(void **state)
{
    struct fixture f;
    (void)state;
    fill(&f, 0.3, 1);
    f.x[2 * STRIDE + 7] = NAN;
    run(&f, &norms[1]);
    assert_true(isnan(f.xh[2 * STRIDE + 5]));
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; i != 2 && j < STRIDE; j++)
            assert_true(isfinite(f.xh[i * STRIDE + j]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_far_from_zero_keep_their_digits),
        cmocka_unit_test(a_constant_record_becomes_zeros),
        cmocka_unit_test(padding_stays_zero_and_in_place_is_the_same),
        cmocka_unit_test(every_row_gives_the_same_bits),
        cmocka_unit_test(a_nan_stays_with_its_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
