/* Goal: the process's memory and time are reported in steps of 16 MiB and whole
 * seconds, without what it used in a pause. */
#include "service/process/process_stats.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "tests/expect.h"

static const uint64_t grain = UINT64_C(16) << 20;

static void what_is_measured_is_coarse_and_enough(void **state)
{
    (void)state;
    enum { TAKEN = 100 << 20 };
    struct process_stats figures = {0};
    char *taken = malloc(TAKEN);
    assert_non_null(taken);
    memset(taken, 1, TAKEN);
    process_stats_measure(&figures, 7);
    uint64_t shown = held_figure_shown(&figures.resident);
    assert_true(shown + grain > TAKEN);
    assert_true(SANITIZED || shown < 4 * (uint64_t)TAKEN);
    assert_int_equal(shown % grain, 0);
    assert_int_equal(atomic_load(&figures.features), 7);
    assert_true(atomic_load(&figures.processor_s) < 1000);
    free(taken);
}

/* Mapped memory grows with the rows of a dataset. A sanitizer has memory of its own
 * outside of mapped files, so this test shows nothing there. */
static void what_is_mapped_of_a_file_is_not_told(void **state)
{
    (void)state;
    enum { MAPPED = 100 << 20 };
    char path[] = "/tmp/epsilond-figures-XXXXXX";
    struct process_stats before = {0}, after = {0};
    int file = mkstemp(path);
    assert_true(file >= 0);
    unlink(path);
    assert_int_equal(ftruncate(file, MAPPED), 0);
    process_stats_measure(&before, 0);
    char *mapped = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_ptr_not_equal(mapped, MAP_FAILED);
    memset(mapped, 1, MAPPED);
    process_stats_measure(&after, 0);
    if (SANITIZED)
        skip_part("a sanitizer has memory of its own");
    else
        assert_true(held_figure_shown(&after.resident) <=
                    held_figure_shown(&before.resident) + 2 * grain);
    munmap(mapped, MAPPED);
    close(file);
}

static uint64_t used_us(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Uses a processor for this many microseconds. */
static void work(uint64_t us)
{
    uint64_t end = used_us() + us;
    while (used_us() < end)
        continue;
}

/* Use stays hidden until the first measurement after the last resume. That measurement
 * also leaves out what was used before it. */
static void what_is_used_in_a_pause_is_never_told(void **state)
{
    (void)state;
    enum { WORK_US = 50000 };
    struct process_stats figures = {0};
    work(WORK_US);
    process_stats_measure(&figures, 0);
    uint64_t told = figures.told_us;
    assert_true(told >= WORK_US);
    process_stats_pause(&figures);
    process_stats_pause(&figures);
    work(WORK_US);
    process_stats_resume(&figures);
    process_stats_measure(&figures, 0);
    assert_int_equal(figures.told_us, told);
    process_stats_resume(&figures);
    work(WORK_US);
    process_stats_measure(&figures, 0);
    assert_int_equal(figures.told_us, told);
    uint64_t before = used_us();
    work(WORK_US);
    process_stats_measure(&figures, 0);
    assert_true(figures.told_us >= told + WORK_US);
    assert_true(figures.used_us - figures.told_us >= 2 * WORK_US);
    assert_true(figures.used_us >= before + WORK_US);
}

/* When a run frees its memory, or its features are complete, depends on records. */
static void memory_and_features_stand_still_in_a_pause(void **state)
{
    (void)state;
    enum { TAKEN = 100 << 20 };
    struct process_stats figures = {0};
    process_stats_measure(&figures, 7);
    uint64_t resident = held_figure_shown(&figures.resident);
    process_stats_pause(&figures);
    char *taken = malloc(TAKEN);
    assert_non_null(taken);
    memset(taken, 1, TAKEN);
    process_stats_measure(&figures, 8);
    process_stats_resume(&figures);
    process_stats_measure(&figures, 9);
    assert_int_equal(held_figure_shown(&figures.resident), resident);
    assert_int_equal(atomic_load(&figures.features), 7);
    process_stats_measure(&figures, 9);
    assert_true(held_figure_shown(&figures.resident) + grain > TAKEN);
    assert_int_equal(atomic_load(&figures.features), 9);
    free(taken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_measured_is_coarse_and_enough),
        cmocka_unit_test(what_is_mapped_of_a_file_is_not_told),
        cmocka_unit_test(what_is_used_in_a_pause_is_never_told),
        cmocka_unit_test(memory_and_features_stand_still_in_a_pause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
