/* Goal: averages follow the definition for any number of threads. Method: made-up
 * points against plain loops in double, by one thread and by three; the extremes of
 * share and decay. */
#include "engine/dp/average.h"

#include <math.h>
#include <string.h>

#include "tests/expect.h"

enum { DIM = 40009, STEPS = 37 };

static float point_at(uint64_t step, size_t j)
{
    return (float)(3 * sin(0.11 * (double)j + 0.7 * (double)step) + 0.001 * (double)j);
}

/* The definition: a weighted mean of all points of steps 0 .. last, in double. */
static double mean_of(const struct averaging_spec *spec, uint64_t last, size_t j)
{
    double sum = 0, weights = 0;
    uint64_t first = STEPS - (uint64_t)ceil(spec->share * STEPS);
    for (uint64_t s = spec->kind == AVERAGING_TAIL ? first : 0; s <= last; s++) {
        double weight =
            spec->kind == AVERAGING_TAIL ? 1 : pow(spec->decay, (double)(last - s));
        sum += weight * (double)point_at(s, j);
        weights += weight;
    }
    return sum / weights;
}

static struct average *taken(const struct averaging_spec *spec, uint64_t steps,
                             struct team *team)
{
    static float point[DIM + 3] = {[DIM] = 7, [DIM + 2] = 9};
    struct average *average;
    assert_int_equal(average_create(&average, spec,
                                    (struct average_extent){DIM, DIM + 3}, STEPS, team,
                                    NULL),
                     ST_OK);
    for (uint64_t step = 0; step < steps; step++) {
        for (size_t j = 0; j < DIM; j++)
            point[j] = point_at(step, j);
        average_take(average, point, step);
    }
    return average;
}

static void averages_are_those_of_the_definition(void **state)
{
    (void)state;
    static const struct averaging_spec specs[] = {
        {.kind = AVERAGING_TAIL, .share = 0.5},
        {.kind = AVERAGING_TAIL, .share = 1},
        {.kind = AVERAGING_TAIL, .share = 0.1},
        {.kind = AVERAGING_EMA, .decay = 0.9},
        {.kind = AVERAGING_EMA, .decay = 0.999}};
    static const uint64_t steps[] = {STEPS - 3, STEPS};
    struct team *one, *three;
    assert_int_equal(team_create(&one, 1, NULL), ST_OK);
    assert_int_equal(team_create(&three, 3, NULL), ST_OK);
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
        for (size_t n = 0; n < 2; n++) {
            struct average *a = taken(&specs[k], steps[n], one);
            struct average *b = taken(&specs[k], steps[n], three);
            for (size_t j = 0; j < DIM;
                 j += 7) /* at most 37 roundings of values to 50 */
                assert_true(fabs((double)average_point(a)[j] -
                                 mean_of(&specs[k], steps[n] - 1, j)) < 5e-5);
            assert_memory_equal(average_point(a), average_point(b),
                                (DIM + 3) * sizeof(float));
            assert_true(average_point(a)[DIM] == 7 && average_point(a)[DIM + 2] == 9);
            average_destroy(a);
            average_destroy(b);
        }
    team_destroy(one);
    team_destroy(three);
    average_destroy(NULL);
}

static void an_average_of_one_point_is_that_point(void **state)
{
    (void)state;
    static const struct averaging_spec specs[] = {
        {.kind = AVERAGING_TAIL, .share = 1e-12}, {.kind = AVERAGING_EMA, .decay = 0}};
    struct team *team;
    assert_int_equal(team_create(&team, 2, NULL), ST_OK);
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        struct average *average = taken(&specs[k], STEPS, team);
        for (size_t j = 0; j < DIM; j++)
            assert_true(average_point(average)[j] == point_at(STEPS - 1, j));
        average_destroy(average);
    }
    team_destroy(team);
}

static void there_is_no_average_before_the_tail(void **state)
{
    (void)state;
    const struct averaging_spec spec = {.kind = AVERAGING_TAIL, .share = 0.5};
    struct team *team;
    assert_int_equal(team_create(&team, 1, NULL), ST_OK);
    struct average *average = taken(&spec, STEPS - 19, team); /* ceil(18.5) = 19 */
    assert_null(average_point(average));
    average_destroy(average);
    average = taken(&spec, STEPS - 18, team);
    assert_non_null(average_point(average));
    average_destroy(average);
    team_destroy(team);
}

static void the_size_is_that_of_the_point(void **state)
{
    (void)state;
    assert_int_equal(average_size(&(struct averaging_spec){0}, 1000), 0);
    assert_int_equal(
        average_size(&(struct averaging_spec){.kind = AVERAGING_EMA}, 1000), 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(averages_are_those_of_the_definition),
        cmocka_unit_test(an_average_of_one_point_is_that_point),
        cmocka_unit_test(there_is_no_average_before_the_tail),
        cmocka_unit_test(the_size_is_that_of_the_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
