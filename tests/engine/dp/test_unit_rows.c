/* Goal: a step reads each row of a person at most once, all rows equally often, and the
 * choice depends only on that person and the step's key. Method: draws of made-up
 * groups of rows, counted over many keys. */
#include "engine/dp/unit_rows.h"

#include <string.h>

#include "engine/nn/network.h"
#include "tests/expect.h"

enum { PERSONS = 4, MOST = 4 };
static const uint32_t starts[PERSONS + 1] = {0, 3, 7, 27, 28};
static const struct matrix people = {.records = 28, .starts = starts, .units = PERSONS};

static size_t draw(uint32_t *rows, const struct matrix *matrix, uint32_t unit,
                   uint32_t salt)
{
    uint8_t key[STREAM_KEY_SIZE] = {7};
    struct stream *stream = stream_create();
    memcpy(key + 1, &salt, sizeof salt);
    size_t count =
        unit_rows_draw(rows, matrix, unit, (struct unit_draw){key, MOST}, stream);
    stream_destroy(stream);
    return count;
}

static void whoever_has_few_rows_gives_all_of_them(void **state)
{
    (void)state;
    uint32_t rows[UNIT_ROWS_MAX];
    assert_int_equal(draw(rows, &people, 0, 1), 3);
    assert_int_equal(rows[0], 0);
    assert_int_equal(rows[2], 2);
    assert_int_equal(draw(rows, &people, 1, 1), 4);
    assert_int_equal(rows[3], 6);
    assert_int_equal(draw(rows, &people, 3, 1), 1);
    assert_int_equal(rows[0], 27);
}

static void of_many_rows_each_is_drawn_as_often(void **state)
{
    (void)state;
    enum { DRAWS = 20000, OWN = 20, SIGMAS = 6 };
    size_t counts[OWN] = {0};
    uint32_t rows[UNIT_ROWS_MAX];
    for (uint32_t salt = 0; salt < DRAWS; salt++) {
        assert_int_equal(draw(rows, &people, 2, salt), MOST);
        for (size_t k = 0; k < MOST; k++) {
            assert_in_range(rows[k], 7, 26);
            for (size_t l = 0; l < k; l++)
                assert_int_not_equal(rows[k], rows[l]);
            counts[rows[k] - 7]++;
        }
    }
    /* Binomial: 20,000 draws at 1/5, deviation 57. */
    for (size_t row = 0; row < OWN; row++)
        assert_in_range(counts[row], 4000 - SIGMAS * 57, 4000 + SIGMAS * 57);
}

static void others_do_not_change_a_draw(void **state)
{
    (void)state;
    static const uint32_t fewer[PERSONS + 1] = {0, 1, 2, 22, 80};
    const struct matrix others = {.records = 80, .starts = fewer, .units = PERSONS};
    uint32_t here[UNIT_ROWS_MAX], there[UNIT_ROWS_MAX];
    for (uint32_t salt = 0; salt < 100; salt++) {
        draw(here, &people, 2, salt);
        draw(there, &others, 2, salt);
        for (size_t k = 0; k < MOST; k++)
            assert_int_equal(here[k] - 7, there[k] - 2);
    }
}

static void another_step_draws_others(void **state)
{
    (void)state;
    uint32_t once[UNIT_ROWS_MAX], again[UNIT_ROWS_MAX];
    size_t alike = 0;
    for (uint32_t salt = 0; salt < 100; salt++) {
        draw(once, &people, 2, salt);
        draw(again, &people, 2, salt + 1000);
        alike += memcmp(once, again, MOST * sizeof *once) == 0;
    }
    assert_true(alike < 10);
}

/* The same number of rows is read of every person, and none belongs to another
 * person. */
static void whoever_has_few_rows_is_read_with_zeros_behind_them(void **state)
{
    (void)state;
    static const uint32_t own[PERSONS + 1] = {0, 3, 7, 23, 24};
    const struct matrix slotted = {.records = PERSONS * MATRIX_SLOTS_MAX,
                                   .starts = own,
                                   .units = PERSONS,
                                   .slots = MATRIX_SLOTS_MAX};
    uint32_t rows[UNIT_ROWS_MAX];
    assert_int_equal(draw(rows, &slotted, 0, 1), 3);
    for (uint32_t k = 0; k < MOST; k++)
        assert_int_equal(rows[k], k);
    assert_int_equal(draw(rows, &slotted, 3, 1), 1);
    for (uint32_t k = 0; k < MOST; k++)
        assert_int_equal(rows[k], 3 * MATRIX_SLOTS_MAX + k);
    assert_int_equal(draw(rows, &slotted, 2, 1), MOST);
    for (uint32_t k = 0; k < MOST; k++)
        assert_in_range(rows[k], 2 * MATRIX_SLOTS_MAX, 3 * MATRIX_SLOTS_MAX - 1);
    assert_int_equal(draw(rows, &people, 3, 1), 1); /* no room: the first row again */
    for (uint32_t k = 0; k < MOST; k++)
        assert_int_equal(rows[k], 27);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_has_few_rows_gives_all_of_them),
        cmocka_unit_test(of_many_rows_each_is_drawn_as_often),
        cmocka_unit_test(others_do_not_change_a_draw),
        cmocka_unit_test(another_step_draws_others),
        cmocka_unit_test(whoever_has_few_rows_is_read_with_zeros_behind_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
