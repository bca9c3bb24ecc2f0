/* Goal: ticks come at whole seconds of the wall clock, each once; a tick sees what was
 * done inside the gate before its second, and not what was done after it began, even if
 * the tick is late; a stopped clock delays no one. Method: a tick that the test can
 * hold, and so make late by any time. */
#include "service/threads/tick_clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/clock.h"
#include "tests/expect.h"

enum { SECONDS_MAX = 8, THREADS = 4 };

struct watch {
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool held;                                        /* a tick that has begun waits */
    int begun, ran;                                   /* ticks */
    int64_t seconds[SECONDS_MAX], walls[SECONDS_MAX]; /* passed in; seen on the clock */
    int done;                                         /* inside the gate, so far */
    int seen[SECONDS_MAX];                            /* of these, by each tick */
};

#define WATCH                                                                          \
    {                                                                                  \
        .lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER          \
    }

static void on_tick(void *context, int64_t second)
{
    struct watch *watch = context;
    pthread_mutex_lock(&watch->lock);
    if (watch->begun < SECONDS_MAX) {
        watch->seconds[watch->begun] = second;
        watch->walls[watch->begun] = clock_wall_s();
        watch->seen[watch->begun] = watch->done;
    }
    watch->begun++;
    pthread_cond_broadcast(&watch->change);
    while (watch->held)
        pthread_cond_wait(&watch->change, &watch->lock);
    watch->ran++;
    pthread_mutex_unlock(&watch->lock);
}

static void await_begun(struct watch *watch, int ticks)
{
    pthread_mutex_lock(&watch->lock);
    while (watch->begun < ticks)
        pthread_cond_wait(&watch->change, &watch->lock);
    pthread_mutex_unlock(&watch->lock);
}

static void hold(struct watch *watch, bool held)
{
    pthread_mutex_lock(&watch->lock);
    watch->held = held;
    pthread_cond_broadcast(&watch->change);
    pthread_mutex_unlock(&watch->lock);
}

/* When the gate lets a thread in, at least 50 ms of the second are left, whenever the
 * thread asked. */
static void nobody_enters_just_before_a_second(void **state)
{
    (void)state;
    struct watch watch = WATCH;
    struct tick_clock *clock = tick_clock_create(on_tick, &watch);
    tick_clock_start(clock);
    for (int i = 0; i < 3; i++) {
        struct timespec now, near = {0};
        clock_gettime(CLOCK_REALTIME, &now);
        near.tv_nsec = 980000000 - now.tv_nsec;
        if (near.tv_nsec > 0)
            nanosleep(&near, NULL);
        clock_gettime(CLOCK_REALTIME, &now);
        tick_clock_enter(clock);
        int64_t entered_s = clock_wall_s();
        tick_clock_leave(clock);
        if (now.tv_nsec >= 950000000) /* else this machine overslept */
            assert_true(entered_s > now.tv_sec);
    }
    tick_clock_stop(clock);
    tick_clock_destroy(clock);
}

static void each_second_ticks_once_and_not_before_it_begins(void **state)
{
    (void)state;
    struct watch watch = WATCH;
    struct tick_clock *clock = tick_clock_create(on_tick, &watch);
    int64_t started = clock_wall_s();
    tick_clock_start(clock);
    await_begun(&watch, 3);
    tick_clock_stop(clock);
    assert_true(watch.seconds[0] > started);
    for (int i = 0; i < 3; i++) {
        assert_true(watch.walls[i] >= watch.seconds[i]);
        assert_true(i == 0 || watch.seconds[i] > watch.seconds[i - 1]);
    }
    int ran = watch.ran;
    tick_clock_destroy(clock);
    assert_int_equal(watch.ran, ran);
}

struct visitor {
    struct tick_clock *clock;
    struct watch *watch;
    atomic_bool arrived;
    int ran_before; /* ticks, when it was let in */
};

static void *visit(void *argument)
{
    struct visitor *visitor = argument;
    atomic_store(&visitor->arrived, true);
    tick_clock_enter(visitor->clock);
    pthread_mutex_lock(&visitor->watch->lock);
    visitor->ran_before = visitor->watch->ran;
    visitor->watch->done++;
    pthread_mutex_unlock(&visitor->watch->lock);
    tick_clock_leave(visitor->clock);
    return NULL;
}

