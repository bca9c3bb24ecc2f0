/* Goal: the kept error is DiceSGD's e and its feedback a projection, on integers.
 * Method: the specification's traces with gradients in double and e on a fine grid;
 * random pairs of runs against the bound of M2. Checks of papers/dicesgd.md 7: 1, 2
 * (A1, A2, A3 with epsilon outside the root; epsilon inside the root and A4 are not
 * offered), 3, 4, 10 and 14. */
#include "engine/dp/error_memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/dp/optimizer.h"
#include "tests/expect.h"
#include "tests/engine/draw_fixture.h"
#include "tests/engine/dp/error_memory_oracle.h"

static void clipping_is_a_projection(void **state)
{
    (void)state;
    int64_t error_memory[2] = {-3145728, -4194304}, sum[2] = {0};
    struct error_memory_squares squares = {0};
    error_memory_measure(&squares, error_memory, 2);
    assert_true(error_memory_share(&squares, 5 << 20) == 1);
    assert_true(error_memory_share(&squares, 1 << 20) == 0.2);
    assert_true(error_memory_share(&squares, 0) == 0);
    error_memory_feedback(sum, error_memory, 2, 0.2);
    assert_int_equal(sum[0], -629146); /* -.6 and -.8 of 2^20 */
    assert_int_equal(sum[1], -838861);
    assert_int_equal(error_memory[0], -3145728 + 629146);
    struct error_memory_squares none = {0};
    assert_true(error_memory_share(&none, 0) == 1);
}

/* Sums of whole batches may use all 64 bits: nothing overflows. */
static void any_error_memory_is_finite_and_within_the_radius(void **state)
{
    (void)state;
    int64_t error_memory[] = {INT64_MAX, INT64_MIN, 5, -ERROR_MEMORY_BOX - 1},
            sum[4] = {0};
    struct error_memory_squares squares = {0};
    error_memory_measure(&squares, error_memory, 4);
    assert_true(error_memory[0] == ERROR_MEMORY_BOX &&
                error_memory[1] == -ERROR_MEMORY_BOX);
    double share = error_memory_share(&squares, 1e9);
    error_memory_feedback(sum, error_memory, 4, share);
    double squared = 0;
    for (size_t j = 0; j < 4; j++)
        squared += (double)sum[j] * (double)sum[j];
    assert_true(sqrt(squared) <= 1e9 + error_memory_rounding(4, 1e9));
    assert_true(squared > 0.99e18);
}

static void squares_are_added_exactly_in_any_order(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    static int64_t error_memory[COUNT];
    struct error_memory_squares whole = {0}, parts = {0};
    for (size_t j = 0; j < COUNT; j++)
        error_memory[j] =
            j % 3 == 0 ? ERROR_MEMORY_BOX : (int64_t)(j * j * 7919) - 30000000;
    error_memory_measure(&whole, error_memory, COUNT);
    for (size_t first = COUNT; first > 0; first -= 500) {
        struct error_memory_squares part = {0};
        error_memory_measure(&part, error_memory + first - 500, 500);
        error_memory_squares_add(&parts, &part);
    }
    assert_memory_equal(&whole, &parts, sizeof whole);
    long double exact = 0;
    for (size_t j = 0; j < COUNT; j++)
        exact += (long double)error_memory[j] * (long double)error_memory[j];
    assert_close(1 / error_memory_share(&whole, 1), (double)sqrtl(exact), 1e-14);
}

/* Compares with one 128-bit square after another; a whole run at the box has the
 * largest sums. */
static void squares_are_those_of_long_multiplication(void **state)
{
    (void)state;
    __extension__ typedef unsigned __int128 wide;
    enum { COUNT = 5000 };
    static int64_t error_memory[COUNT];
    for (size_t j = 0; j < COUNT; j++)
        error_memory[j] = j < 2500 ? ERROR_MEMORY_BOX
                                   : ERROR_MEMORY_BOX - (int64_t)(j * j * j * 9973);
    for (size_t count = 0; count <= COUNT; count += 1 + count / 9) {
        struct error_memory_squares sum = {0};
        wide exact = 0; /* 5000 2^104 */
        error_memory_measure(&sum, error_memory, count);
        for (size_t j = 0; j < count; j++)
            exact += (wide)((uint64_t)llabs(error_memory[j])) *
                     (uint64_t)llabs(error_memory[j]);
        assert_true(sum.low == (uint64_t)exact && sum.high == 0);
        assert_true(sum.middle == (uint64_t)(exact >> 64));
    }
}

