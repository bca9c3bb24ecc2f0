/* Goal: the measure on the grid dominates the step's privacy profile at every epsilon,
 * in both directions, and touches it at the grid's points. Method: the profile in
 * closed form, in 80 bits, at the place where the loss is epsilon. */
#include "accountant/mechanisms/privacy_loss.h"

#include <string.h>

#include "tests/expect.h"

static const struct privacy_loss_step steps[] = {
    {RELATION_ZERO_OUT, 0.01, 1},       {RELATION_ZERO_OUT, 1e-5, 0.6},
    {RELATION_ZERO_OUT, 0.5, 0.3},      {RELATION_ZERO_OUT, 1, 2.385},
    {RELATION_ZERO_OUT, 0.999999, 1.5}, {RELATION_ZERO_OUT, 0.02, 300},
    {RELATION_REPLACE_ONE, 0.03, 0.8},  {RELATION_REPLACE_ONE, 1, 4},
    {RELATION_REPLACE_ONE, 0.7, 12},
};
enum { STEPS = sizeof steps / sizeof *steps };

static long double upper(long double x)
{
    return erfcl(x / sqrtl(2)) / 2;
}

static long double density_above(const struct privacy_loss_step *s, bool first,
                                 long double t)
{
    long double q = s->rate, shift = 1 / (long double)s->noise;
    if (first)
        return (1 - q) * upper(t) + q * upper(t - shift);
    if (s->relation == RELATION_REPLACE_ONE)
        return (1 - q) * upper(t) + q * upper(t + shift);
    return upper(t);
}

/* Returns the t at which the loss is l, by bisection. */
static long double place(const struct privacy_loss_step *s, double l)
{
    long double low = -60, high = 60;
    for (int i = 0; i < 200; i++) {
        long double t = (low + high) / 2;
        *(privacy_loss_at(s, (double)t) < l ? &low : &high) = t;
    }
    return high;
}

/* The maximum over events of p - e^epsilon q for removing, and of q - e^epsilon p for
 * adding. */
static long double profile(const struct privacy_loss_step *s,
                           enum privacy_loss_direction d, double epsilon)
{
    if (d == LOSS_REMOVING) {
        long double t = place(s, epsilon);
        return density_above(s, true, t) - expl(epsilon) * density_above(s, false, t);
    }
    long double t = place(s, -epsilon);
    return (1 - density_above(s, false, t)) -
           expl(epsilon) * (1 - density_above(s, true, t));
}

static long double measured(const struct privacy_loss *loss, double spacing,
                            double epsilon)
{
    long double sum = loss->infinite;
    for (size_t i = 0; i < loss->count; i++) {
        double l = (double)(loss->first + (long)i) * spacing;
        if (l > epsilon)
            sum += loss->mass[i] * -expm1l((long double)epsilon - l);
    }
    return sum;
}

static void the_measure_dominates_the_profile_everywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < STEPS; i++) {
        const struct privacy_loss_step *s = &steps[i];
        struct privacy_loss_range range = privacy_loss_range_of(s, 1e-14);
        double reach = privacy_loss_at(s, range.high), spacing = reach / 157;
        struct privacy_loss loss[2];
        assert_true(privacy_loss_measure(loss, s, range, spacing, 1 << 20));
        for (size_t d = 0; d < (s->relation == RELATION_ZERO_OUT ? 2 : 1); d++) {
            for (double epsilon = -reach; epsilon < reach; epsilon += reach / 211) {
                long double least = profile(s, (enum privacy_loss_direction)d, epsilon);
                long double got = measured(&loss[d], spacing, epsilon);
                /* The closed form cancels to about the last bit of 1 + e^epsilon. */
                assert_true(got >= least - 1e-18L * (1 + expl(epsilon)));
            }
        }
        privacy_loss_fini(&loss[0]);
        privacy_loss_fini(&loss[1]);
    }
}

