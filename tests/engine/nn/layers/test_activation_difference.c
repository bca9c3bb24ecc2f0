/* Goal: the difference of a layer's output is precise, however small or large the
 * difference of its input is, and a NaN stays visible. Method: long double, by
 * identities without cancellation, at random points, steps and scales; then the corners
 * one by one. */
#include "tests/expect.h"

#include "engine/nn/layers/activation.h"
#include "engine/nn/layers/registry.h"

enum { COUNT = 16 };

static const struct layer_kind *const kinds[] = {&layer_relu,    &layer_tanh,
                                                 &layer_sigmoid, &layer_softplus,
                                                 &layer_gelu,    &layer_gelu_tanh};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* xorshift64*; any fixed sequence would be fine. */
static double pick(uint64_t *state, double low, double high)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    double unit = (double)((*state * 2685821657736338717U) >> 11) * 0x1p-53;
    return low + (high - low) * unit;
}

static long double value(const struct layer_kind *kind, long double z, bool slope)
{
    long double sigmoid = 1.0L / (1.0L + expl(-z)), root = sqrtl(2.0L / acosl(-1.0L));
    long double t = tanhl(root * (z + 0.044715L * z * z * z));
    long double below = 0.5L * erfcl(-z / sqrtl(2.0L));
    if (kind == &layer_relu)
        return slope ? z > 0.0L : fmaxl(z, 0.0L);
    if (kind == &layer_tanh)
        return slope ? 1.0L / (coshl(z) * coshl(z)) : tanhl(z);
    if (kind == &layer_sigmoid)
        return slope ? sigmoid * (1.0L - sigmoid) : sigmoid;
    if (kind == &layer_softplus)
        return slope ? sigmoid : log1pl(expl(z));
    if (kind == &layer_gelu)
        return slope ? below + z * 0.5L * root * expl(-0.5L * z * z) : z * below;
    return slope ? 0.5L * (1.0L + t) +
                       0.5L * z * (1.0L - t * t) * root * (1.0L + 0.134145L * z * z)
                 : 0.5L * z * (1.0L + t);
}

/* f(z + d) - f(z) */
static long double exact(const struct layer_kind *kind, long double z, long double d)
{
    if (kind == &layer_tanh)
        return sinhl(d) / (coshl(z) * coshl(z + d));
    if (kind == &layer_sigmoid)
        return sinhl(d / 2.0L) / (2.0L * coshl(z / 2.0L) * coshl((z + d) / 2.0L));
    if (kind == &layer_softplus && fabsl(d) < 1.0L)
        return log1pl(expm1l(d) / (1.0L + expl(-z)));
    return value(kind, z + d, false) - value(kind, z, false);
}

struct case_of {
    float z[COUNT], dz[COUNT], dy[COUNT], scale;
};

/* Points within reach, steps of 1e-8 to 10, scales of 2^-30 to 2^10. */
static void draw(struct case_of *c, uint64_t *state, double reach)
{
    c->scale = (float)ldexp(1.0, (int)pick(state, -30.0, 10.0));
    for (size_t i = 0; i < COUNT; i++) {
        double step = pow(10.0, pick(state, -8.0, 1.0));
        c->z[i] = (float)pick(state, -reach, reach);
        c->dz[i] = (float)((i % 2 == 0 ? step : -step) / (double)c->scale);
    }
}

static void forward_keeps_its_digits(void **state)
{
    uint64_t random = 88172645463325252;
    (void)state;
    for (size_t k = 0; k < KINDS * 2000; k++) {
        const struct layer_kind *kind = kinds[k % KINDS];
        bool smooth = kind == &layer_gelu || kind == &layer_gelu_tanh;
        struct case_of c;
        draw(&c, &random, smooth ? 4.0 : 20.0);
        struct float_pair z = {c.z, c.dz};
        activation_of(kind)->rule.forward(c.dy, &z, c.scale, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            long double step = (long double)(c.scale * c.dz[i]);
            long double right = exact(kind, c.z[i], step);
            /* gelu is flat at -0.75 and below -3: its precision is that of 1 + t */
            long double unit = fabsl(right) + (smooth ? 0.2L * fabsl(step) : 0.0L);
            long double error = fabsl((long double)c.dy[i] * c.scale - right);
            assert_true(error <= 1e-5L * unit + 1e-36L);
        }
    }
}

