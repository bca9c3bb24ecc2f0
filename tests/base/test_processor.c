/* Goal: the processor is said to run what it runs. Method: the flags that the kernel
 * prints in /proc/cpuinfo, which it takes from the instruction cpuid and its own
 * state. */
#include "base/processor.h"

#include <string.h>

#include "tests/expect.h"

static const struct {
    const char *flag;
    unsigned instructions;
} sets[] = {{" avx2 ", PROCESSOR_AVX2},
            {" fma ", PROCESSOR_FMA},
            {" avx512f ", PROCESSOR_AVX512F},
            {" avx512dq ", PROCESSOR_AVX512DQ},
            {" avx512bw ", PROCESSOR_AVX512BW},
            {" avx512vl ", PROCESSOR_AVX512VL},
            {" avx512ifma ", PROCESSOR_AVX512IFMA}};
enum { SETS = sizeof sets / sizeof *sets };

/* The sets of the first processor's line of flags; none on other kinds of processors,
 * whose line has another name. */
static unsigned sets_in_cpuinfo(void)
{
    char line[16384];
    unsigned found = 0;
    FILE *file = fopen("/proc/cpuinfo", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "flags", 5) != 0)
            continue;
        line[strcspn(line, "\n")] = ' ';
        for (size_t k = 0; k < SETS; k++)
            found |= strstr(line, sets[k].flag) != NULL ? sets[k].instructions : 0;
        break;
    }
    fclose(file);
    return found;
}

static void it_runs_what_the_system_says(void **state)
{
    (void)state;
    unsigned found = sets_in_cpuinfo();
    for (size_t k = 0; k < SETS; k++)
        assert_int_equal(processor_runs(sets[k].instructions),
                         (found & sets[k].instructions) != 0);
}

static void sets_run_together_if_each_of_them_runs(void **state)
{
    (void)state;
    unsigned found = sets_in_cpuinfo();
    assert_true(processor_runs(0));
    for (size_t a = 0; a < SETS; a++)
        for (size_t b = 0; b < SETS; b++) {
            unsigned both = sets[a].instructions | sets[b].instructions;
            assert_int_equal(processor_runs(both), (found & both) == both);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_runs_what_the_system_says),
        cmocka_unit_test(sets_run_together_if_each_of_them_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