static void at_the_places_of_the_grid_it_is_the_profile(void **state)
{
    (void)state;
    for (size_t i = 0; i < STEPS; i++) {
        const struct privacy_loss_step *s = &steps[i];
        struct privacy_loss_range range = privacy_loss_range_of(s, 1e-16);
        double spacing = privacy_loss_at(s, range.high) / 157;
        struct privacy_loss loss[2];
        assert_true(privacy_loss_measure(loss, s, range, spacing, 1 << 20));
        for (size_t d = 0; d < (s->relation == RELATION_ZERO_OUT ? 2 : 1); d++) {
            for (int place = -10; place < 157; place += 3) {
                double epsilon = place * spacing;
                long double exact = profile(s, (enum privacy_loss_direction)d, epsilon);
                long double got = measured(&loss[d], spacing, epsilon);
                /* Masses are known to some ulp of 1; the rise is their difference over
                 * a spacing. */
                double relative = 1e-11 + 256 * 2.3e-16 / spacing;
                assert_true(fabsl(got - exact) <= relative * exact + 1e-15L);
            }
        }
        privacy_loss_fini(&loss[0]);
        privacy_loss_fini(&loss[1]);
    }
}

static void nothing_of_the_mass_is_lost(void **state)
{
    (void)state;
    for (size_t i = 0; i < STEPS; i++) {
        const struct privacy_loss_step *s = &steps[i];
        struct privacy_loss_range range = privacy_loss_range_of(s, 1e-12);
        struct privacy_loss loss[2];
        assert_true(privacy_loss_measure(
            loss, s, range, privacy_loss_at(s, range.high) / 5000, 1 << 20));
        for (size_t d = 0; d < (s->relation == RELATION_ZERO_OUT ? 2 : 1); d++) {
            long double sum = loss[d].infinite;
            for (size_t j = 0; j < loss[d].count; j++) {
                assert_true(loss[d].mass[j] >= 0);
                sum += loss[d].mass[j];
            }
            assert_true(sum >= 1);
            assert_true(sum <= 1 + 1e-10L);
            assert_true(loss[d].infinite <= 1.01e-12);
            assert_true(loss[d].misplaced < 1e-11);
        }
        privacy_loss_fini(&loss[0]);
        privacy_loss_fini(&loss[1]);
    }
}

static void the_range_leaves_the_tail_it_was_given(void **state)
{
    (void)state;
    for (size_t i = 0; i < STEPS; i++) {
        for (double tail = 1e-4; tail > 1e-250; tail *= 1e-11) {
            struct privacy_loss_range r = privacy_loss_range_of(&steps[i], tail);
            assert_true(density_above(&steps[i], true, r.high) <= tail);
            assert_true(density_above(&steps[i], true, r.high - 0.02) >= tail);
            assert_true(1 - density_above(&steps[i], true, r.low) <= tail + 1e-18L);
            assert_true(upper(-r.low) <= tail);
        }
    }
}

static void losses_grow_with_t_and_densities_make_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < STEPS; i++) {
        const struct privacy_loss_step *s = &steps[i];
        double before = -INFINITY;
        for (double t = -9; t < 9; t += 0.37) {
            double loss = privacy_loss_at(s, t);
            double ratio = privacy_loss_density(s, LOSS_REMOVING, t) /
                           privacy_loss_density(s, LOSS_ADDING, t);
            assert_true(loss >= before);
            assert_true(fabs(loss - log(ratio)) <= 1e-12 * (1 + fabs(loss)));
            before = loss;
        }
    }
}

static void too_fine_a_grid_is_refused_and_nothing_written(void **state)
{
    (void)state;
    struct privacy_loss loss[2], before[2];
    memset(loss, 0x5a, sizeof loss);
    memcpy(before, loss, sizeof loss);
    struct privacy_loss_range range = privacy_loss_range_of(&steps[0], 1e-12);
    assert_false(privacy_loss_measure(loss, &steps[0], range, 1e-5, 1000));
    assert_false(privacy_loss_measure(loss, &steps[0], range, 1e-300, SIZE_MAX));
    assert_memory_equal(loss, before, sizeof loss);
    privacy_loss_fini(&(struct privacy_loss){0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_measure_dominates_the_profile_everywhere),
        cmocka_unit_test(at_the_places_of_the_grid_it_is_the_profile),
        cmocka_unit_test(nothing_of_the_mass_is_lost),
        cmocka_unit_test(the_range_leaves_the_tail_it_was_given),
        cmocka_unit_test(losses_grow_with_t_and_densities_make_them),
        cmocka_unit_test(too_fine_a_grid_is_refused_and_nothing_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
