/* Goal: what the process takes is told in steps of 16 MiB and whole seconds, and never less
 * than it is. */
#include "service/process_figures.h"

#include <string.h>

#include "tests/expect.h"

static const uint64_t grain = UINT64_C(16) << 20;

static void bytes_are_rounded_to_16_mib(void **state)
{
    (void)state;
    assert_int_equal(coarse_up(0), 0);
    assert_int_equal(coarse_up(1), grain);
    assert_int_equal(coarse_up(grain), grain);
    assert_int_equal(coarse_up(grain + 1), 2 * grain);
    assert_int_equal(coarse_down(grain - 1), 0);
    assert_int_equal(coarse_down(3 * grain + 5), 3 * grain);
}

static void what_is_measured_is_coarse_and_enough(void **state)
{
    (void)state;
    enum { TAKEN = 100 << 20 };
    struct process_figures figures = {0};
    char *taken = malloc(TAKEN);
    assert_non_null(taken);
    memset(taken, 1, TAKEN);
    process_figures_measure(&figures);
    assert_true(atomic_load(&figures.resident) >= TAKEN);
    assert_int_equal(atomic_load(&figures.resident) % grain, 0);
    assert_true(atomic_load(&figures.processor_s) < 1000);
    free(taken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_rounded_to_16_mib),
        cmocka_unit_test(what_is_measured_is_coarse_and_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