/* The visitors arrive when the tick has begun and is held. */
static void nobody_comes_in_while_a_tick_runs(void **state)
{
    (void)state;
    struct watch watch = WATCH;
    struct tick_clock *clock = tick_clock_create(on_tick, &watch);
    struct visitor visitors[THREADS];
    pthread_t threads[THREADS];
    watch.held = true;
    tick_clock_start(clock);
    await_begun(&watch, 1);
    for (int i = 0; i < THREADS; i++) {
        visitors[i] = (struct visitor){.clock = clock, .watch = &watch};
        pthread_create(&threads[i], NULL, visit, &visitors[i]);
    }
    for (int i = 0; i < THREADS; i++)
        while (!atomic_load(&visitors[i].arrived))
            sched_yield();
    hold(&watch, false);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(visitors[i].ran_before >= 1);
    }
    await_begun(&watch, 2);
    tick_clock_destroy(clock);
    assert_int_equal(watch.seen[0], 0);
}

static int begun(struct watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    int ticks = watch->begun;
    pthread_mutex_unlock(&watch->lock);
    return ticks;
}

static void spend_two_seconds(void)
{
    int64_t start = clock_wall_s();
    while (clock_wall_s() < start + 2)
        sched_yield();
}

/* The visitor arrives after the second has begun, before its tick can. */
static void a_tick_waits_for_who_is_inside_and_sees_what_they_did(void **state)
{
    (void)state;
    pthread_t thread;
    struct watch watch = WATCH;
    struct tick_clock *clock = tick_clock_create(on_tick, &watch);
    tick_clock_start(clock);
    tick_clock_enter(clock);
    int ticks = begun(&watch);
    struct visitor late = {.clock = clock, .watch = &watch};
    spend_two_seconds();
    pthread_create(&thread, NULL, visit, &late);
    while (!atomic_load(&late.arrived))
        sched_yield();
    spend_two_seconds();
    assert_int_equal(begun(&watch), ticks);
    pthread_mutex_lock(&watch.lock);
    watch.done++;
    pthread_mutex_unlock(&watch.lock);
    tick_clock_leave(clock);
    pthread_join(thread, NULL);
    assert_true(late.ran_before > ticks);
    tick_clock_destroy(clock);
    assert_int_equal(watch.seen[ticks], 1);
}

static void waiting_ends_after_a_tick_that_began_later(void **state)
{
    (void)state;
    struct watch watch = WATCH;
    struct tick_clock *clock = tick_clock_create(on_tick, &watch);
    tick_clock_start(clock);
    for (int i = 0; i < 2; i++) {
        int64_t called = clock_wall_s();
        tick_clock_wait(clock);
        pthread_mutex_lock(&watch.lock);
        assert_true(watch.ran > i);
        assert_true(watch.seconds[watch.ran - 1] > called);
        pthread_mutex_unlock(&watch.lock);
    }
    tick_clock_destroy(clock);
}

static void a_clock_that_does_not_go_holds_nobody_up(void **state)
{
    (void)state;
    struct watch watch = WATCH;
    struct tick_clock *clock = tick_clock_create(on_tick, &watch);
    tick_clock_enter(clock);
    tick_clock_leave(clock);
    tick_clock_wait(clock);
    tick_clock_start(clock);
    tick_clock_stop(clock);
    spend_two_seconds();
    tick_clock_enter(clock);
    tick_clock_leave(clock);
    tick_clock_wait(clock);
    tick_clock_destroy(clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_enters_just_before_a_second),
        cmocka_unit_test(each_second_ticks_once_and_not_before_it_begins),
        cmocka_unit_test(nobody_comes_in_while_a_tick_runs),
        cmocka_unit_test(a_tick_waits_for_who_is_inside_and_sees_what_they_did),
        cmocka_unit_test(waiting_ends_after_a_tick_that_began_later),
        cmocka_unit_test(a_clock_that_does_not_go_holds_nobody_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
