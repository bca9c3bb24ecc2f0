/* Goal: the difference of a loss's gradients keeps its digits near certainty as
 * elsewhere, for small and for large steps. Method: compare with long double, by pairs
 * of classes in which nothing cancels; targets matter only for huber. */
#include "tests/expect.h"

#include <string.h>

#include "engine/difference/loss_difference.h"

enum { ROWS = 16, STRIDE = 32 };

/* xorshift64*: any fixed sequence will do. */
static double pick(uint64_t *state, double low, double high)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    double unit = (double)((*state * 2685821657736338717U) >> 11) * 0x1p-53;
    return low + (high - low) * unit;
}

struct outputs {
    _Alignas(64) float z[ROWS * STRIDE], dz[ROWS * STRIDE], db[ROWS * STRIDE];
    float values[ROWS];
    double scratch[2 * ROWS];
    struct loss_pairs pairs;
};

/* Outputs within reach, moved by about step. */
static void draw(struct outputs *o, size_t width, double reach, double step,
                 uint64_t *state)
{
    double scale = ldexp(1.0, (int)pick(state, -30.0, 5.0));
    memset(o, 0, sizeof *o);
    for (size_t i = 0; i < ROWS; i++) {
        o->values[i] = (float)pick(state, -1.0, 1.0);
        for (size_t j = 0; j < width; j++) {
            o->z[i * STRIDE + j] = (float)pick(state, -reach, reach);
            o->dz[i * STRIDE + j] = (float)(pick(state, -step, step) / scale);
        }
    }
    for (size_t k = 0; k < ROWS * STRIDE; k++)
        o->db[k] = NAN;
    o->pairs = (struct loss_pairs){.z = {o->z, STRIDE, ROWS},
                                   .dz = {o->dz, STRIDE, ROWS},
                                   .db = {o->db, STRIDE, ROWS},
                                   .width = width,
                                   .values = o->values,
                                   .huber_delta = 0.75,
                                   .scale = scale,
                                   .scratch = o->scratch};
}

/* p_j - p'_j = p'_j sum_k p'_k e^(d_k) (e^(d_j - d_k) - 1) / sum_k p'_k e^(d_k), and the
 * sum of its terms' sizes: what cancels there may cancel anywhere. */
struct exact {
    long double value, size;
};

static struct exact softmax_exact(const struct outputs *o, size_t row, size_t j)
{
    const float *z = o->z + row * STRIDE, *dz = o->dz + row * STRIDE;
    long double before = 0.0L, after = 0.0L, scale = o->pairs.scale;
    struct exact exact = {0};
    for (size_t k = 0; k < o->pairs.width; k++) {
        long double share = expl((long double)z[k] + scale * dz[k]);
        long double rise = share * expm1l(scale * ((long double)dz[j] - dz[k]));
        before += expl(z[k]), after += share;
        exact.value += rise, exact.size += fabsl(rise);
    }
    long double unit = expl(z[j]) / before / after / scale;
    return (struct exact){unit * exact.value, unit * exact.size};
}

static void softmax_keeps_its_digits(void **state)
{
    uint64_t random = 88172645463325252;
    (void)state;
    for (size_t k = 0; k < 3000; k++) {
        struct outputs o;
        size_t width = 1 + (size_t)pick(&random, 0.0, 30.0);
        double step = pow(10.0, pick(&random, -8.0, 1.5));
        draw(&o, width, k % 2 == 0 ? 3.0 : 30.0, step, &random);
        /* after a step of 1 two probabilities of double are subtracted */
        long double room = step > 0.5 ? 1e-15L / (long double)o.pairs.scale : 1e-30L;
        loss_difference(LOSS_SOFTMAX_CROSS_ENTROPY, &o.pairs);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < STRIDE; j++) {
                float db = o.db[i * STRIDE + j];
                if (j >= width) {
                    assert_true(db == 0.0F);
                    continue;
                }
                struct exact exact = softmax_exact(&o, i, j);
                assert_true(fabsl(db - exact.value) <= 1e-5L * exact.size + room);
            }
    }
}

static long double one_exact(enum loss loss, const struct outputs *o, size_t row)
{
    long double z = o->z[row * STRIDE], scale = o->pairs.scale;
    long double step = scale * o->dz[row * STRIDE], over = z - o->values[row];
    if (loss == LOSS_LOGISTIC)
        return sinhl(step / 2.0L) /
               (2.0L * coshl(z / 2.0L) * coshl((z + step) / 2.0L)) / scale;
    if (loss == LOSS_HUBER)
        return (fmaxl(-0.75L, fminl(0.75L, over + step)) -
                fmaxl(-0.75L, fminl(0.75L, over))) /
               scale;
    return step / scale;
}

static void one_output_keeps_its_digits(void **state)
{
    static const enum loss losses[] = {LOSS_LOGISTIC, LOSS_SQUARED, LOSS_HUBER};
    uint64_t random = 88172645463325252;
    (void)state;
    for (size_t k = 0; k < 3000; k++) {
        enum loss loss = losses[k % 3];
        struct outputs o;
        draw(&o, 1, loss == LOSS_LOGISTIC ? 40.0 : 2.0,
             pow(10.0, pick(&random, -8.0, 1.5)), &random);
        loss_difference(loss, &o.pairs);
        for (size_t i = 0; i < ROWS; i++) {
            long double exact = one_exact(loss, &o, i);
            assert_true(fabsl(o.db[i * STRIDE] - exact) <= 1e-6L * fabsl(exact));
            for (size_t j = 1; j < STRIDE; j++)
                assert_true(o.db[i * STRIDE + j] == 0.0F);
        }
    }
}

/* Outputs at which no exponential fits a float or double, and where nothing is
 * known. */
static void far_steps_stay_finite(void **state)
{
    static const float steps[] = {1e3F, -1e3F, 1e30F, NAN, INFINITY};
    (void)state;
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
        for (int width = 1; width <= 3; width += 2) {
            struct outputs o;
            uint64_t random = 88172645463325252;
            draw(&o, (size_t)width, 5.0, 1.0, &random);
            o.pairs.scale = 1.0;
            o.dz[3 * STRIDE] = steps[k];
            loss_difference(width == 1 ? LOSS_LOGISTIC : LOSS_SOFTMAX_CROSS_ENTROPY,
                            &o.pairs);
            for (size_t i = 0; i < ROWS; i++)
                for (size_t j = 0; j < (size_t)width; j++) {
                    bool bad =
                        i == 3 && (isnan(steps[k]) || (isinf(steps[k]) && width > 1));
                    float db = o.db[i * STRIDE + j];
                    assert_int_equal(isfinite(db), !bad);
                    assert_true(bad || fabsf(db) <= 1.0F);
                }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_keeps_its_digits),
        cmocka_unit_test(one_output_keeps_its_digits),
        cmocka_unit_test(far_steps_stay_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