/* y comes from the layer itself, and the difference from its forward rule. */
static void backward_keeps_its_digits(void **state)
{
    uint64_t random = 88172645463325252;
    (void)state;
    for (size_t k = 0; k < KINDS * 2000; k++) {
        const struct layer_kind *kind = kinds[k % KINDS];
        struct case_of c;
        float b[COUNT], db[COUNT], y[COUNT], below[COUNT];
        draw(&c, &random, 3.0);
        struct float_pair z = {c.z, c.dz};
        activation_of(kind)->rule.forward(c.dy, &z, c.scale, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            y[i] = (float)value(kind, c.z[i], false);
            b[i] = (float)pick(&random, -1.0, 1.0);
            db[i] = (float)pick(&random, -1.0, 1.0);
        }
        bool reads_z = kind == &layer_gelu || kind == &layer_gelu_tanh;
        struct activation_pairs pairs = {{b, db},
                                         reads_z ? z : (struct float_pair){y, c.dy}};
        activation_of(kind)->rule.backward(below, &pairs, c.scale, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            long double at = c.z[i], new = at + (long double)(c.scale * c.dz[i]);
            if (fabsl(new) > 4.0L) /* saturated: 1 - y has lost its digits */
                continue;
            long double slope = value(kind, new, true);
            long double rise = (slope - value(kind, at, true)) / c.scale;
            long double right = db[i] * slope + b[i] * rise;
            long double unit =
                fabsl(db[i]) + fabsl(c.dz[i] * b[i]) / (1.0L + fabsl(new - at));
            assert_true(fabsl(below[i] - right) <= 1e-5L * unit);
        }
    }
}

static float one_forward(const struct layer_kind *kind, float z, float dz)
{
    struct case_of c = {.scale = 0.5F};
    struct float_pair pair = {c.z, c.dz};
    for (size_t i = 0; i < COUNT; i++)
        c.z[i] = z, c.dz[i] = dz;
    activation_of(kind)->rule.forward(c.dy, &pair, c.scale, COUNT);
    for (size_t i = 1; i < COUNT; i++)
        assert_memory_equal(&c.dy[0], &c.dy[i], sizeof *c.dy);
    return c.dy[0];
}

static void corners_are_exact(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        assert_true(one_forward(kinds[k], 0.0F, 0.0F) == 0.0F);
        assert_true(one_forward(kinds[k], 1.5F, 0.0F) == 0.0F);
        assert_true(isnan(one_forward(kinds[k], NAN, 1.0F)));
        assert_true(isnan(one_forward(kinds[k], 1.0F, NAN)));
        assert_true(isnan(one_forward(kinds[k], -1.0F, NAN)));
    }
    /* a difference of 200, up and down, over a scale of one half */
    assert_true(one_forward(&layer_tanh, -100.0F, 400.0F) == 4.0F);
    assert_true(one_forward(&layer_tanh, 100.0F, -400.0F) == -4.0F);
    assert_true(one_forward(&layer_sigmoid, -100.0F, 400.0F) == 2.0F);
    assert_true(one_forward(&layer_sigmoid, 100.0F, -400.0F) == -2.0F);
    for (int sign = -1; sign <= 1; sign += 2) {
        float far = (float)sign;
        assert_close((double)one_forward(&layer_softplus, -100.0F * far, 400.0F * far),
                     200.0 * sign, 1e-6);
        assert_close((double)one_forward(&layer_gelu, -100.0F * far, 400.0F * far),
                     200.0 * sign, 1e-6);
        assert_close((double)one_forward(&layer_gelu_tanh, -100.0F * far, 400.0F * far),
                     200.0 * sign, 1e-6);
        assert_true(one_forward(&layer_relu, -100.0F * far, 400.0F * far) ==
                    200.0F * far);
    }
    assert_true(one_forward(&layer_relu, -3.0F, 6.0F) == 0.0F); /* to the kink */
}

static void a_bad_gradient_is_seen(void **state)
{
    const float bad[] = {NAN, INFINITY};
    (void)state;
    for (size_t k = 0; k < KINDS * 4; k++) {
        float z[COUNT], zero[COUNT] = {0}, b[COUNT], db[COUNT], below[COUNT];
        for (size_t i = 0; i < COUNT; i++) {
            z[i] = 0.75F;
            b[i] = k / KINDS < 2 ? bad[k / KINDS % 2] : 1.0F;
            db[i] = k / KINDS < 2 ? 1.0F : bad[k / KINDS % 2];
        }
        const struct layer_kind *kind = kinds[k % KINDS];
        /* a step of zero, for which the rule of relu does not use b' */
        struct activation_pairs pairs = {{b, db}, {z, zero}};
        activation_of(kind)->rule.backward(below, &pairs, 1.0F, COUNT);
        bool is_seen = k / KINDS >= 2 || kind != &layer_relu;
        assert_int_equal(!isfinite(below[0]), is_seen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_keeps_its_digits),
        cmocka_unit_test(backward_keeps_its_digits),
        cmocka_unit_test(corners_are_exact),
        cmocka_unit_test(a_bad_gradient_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
