/* Goal: a bound of a spectral norm is never below it, and close to it where promised.
 * Method: the norm by one-sided Jacobi rotations in long double, on a thousand matrices
 * of all kinds that make a trace or a power fail (papers/valueclip.md, A12). */
#include "engine/nn/spectral.h"

#include <float.h>

#include "tests/expect.h"
#include "tests/engine/draw_fixture.h"

enum { SIDE_MAX = 24, RANDOM = 1000 };

static double draw(uint64_t *seed) /* in [-1, 1) */
{
    return 2 * draw_uniform(seed) - 1;
}

struct columns { /* of a matrix; Jacobi rotates them until they are orthogonal */
    long double at[SIDE_MAX][SIDE_MAX];
};

static long double inner(const struct columns *c, size_t p, size_t q, size_t rows)
{
    long double sum = 0;
    for (size_t i = 0; i < rows; i++)
        sum += c->at[p][i] * c->at[q][i];
    return sum;
}

static void rotate(struct columns *c, size_t p, size_t q, size_t rows)
{
    long double a = inner(c, p, p, rows), b = inner(c, q, q, rows);
    long double g = inner(c, p, q, rows);
    if (g == 0)
        return;
    long double zeta = (b - a) / (2 * g);
    long double t = (zeta < 0 ? -1 : 1) / (fabsl(zeta) + sqrtl(1 + zeta * zeta));
    long double cosine = 1 / sqrtl(1 + t * t), sine = cosine * t;
    for (size_t i = 0; i < rows; i++) {
        long double x = c->at[p][i], y = c->at[q][i];
        c->at[p][i] = cosine * x - sine * y;
        c->at[q][i] = sine * x + cosine * y;
    }
}

static double true_norm(const float *w, struct weight_shape shape)
{
    static struct columns c;
    long double most = 0;
    for (size_t i = 0; i < shape.rows; i++)
        for (size_t j = 0; j < shape.columns; j++)
            c.at[j][i] = w[i * shape.columns + j];
    for (int sweep = 0; sweep < 30; sweep++)
        for (size_t p = 0; p + 1 < shape.columns; p++)
            for (size_t q = p + 1; q < shape.columns; q++)
                rotate(&c, p, q, shape.rows);
    for (size_t j = 0; j < shape.columns; j++) {
        long double square = inner(&c, j, j, shape.rows);
        most = square > most ? square : most;
    }
    return (double)sqrtl(most);
}

/* Kinds: uniform, non-negative, of rank one, with equal greatest singular values, of
 * tiny and of huge entries. */
static void fill(float *w, struct weight_shape shape, int kind, uint64_t *seed)
{
    static const double scales[] = {1, 1, 1, 1, 1e-18, 1e17};
    float u[SIDE_MAX], v[SIDE_MAX];
    for (size_t i = 0; i < SIDE_MAX; i++) {
        u[i] = (float)draw(seed);
        v[i] = (float)draw(seed);
    }
    for (size_t i = 0; i < shape.rows; i++)
        for (size_t j = 0; j < shape.columns; j++) {
            double x = scales[kind] * draw(seed);
            x = kind == 1 ? fabs(x) : x;
            x = kind == 2 ? (double)(u[i] * v[j]) : x;
            x = kind == 3 ? (i == j ? 1.25 : 0) : x;
            w[i * shape.columns + j] = (float)x;
        }
}

static void a_bound_is_above_the_norm_and_close(void **state)
{
    (void)state;
    struct spectral *spectral;
    float w[SIDE_MAX * SIDE_MAX];
    uint64_t seed = 1;
    assert_int_equal(spectral_create(&spectral, SIDE_MAX, NULL), ST_OK);
    for (int k = 0; k < RANDOM; k++) {
        struct weight_shape shape = {1 + (size_t)(SIDE_MAX * fabs(draw(&seed))),
                                     1 + (size_t)(SIDE_MAX * fabs(draw(&seed)))};
        fill(w, shape, k % 6, &seed);
        double norm = true_norm(w, shape);
        double bound = spectral_bound(spectral, w, shape);
        assert_true(bound >= norm);
        assert_true(bound <= 1.03 * norm);
    }
    spectral_destroy(spectral);
}

static void beyond_its_side_the_bound_is_loose_and_holds(void **state)
{
    (void)state;
    struct spectral *spectral;
    float w[SIDE_MAX * SIDE_MAX];
    uint64_t seed = 2;
    assert_int_equal(spectral_create(&spectral, 2, NULL), ST_OK);
    for (int k = 0; k < RANDOM; k++) {
        struct weight_shape shape = {3 + (size_t)(20 * fabs(draw(&seed))),
                                     3 + (size_t)(20 * fabs(draw(&seed)))};
        fill(w, shape, k % 6, &seed);
        assert_true(spectral_bound(spectral, w, shape) >= true_norm(w, shape));
    }
    spectral_destroy(spectral);
}

static void zeros_have_norm_zero_and_infinities_none(void **state)
{
    (void)state;
    struct spectral *spectral;
    float w[6] = {0};
    assert_int_equal(spectral_create(&spectral, 3, NULL), ST_OK);
    assert_true(spectral_bound(spectral, w, (struct weight_shape){2, 3}) == 0);
    const float broken[] = {INFINITY, -INFINITY, NAN};
    for (size_t k = 0; k < 3; k++) {
        w[4] = broken[k];
        double bound = spectral_bound(spectral, w, (struct weight_shape){2, 3});
        assert_true(bound > DBL_MAX);
    }
    spectral_destroy(spectral);
    spectral_destroy(NULL);
}

/* 128 x 784: more than one panel, the published shape; the norm of a random matrix is
 * near (sqrt(128) + sqrt(784)) / sqrt(3) / 28 = .8130, power iteration gives .8153. */
static void a_wide_layer_takes_several_panels(void **state)
{
    (void)state;
    static float w[128 * 784];
    struct spectral *spectral;
    uint64_t seed = 3;
    assert_int_equal(spectral_create(&spectral, 128, NULL), ST_OK);
    for (size_t i = 0; i < 128 * 784; i++)
        w[i] = (float)(draw(&seed) / 28);
    double wide = spectral_bound(spectral, w, (struct weight_shape){128, 784});
    assert_true(wide > 0.79 && wide < 0.85);
    /* The transpose has the same norm. */
    static float t[128 * 784];
    for (size_t i = 0; i < 128; i++)
        for (size_t j = 0; j < 784; j++)
            t[j * 128 + i] = w[i * 784 + j];
    assert_close(spectral_bound(spectral, t, (struct weight_shape){784, 128}), wide,
                 1e-12);
    spectral_destroy(spectral);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bound_is_above_the_norm_and_close),
        cmocka_unit_test(beyond_its_side_the_bound_is_loose_and_holds),
        cmocka_unit_test(zeros_have_norm_zero_and_infinities_none),
        cmocka_unit_test(a_wide_layer_takes_several_panels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
