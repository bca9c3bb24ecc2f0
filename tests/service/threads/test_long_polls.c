/* Goal: a waiting request is resumed exactly once: by a change of its subject, at its
 * deadline, or at the end; and no change is missed between the check and the wait. */
#include "service/threads/long_polls.h"

#include <stdatomic.h>
#include <pthread.h>
#include <time.h>

#include "base/clock.h"
#include "tests/expect.h"

static const int64_t far_ns = INT64_C(3600000000000);
static const int subjects[2];

static void count_up(void *waiting)
{
    atomic_fetch_add((atomic_int *)waiting, 1);
}

static bool add(struct long_polls *polls, const void *subject, atomic_int *counter,
                int64_t from_now_ns)
{
    long_polls_lock(polls);
    bool added =
        long_polls_add(polls, subject, counter, clock_monotonic_ns() + from_now_ns);
    long_polls_unlock(polls);
    return added;
}

static void a_change_resumes_those_who_wait_for_it(void **state)
{
    (void)state;
    atomic_int first = 0, second = 0;
    struct long_polls *polls = long_polls_create(4, count_up);
    assert_true(add(polls, &subjects[0], &first, far_ns));
    assert_true(add(polls, &subjects[1], &second, far_ns));
    long_polls_wake(polls, &subjects[0]);
    long_polls_wake(polls, &subjects[0]);
    assert_int_equal(first, 1);
    assert_int_equal(second, 0);
    long_polls_destroy(polls);
    assert_int_equal(first, 1);
    assert_int_equal(second, 1);
}

static void a_deadline_resumes(void **state)
{
    (void)state;
    atomic_int resumed = 0;
    struct long_polls *polls = long_polls_create(4, count_up);
    assert_true(add(polls, &subjects[0], &resumed, 1000000));
    /* Bounded: the deadline is a millisecond away. */
    for (int i = 0; i < 60000 && resumed == 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(resumed, 1);
    long_polls_destroy(polls);
    assert_int_equal(resumed, 1);
}

static void a_full_or_closed_list_takes_nobody(void **state)
{
    (void)state;
    atomic_int resumed = 0;
    struct long_polls *polls = long_polls_create(1, count_up);
    assert_true(add(polls, &subjects[0], &resumed, far_ns));
    assert_false(add(polls, &subjects[0], &resumed, far_ns));
    long_polls_close(polls);
    assert_int_equal(resumed, 1);
    assert_false(add(polls, &subjects[0], &resumed, far_ns));
    long_polls_destroy(polls);
    assert_int_equal(resumed, 1);
}

struct race {
    struct long_polls *polls;
    atomic_int version, resumed;
};

static void *change(void *argument)
{
    struct race *race = argument;
    atomic_fetch_add(&race->version, 1);
    long_polls_wake(race->polls, race);
    return NULL;
}

/* Checks for a change and, if there is none, waits: either way the change is
 * noticed. */
static void no_change_falls_between_looking_and_waiting(void **state)
{
    (void)state;
    struct long_polls *polls = long_polls_create(4, count_up);
    for (int round = 0; round < 500; round++) {
        struct race race = {.polls = polls};
        pthread_t thread;
        pthread_create(&thread, NULL, change, &race);
        long_polls_lock(polls);
        bool seen = atomic_load(&race.version) > 0;
        if (!seen)
            assert_true(long_polls_add(polls, &race, &race.resumed,
                                       clock_monotonic_ns() + far_ns));
        long_polls_unlock(polls);
        pthread_join(thread, NULL);
        assert_int_equal(atomic_load(&race.resumed), seen ? 0 : 1);
    }
    long_polls_destroy(polls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_resumes_those_who_wait_for_it),
        cmocka_unit_test(a_deadline_resumes),
        cmocka_unit_test(a_full_or_closed_list_takes_nobody),
        cmocka_unit_test(no_change_falls_between_looking_and_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
