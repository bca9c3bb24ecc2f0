/* Goal: a figure is near the value and stays while the value moves little; and an
 * attacker who moves the value to an edge sees another user's bytes only as often as
 * their share of the grain. Method: secrets from a fixed generator, so that each run is
 * the same. */
#include "service/process/held_figure.h"

#include "base/random.h"
#include "tests/expect.h"

enum { TIMES = 4096 };
static const uint64_t grain = UINT64_C(1) << 30;

static uint64_t secrets_drawn;
void __wrap_random_bytes(void *out, size_t size);
void __wrap_random_bytes(void *out, size_t size)
{
    static const uint8_t key[STREAM_KEY_SIZE] = {11};
    struct stream *stream = stream_create();
    stream_read(stream, out, size, &(struct stream_position){key, secrets_drawn++, 0});
    stream_destroy(stream);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static void a_figure_is_near_the_value_and_a_multiple_of_the_grain(void **state)
{
    (void)state;
    struct held_figure figure = {0};
    assert_int_equal(held_figure_shown(&figure), 0);
    uint64_t value = 40 * grain;
    for (uint64_t i = 0; i < TIMES; i++) {
        uint64_t step = i * UINT64_C(2654435761) % grain / 4;
        value = i / 64 % 2 == 0 ? value + step : value - step;
        held_figure_see(&figure, value, grain);
        assert_int_equal(held_figure_shown(&figure) % grain, 0);
        assert_true(distance(held_figure_shown(&figure), value) < 5 * grain / 2);
    }
    held_figure_see(&figure, 0, grain);
    assert_true(held_figure_shown(&figure) < grain);
}

static void a_figure_stays_while_the_value_moves_by_less_than_half_a_grain(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < TIMES; i++) {
        struct held_figure figure = {0};
        uint64_t value = 7 * grain + i * (grain / TIMES);
        held_figure_see(&figure, value, grain);
        uint64_t shown = held_figure_shown(&figure);
        for (uint64_t k = 0; k < 16; k++) {
            held_figure_see(&figure, value + k * (grain / 2 - 1) / 16, grain);
            held_figure_see(&figure, value - k * (grain / 2 - 1) / 16, grain);
            assert_int_equal(held_figure_shown(&figure), shown);
        }
    }
}

/* Counts how often the figure moves in the last step: an attacker has brought the value
 * as near to the rounding edge as their own bytes allow, and another user adds some. */
static size_t seen(uint64_t others_bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < TIMES; i++) {
        struct held_figure figure = {0};
        held_figure_see(&figure, 20 * grain, grain);
        held_figure_see(&figure, 21 * grain - 1, grain);
        uint64_t before = held_figure_shown(&figure);
        held_figure_see(&figure, 21 * grain - 1 + others_bytes, grain);
        count += held_figure_shown(&figure) != before;
    }
    return count;
}

/* A figure that is only rounded down moves each time. Here four times are expected, and
 * at most twice as many; Poisson, six deviations. */
static void an_edge_shows_few_bytes_of_somebody_else(void **state)
{
    (void)state;
    assert_in_range(seen(grain / 1024), 0, 8 + 6 * 3);
    assert_int_equal(seen(0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_figure_is_near_the_value_and_a_multiple_of_the_grain),
        cmocka_unit_test(
            a_figure_stays_while_the_value_moves_by_less_than_half_a_grain),
        cmocka_unit_test(an_edge_shows_few_bytes_of_somebody_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
