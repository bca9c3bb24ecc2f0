/* Goal: each named grid is in a plan once, in the order in which the grids were set.
 * Method: grids that can be distinguished, set and set again. */
#include "engine/dp/noise_plan.h"

#include "tests/expect.h"

static void set(struct noise_plan *plan, const char *name, double scale)
{
    struct noise_grid grid = {.name = name, .grid = {.scale = scale}};
    noise_plan_set(plan, &grid);
}

static void a_grid_takes_the_place_of_its_name(void **state)
{
    (void)state;
    struct noise_plan plan = {0};
    set(&plan, "norm", 2.5);
    set(&plan, "local", 3.5);
    set(&plan, "norm", 4.5);
    assert_int_equal(plan.named_count, 2);
    assert_string_equal(plan.named[0].name, "norm");
    assert_true(plan.named[0].grid.scale == 4.5);
    assert_string_equal(plan.named[1].name, "local");
    assert_true(plan.named[1].grid.scale == 3.5);
}

static void there_is_room_for_every_grid(void **state)
{
    (void)state;
    static const char *const names[NOISE_GRIDS_MAX] = {"a", "b", "c", "d"};
    struct noise_plan plan = {0};
    for (size_t k = 0; k < NOISE_GRIDS_MAX; k++)
        set(&plan, names[k], (double)k + 0.25);
    set(&plan, names[0], 9.25);
    assert_int_equal(plan.named_count, NOISE_GRIDS_MAX);
    for (size_t k = 0; k < NOISE_GRIDS_MAX; k++)
        assert_string_equal(plan.named[k].name, names[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grid_takes_the_place_of_its_name),
        cmocka_unit_test(there_is_room_for_every_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