/* Two records of two coordinates, full batch (Appendix 9). */
static void trace_step(struct machine *m, const double x[2])
{
    static const double points[2][2] = {{3, 4}, {-1, 0}};
    machine_begin(m);
    for (size_t i = 0; i < 2; i++) {
        double g[2] = {x[0] - points[i][0], x[1] - points[i][1]};
        machine_add(m, g);
    }
    machine_end(m);
}

static const double noises[3][2] = {{.1, -.2}, {-.05, .05}, {0, .3}};

static void assert_trace(struct machine m, double noise_share, const double last[6])
{
    double x[2] = {0, 0};
    for (size_t t = 0; t < 3; t++) {
        trace_step(&m, x);
        for (size_t j = 0; j < 2; j++)
            x[j] -= 0.5 * (m.v[j] + noise_share * noises[t][j]);
    }
    for (size_t j = 0; j < 2; j++) {
        assert_close(m.v[j], last[j], 1e-12);
        assert_close(x[j], last[2 + j], 1e-12);
        if (m.back > 0)
            assert_close(machine_error(&m, j), last[4 + j], 1e-12);
    }
}

static void traces_of_both_algorithms_are_the_specification_s(void **state)
{
    (void)state;
    struct machine a1 = {.clip = 1, .batch = 2, .scale = 0x1p47, .dim = 2}, a2 = a1;
    a2.back = 1.5;
    assert_trace(a1, 0,
                 (double[]){.089157482206079386, -.20607904306945948,
                            -.21154705923509121, .44675577672769878, 0, 0});
    assert_trace(a2, 0,
                 (double[]){-.86791182265132427, -1.247573205912887, .71698759319361061,
                            1.5675028581494126, -1.3829931317448301,
                            -1.7212780285082052});
    assert_trace(a2, 1,
                 (double[]){-.89857396103088338, -1.2182482093740299,
                            .72384837703354399, 1.4494819355178019, -1.3777418494148097,
                            -1.6606782981336099});
}

/* A3 with the engine's Adam, whose parameters are float32. */
static void the_trace_of_the_adam_form_is_the_specification_s(void **state)
{
    (void)state;
    struct machine m = {.clip = 1, .back = 1.5, .batch = 2, .scale = 0x1p47, .dim = 2};
    const struct optimizer_spec spec = {.kind = OPTIMIZER_ADAM,
                                        .learning_rate = 0.01,
                                        .learning_rate_final = 0.01,
                                        .beta1 = 0.9,
                                        .beta2 = 0.999,
                                        .epsilon = 1e-8};
    struct optimizer *adam;
    float p[2] = {0, 0};
    assert_int_equal(optimizer_create(&adam, &spec, 2, 3, NULL), ST_OK);
    for (size_t t = 0; t < 3; t++) {
        trace_step(&m, (double[]){(double)p[0], (double)p[1]});
        float g[2] = {(float)(m.v[0] + noises[t][0]), (float)(m.v[1] + noises[t][1])};
        optimizer_begin_step(adam, t, 0);
        assert_true(optimizer_apply(adam, p, g, (struct span){0, 2}));
    }
    optimizer_destroy(adam);
    assert_true(fabs((double)p[0] - .0012327387050176429) < 2e-7);
    assert_true(fabs((double)p[1] - .028996878497662248) < 2e-7);
    assert_true(fabs(machine_error(&m, 0) + 1.8026842366587168) < 1e-7);
    assert_true(fabs(machine_error(&m, 1) + 2.3891483201556745) < 1e-7);
}

static void what_was_sent_and_what_is_kept_add_up(void **state)
{
    (void)state;
    struct machine m = {
        .clip = 0.7, .back = 0.4, .batch = 5, .scale = 0x1p40, .dim = 3};
    double sent[3] = {0}, mu[3] = {0};
    uint64_t seed = 3;
    for (int t = 0; t < 1000; t++) {
        machine_begin(&m);
        for (int i = 0; i < 5; i++) {
            double g[3];
            for (size_t j = 0; j < 3; j++)
                g[j] = 4 * draw_uniform(&seed) - 1.5;
            machine_add(&m, g);
        }
        machine_end(&m);
        for (size_t j = 0; j < 3; j++) {
            sent[j] += m.v[j];
            mu[j] += m.mu[j];
        }
    }
    for (size_t j = 0; j < 3; j++)
        assert_close(sent[j] + machine_error(&m, j), mu[j], 1e-9);
}

static void without_clipping_nothing_is_kept(void **state)
{
    (void)state;
    struct machine m = {
        .clip = 1e3, .back = 1e3, .batch = 2, .scale = 0x1p40, .dim = 2};
    for (int t = 0; t < 20; t++) {
        trace_step(&m, (double[]){0.1 * t, -0.2});
        assert_true(m.error_memory[0] == 0 && m.error_memory[1] == 0);
        assert_close(m.v[0], 0.1 * t - 1, 1e-11);
    }
}

