/* Goal: losses and their gradients are precise and never overflow. Method: the same
 * values in long double by other formulas, over outputs of every size; sums of
 * gradients. */
#include "tests/expect.h"

#include <string.h>

#include "engine/nn/losses.h"

enum { ROWS = 32, STRIDE = 32 };
#define HUBER_DELTA 0.6

struct fixture {
    _Alignas(64) float z[ROWS * STRIDE];
    _Alignas(64) float b[ROWS * STRIDE];
    uint32_t classes[ROWS];
    float values[ROWS];
    double losses[ROWS], scratch[ROWS];
};

static void evaluate(struct fixture *f, enum loss loss, size_t width)
{
    struct loss_batch batch = {.z = {f->z, STRIDE, ROWS},
                               .b = {f->b, STRIDE, ROWS},
                               .width = width,
                               .classes = f->classes,
                               .values = f->values,
                               .huber_delta = HUBER_DELTA,
                               .losses = f->losses,
                               .scratch = f->scratch};
    memset(f->b, 0xff, sizeof f->b); /* NaN: whole rows must be written */
    losses_evaluate(loss, &batch);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = width; j < STRIDE; j++)
            assert_true(f->b[i * STRIDE + j] == 0.0F);
}

static void fill(struct fixture *f, size_t width, double scale)
{
    memset(f, 0, sizeof *f);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < width; j++)
            f->z[i * STRIDE + j] = (float)(scale * sin(1.7 * (double)(i * 37 + j)));
        f->classes[i] = (uint32_t)(i % width);
        f->values[i] = (float)cos((double)i);
    }
}

static const double scales[] = {0.0, 1e-3, 0.385, 3.0, 40.0, 300.0, 1e6, 1e30};
enum { SCALES = sizeof scales / sizeof *scales };

/* A float exponent of size s has an error of s 2^-24, and its exponential has a
 * relative error of the same size; beyond 104 it underflows. The bound adds a few units
 * for the exponential and the sum. */
static void assert_like(double actual, long double expected, double scale)
{
    long double tolerance =
        0x1p-21L + 0x1p-24L * fminl(2.0L * (long double)scale, 104.0L);
    if (fabsl((long double)actual - expected) > tolerance * fabsl(expected) + 1e-36L)
        fail_msg("%.9g, expected %.9Lg", actual, expected);
}

static void softmax_keeps_its_digits_at_every_size(void **state)
{
    static const size_t widths[] = {2, 3, 10, 16, 17, 32};
    (void)state;
    for (size_t s = 0; s < SCALES; s++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            struct fixture f;
            size_t width = widths[w];
            fill(&f, width, scales[s]);
            evaluate(&f, LOSS_SOFTMAX_CROSS_ENTROPY, width);
            for (size_t i = 0; i < ROWS; i++) {
                const float *z = f.z + i * STRIDE;
                uint32_t y = f.classes[i];
                long double others = 0.0L; /* relative to z_y */
                for (size_t j = 0; j < width; j++)
                    if (j != y)
                        others += expl((long double)z[j] - (long double)z[y]);
                assert_like(f.losses[i],
                            log1pl(others) < 1e4000L ? log1pl(others)
                                                     : (long double)INFINITY,
                            scales[s]);
                for (size_t j = 0; j < width; j++) {
                    long double share = 0.0L; /* relative to z_j */
                    for (size_t k = 0; k < width; k++)
                        share += expl((long double)z[k] - (long double)z[j]);
                    long double expected =
                        j == y ? -others / (1.0L + others) : 1.0L / share;
                    if (j == y && isinf(others))
                        expected = -1.0L;
                    assert_like((double)f.b[i * STRIDE + j], expected, scales[s]);
                }
            }
        }
}

static void logistic_keeps_its_digits_at_every_size(void **state)
{
    (void)state;
    for (size_t s = 0; s < SCALES; s++) {
        struct fixture f;
        fill(&f, 1, scales[s]);
        for (size_t i = 0; i < ROWS; i++)
            f.classes[i] = i % 2;
        evaluate(&f, LOSS_LOGISTIC, 1);
        for (size_t i = 0; i < ROWS; i++) {
            long double z = (long double)f.z[i * STRIDE];
            long double wrong =
                f.classes[i] == 1 ? -z : z; /* log odds of the other class */
            long double loss = wrong > 11000.0L ? wrong : log1pl(expl(wrong));
            long double size = 1.0L / (1.0L + expl(-wrong));
            assert_like(f.losses[i], loss, scales[s]);
            assert_like((double)f.b[i * STRIDE], f.classes[i] == 1 ? -size : size,
                        scales[s]);
        }
    }
}

