/* Goal: a run without steps is detected, and one with steps is not. Method: limits of
 * given durations; a watchdog that gets no steps, and one that is closed. */
#include "mpi/watchdog.h"

#include <semaphore.h>
#include <time.h>

#include "base/clock.h"
#include "tests/expect.h"

static sem_t missed;
static int calls;

static void note_missed(void)
{
    calls++;
    sem_post(&missed);
}

static int open_semaphore(void **state)
{
    (void)state;
    calls = 0;
    return sem_init(&missed, 0, 0);
}

static void the_limit_is_ten_medians_and_no_less_than_the_least(void **state)
{
    (void)state;
    static const int64_t durations[] = {7, 900, 3, 8, 5};
    assert_true(watchdog_limit(NULL, 0, 61) == 610);
    assert_true(watchdog_limit(durations, 5, 61) == 70);
    assert_true(watchdog_limit(durations, 5, 71) == 71);
    assert_true(watchdog_limit(durations, 1, 1) == 70);
    assert_true(WATCHDOG_LEAST_NS == INT64_C(60000000000));
}

static void a_step_that_does_not_end_is_missed(void **state)
{
    (void)state;
    struct watchdog *watchdog = watchdog_open(1000000, note_missed);
    sem_wait(&missed);
    watchdog_close(watchdog);
    assert_int_equal(calls, 1);
}

static const int64_t second_ns = 1000000000;

/* Allows ten seconds for the first step, and a second for each later one. Returns false
 * if the first took so long that the second may take as much: this machine
 * overslept. */
static bool misses_the_second_step(void)
{
    const int64_t began_ns = clock_monotonic_ns();
    struct watchdog *watchdog = watchdog_open(second_ns, note_missed);
    /* By now the watching thread sleeps until the first step's deadline. */
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    watchdog_step(watchdog);
    bool slept = clock_monotonic_ns() - began_ns > second_ns / 5;
    sem_wait(&missed);
    watchdog_close(watchdog);
    return !slept && clock_monotonic_ns() - began_ns < 10 * second_ns;
}

static void the_second_step_is_not_given_the_time_of_the_first(void **state)
{
    (void)state;
    enum { TRIES = 6 };
    int tries = 1;
    while (!misses_the_second_step())
        assert_in_range(++tries, 1, TRIES);
}

static void steps_that_ended_do_not_hide_one_that_does_not(void **state)
{
    (void)state;
    struct watchdog *watchdog = watchdog_open(1000000, note_missed);
    for (int k = 0; k < 2 * WATCHDOG_KEPT; k++)
        watchdog_step(watchdog);
    sem_wait(&missed);
    watchdog_close(watchdog);
    assert_int_equal(calls, 1);
}

static void a_run_that_is_over_misses_nothing(void **state)
{
    (void)state;
    struct watchdog *watchdog = watchdog_open(WATCHDOG_LEAST_NS, note_missed);
    watchdog_step(watchdog);
    watchdog_close(watchdog);
    watchdog_close(NULL);
    assert_int_equal(calls, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_is_ten_medians_and_no_less_than_the_least),
        cmocka_unit_test_setup(a_step_that_does_not_end_is_missed, open_semaphore),
        cmocka_unit_test_setup(the_second_step_is_not_given_the_time_of_the_first,
                               open_semaphore),
        cmocka_unit_test_setup(steps_that_ended_do_not_hide_one_that_does_not,
                               open_semaphore),
        cmocka_unit_test_setup(a_run_that_is_over_misses_nothing, open_semaphore),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