/* One use of a record: what the record adds to the sum and to the error. */
enum { DIM = 3 };
struct use {
    double taken[DIM], rest[DIM];
};

/* sum ||v - v'||^2 of two runs that differ by uses[t] in step t, in units of the clip. */
static double energy_between(const struct use *uses, int steps, double back,
                             double (*common)[DIM])
{
    const double scale = 0x1p40;
    int64_t sum[2][DIM], error_memory[2][DIM] = {{0}, {0}};
    double energy = 0;
    for (int t = 0; t < steps; t++) {
        for (int k = 0; k < 2; k++) {
            struct error_memory_squares squares = {0};
            memset(sum[k], 0, sizeof sum[k]);
            error_memory_measure(&squares, error_memory[k], DIM);
            error_memory_feedback(sum[k], error_memory[k], DIM,
                                  error_memory_share(&squares, back * scale));
            for (size_t j = 0; j < DIM; j++) {
                double rest = common[t][j] + k * uses[t].rest[j];
                error_memory[k][j] += (int64_t)rint(rest * scale);
                sum[k][j] += (int64_t)rint(k * uses[t].taken[j] * scale);
            }
        }
        for (size_t j = 0; j < DIM; j++)
            energy += pow((double)(sum[1][j] - sum[0][j]) / scale, 2);
    }
    return energy;
}

/* Draws a vector of length at most size; only along the first axis if dim is 1. */
static void draw_vector(double *x, double size, size_t dim, uint64_t *seed)
{
    memset(x, 0, DIM * sizeof *x);
    for (size_t j = 0; j < dim; j++)
        x[j] = 2 * draw_uniform(seed) - 1;
    double share =
        size * (dim == 1 ? 1 : draw_uniform(seed) / fmax(norm_of(x, dim), 1e-9));
    for (size_t j = 0; j < dim; j++)
        x[j] *= share;
}

static void no_pair_of_runs_passes_the_bound_of_m2(void **state)
{
    (void)state;
    enum { STEPS = 40 };
    uint64_t seed = 17;
    double closest = 0;
    for (int trial = 0; trial < 20000; trial++) {
        struct use uses[STEPS] = {{{0}, {0}}};
        double common[STEPS][DIM], back = exp2(6 * draw_uniform(&seed) - 3);
        double rest = 2 * draw_uniform(&seed);
        size_t dim = (size_t)trial / 4 % DIM + 1;
        bool aligned = trial % 4 == 0;
        int k = 0;
        for (int t = 0; t < STEPS; t++) {
            draw_vector(common[t], 3, dim, &seed);
            if (draw_uniform(&seed) > 0.15)
                continue;
            draw_vector(uses[t].taken, 1, dim, &seed);
            draw_vector(uses[t].rest, rest, dim, &seed);
            if (aligned)
                uses[t] = (struct use){{1}, {rest}};
            k++;
        }
        double cross = k > 0 ? 2 * pow(k - 1, 1.5) * rest : 0;
        double bound = k + k * k * rest * rest + cross;
        double energy = energy_between(uses, STEPS, back, common);
        assert_true(energy <= bound * (1 + 1e-9));
        closest = fmax(closest, bound > 0 ? energy / bound : 0);
    }
    assert_true(closest > 0.5);
}

/* The errors of other records keep e on the surface of the ball while a record is used
 * K times; then they stop and all K differences come out at once: the energy is (K
 * h)^2. */
static void hold_and_release_attains_the_bound(void **state)
{
    (void)state;
    enum { K = 5 };
    struct use uses[K + 3] = {{{0}, {0}}};
    double common[K + 3][DIM] = {{0}};
    for (int t = 0; t < K; t++) {
        common[t][0] = t == 0 ? 20 : 10;
        uses[t].rest[0] = 1;
    }
    common[K][0] = -5; /* e falls inside the ball and still contains the difference */
    assert_close(energy_between(uses, K + 3, 10, common), 25, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clipping_is_a_projection),
        cmocka_unit_test(any_error_memory_is_finite_and_within_the_radius),
        cmocka_unit_test(squares_are_added_exactly_in_any_order),
        cmocka_unit_test(squares_are_those_of_long_multiplication),
        cmocka_unit_test(traces_of_both_algorithms_are_the_specification_s),
        cmocka_unit_test(the_trace_of_the_adam_form_is_the_specification_s),
        cmocka_unit_test(what_was_sent_and_what_is_kept_add_up),
        cmocka_unit_test(without_clipping_nothing_is_kept),
        cmocka_unit_test(no_pair_of_runs_passes_the_bound_of_m2),
        cmocka_unit_test(hold_and_release_attains_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