static void squared_is_half_the_square(void **state)
{
    (void)state;
    for (size_t s = 0; s < SCALES; s++) {
        struct fixture f;
        fill(&f, 1, scales[s]);
        evaluate(&f, LOSS_SQUARED, 1);
        for (size_t i = 0; i < ROWS; i++) {
            long double over = (long double)f.z[i * STRIDE] - (long double)f.values[i];
            assert_like(f.losses[i], over * over / 2.0L, scales[s]);
            assert_like((double)f.b[i * STRIDE], over, scales[s]);
        }
    }
}

/* network.md 4.4: the gradient at the true class is minus the sum of the others, also
 * if its probability is near 1. */
static void huber_is_squared_inside_and_straight_outside(void **state)
{
    size_t straight = 0;
    (void)state;
    for (size_t s = 0; s < SCALES; s++) {
        struct fixture f;
        fill(&f, 1, scales[s]);
        evaluate(&f, LOSS_HUBER, 1);
        for (size_t i = 0; i < ROWS; i++) {
            long double over = (long double)f.z[i * STRIDE] - (long double)f.values[i];
            long double size = fabsl(over), cut = fminl(size, HUBER_DELTA);
            straight += size > HUBER_DELTA;
            /* The area under min(|r|, delta). */
            assert_like(f.losses[i], cut * cut / 2.0L + (size - cut) * cut, scales[s]);
            assert_like((double)f.b[i * STRIDE], over < 0 ? -cut : cut, scales[s]);
        }
    }
    assert_true(straight > 64 && straight < SCALES * ROWS - 16);
}

static void softmax_gradients_sum_to_zero(void **state)
{
    struct fixture f;
    (void)state;
    fill(&f, 10, 1.0);
    for (size_t i = 0; i < ROWS; i++)
        f.z[i * STRIDE + f.classes[i]] = (float)i;
    evaluate(&f, LOSS_SOFTMAX_CROSS_ENTROPY, 10);
    for (size_t i = 0; i < ROWS; i++) {
        double sum = 0.0, size = 0.0;
        for (size_t j = 0; j < 10; j++) {
            sum += (double)f.b[i * STRIDE + j];
            size += fabs((double)f.b[i * STRIDE + j]);
        }
        assert_true(size > 0.0 && fabs(sum) <= 4e-7 * size);
    }
}

static void outputs_that_are_not_finite_show(void **state)
{
    static const float bad[] = {NAN, INFINITY};
    (void)state;
    for (int loss = 0; loss < 4; loss++)
        for (size_t k = 0; k < 4; k++) {
            struct fixture f;
            size_t width = loss == LOSS_SOFTMAX_CROSS_ENTROPY ? 10 : 1;
            fill(&f, width, 1.0);
            for (size_t i = 0; i < ROWS; i++)
                f.classes[i] = width > 1 || loss == LOSS_LOGISTIC ? i % 2 : 0;
            size_t row = k / 2; /* row 0 has class 0, row 1 class 1 */
            f.z[row * STRIDE] = bad[k % 2];
            evaluate(&f, (enum loss)loss, width);
            bool seen = !isfinite(f.losses[row]);
            for (size_t j = 0; j < width; j++)
                seen = seen || !isfinite(f.b[row * STRIDE + j]);
            /* Only an infinite output for the right class gives a valid loss. */
            bool right = loss == LOSS_LOGISTIC && k == 3;
            assert_true(seen || right);
            assert_true(isfinite(f.losses[2]) && isfinite(f.b[2 * STRIDE]));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_keeps_its_digits_at_every_size),
        cmocka_unit_test(logistic_keeps_its_digits_at_every_size),
        cmocka_unit_test(squared_is_half_the_square),
        cmocka_unit_test(huber_is_squared_inside_and_straight_outside),
        cmocka_unit_test(softmax_gradients_sum_to_zero),
        cmocka_unit_test(outputs_that_are_not_finite_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
