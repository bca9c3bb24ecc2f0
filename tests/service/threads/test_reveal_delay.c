/* Goal: the waits at the marks of a run are uniform in [0, width), independent of each
 * other, and drawn together; a stop ends a wait, and the end then waits once more.
 * Method: a stream with a fixed key, bounds from the sample size, and a running tick
 * clock. */
#include "service/threads/tick_clock.h"
#include "service/threads/reveal_delay.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/random.h"
#include "tests/expect.h"

enum { DRAWS = 20000, WIDTH_MS = 4000, NS_PER_MS = 1000000 };

static const double width_ns = (double)WIDTH_MS * NS_PER_MS;

/* --- the law --- */

static struct stream *stream;
static uint64_t draw;
static unsigned fills;

static void fill(void *out, size_t size)
{
    static const uint8_t key[32] = {1, 2, 3};
    const struct stream_position from = {.key = key, .nonce = draw++};
    stream_read(stream, out, size, &from);
    fills++;
}

static double waits[REVEAL_MARKS][DRAWS]; /* as parts of the width */

static int draw_all(void **state)
{
    (void)state;
    stream = stream_create();
    for (size_t n = 0; n < DRAWS; n++) {
        struct reveal_delay delay;
        reveal_delay_draw(&delay, WIDTH_MS, fill);
        assert_int_equal(delay.used, 0);
        for (size_t i = 0; i < REVEAL_MARKS; i++)
            waits[i][n] = (double)delay.wait_ns[i] / width_ns;
    }
    assert_int_equal(fills, DRAWS); /* one read of the generator a run */
    stream_destroy(stream);
    return 0;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Dvoretzky, Kiefer, Wolfowitz, Massart: a distance above sqrt(ln(2 / p) / 2 n) has a
 * chance of at most p = 1e-9. */
static void a_wait_is_uniform(void **state)
{
    (void)state;
    static double sorted[DRAWS];
    const double bound = sqrt(log(2 / 1e-9) / (2.0 * DRAWS));
    for (size_t i = 0; i < REVEAL_MARKS; i++) {
        for (size_t n = 0; n < DRAWS; n++)
            sorted[n] = waits[i][n];
        qsort(sorted, DRAWS, sizeof *sorted, ascending);
        assert_true(sorted[0] >= 0 && sorted[DRAWS - 1] < 1);
        for (size_t n = 0; n < DRAWS; n++) {
            assert_true(fabs(sorted[n] - (double)n / DRAWS) <= bound);
            assert_true(fabs(sorted[n] - (double)(n + 1) / DRAWS) <= bound);
        }
    }
}

/* The correlation of n independent pairs has a deviation of 1 / sqrt n; that of two
 * marks with one phase is 1. */
static void each_mark_has_a_wait_of_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < REVEAL_MARKS; i++)
        for (size_t j = 0; j < i; j++) {
            double sum = 0;
            for (size_t n = 0; n < DRAWS; n++)
                sum += (waits[i][n] - .5) * (waits[j][n] - .5);
            assert_true(fabs(12 * sum / DRAWS) < 6 / sqrt(DRAWS));
        }
}

static void another_run_has_other_waits(void **state)
{
    (void)state;
    struct reveal_delay one, other;
    reveal_delay_draw(&one, WIDTH_MS, random_bytes);
    reveal_delay_draw(&other, WIDTH_MS, random_bytes);
    for (size_t i = 0; i < REVEAL_MARKS; i++)
        assert_true(one.wait_ns[i] != other.wait_ns[i]);
    reveal_delay_draw(&one, 0, random_bytes);
    for (size_t i = 0; i < REVEAL_MARKS; i++)
        assert_int_equal(one.wait_ns[i], 0);
}

/* --- waiting --- */

static atomic_bool stop;
static int
    ticks_until_stop; /* a tick sets stop, as in service/server/clock_tick; 0: none */

static void on_tick(void *context, int64_t second)
{
    (void)context, (void)second;
    if (ticks_until_stop > 0 && --ticks_until_stop == 0)
        atomic_store(&stop, true);
}

static int64_t waited_ms(struct reveal_delay *delay, struct tick_clock *clock,
                         void (*wait)(struct reveal_delay *, struct tick_clock *,
                                      const atomic_bool *))
{
    int64_t begin = clock_monotonic_ns();
    wait(delay, clock, &stop);
    return (clock_monotonic_ns() - begin) / NS_PER_MS;
}

static struct tick_clock *begin_clock(int ticks)
{
    struct tick_clock *clock = tick_clock_create(on_tick, NULL);
    atomic_store(&stop, false);
    ticks_until_stop = ticks;
    tick_clock_start(clock);
    return clock;
}

static struct reveal_delay delay_of(uint64_t first_ms, uint64_t second_ms)
{
    return (struct reveal_delay){
        .wait_ns = {first_ms * NS_PER_MS, second_ms * NS_PER_MS}};
}

static void a_mark_waits_as_long_as_was_drawn(void **state)
{
    (void)state;
    struct tick_clock *clock = begin_clock(0);
    struct reveal_delay delay = delay_of(300, 100);
    assert_true(waited_ms(&delay, clock, reveal_delay_wait) >= 300);
    assert_int_equal(delay.used, 1);
    assert_true(waited_ms(&delay, clock, reveal_delay_end) >= 100);
    assert_int_equal(delay.used, 2);
    tick_clock_destroy(clock);
}

/* The tick comes within a second, long before the hour is over. */
static void a_stop_ends_a_wait_and_the_end_waits_again(void **state)
{
    (void)state;
    enum { HOUR_MS = 3600000 };
    struct tick_clock *clock = begin_clock(1);
    struct reveal_delay delay = delay_of(HOUR_MS, 400);
    int64_t begin = clock_wall_s();
    assert_true(waited_ms(&delay, clock, reveal_delay_end) >= 400);
    assert_true(atomic_load(&stop));
    assert_true(clock_wall_s() - begin < HOUR_MS / 1000);
    assert_int_equal(delay.used, 2);
    /* A stop that finds the run computing waits as long. */
    delay = delay_of(400, HOUR_MS);
    assert_true(waited_ms(&delay, clock, reveal_delay_end) >= 400);
    assert_int_equal(delay.used, 1);
    tick_clock_destroy(clock);
}

static void where_no_clock_goes_nobody_waits(void **state)
{
    (void)state;
    struct tick_clock *clock = tick_clock_create(on_tick, NULL);
    struct reveal_delay delay = delay_of(3600000, 3600000);
    atomic_store(&stop, true);
    reveal_delay_wait(&delay, clock, &stop);
    reveal_delay_end(&delay, clock, &stop);
    assert_int_equal(delay.used, 2);
    tick_clock_destroy(clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_is_uniform),
        cmocka_unit_test(each_mark_has_a_wait_of_its_own),
        cmocka_unit_test(another_run_has_other_waits),
        cmocka_unit_test(a_mark_waits_as_long_as_was_drawn),
        cmocka_unit_test(a_stop_ends_a_wait_and_the_end_waits_again),
        cmocka_unit_test(where_no_clock_goes_nobody_waits),
    };
    return cmocka_run_group_tests(tests, draw_all, NULL);
}
