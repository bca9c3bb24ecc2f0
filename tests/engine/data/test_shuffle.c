/* Goal: every order of the items is equally likely, all items are returned complete,
 * and the order depends only on the key and the number of items. Method: fixed keys.
 * All orders of four items, and the places and neighbours of each of a thousand items,
 * against bounds from the binomial law; items of all sizes, with and without a file. */
#include "engine/data/shuffle.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "tests/expect.h"

static const char path[] = "/tmp/epsilond-shuffle-test";

/* The key whose first word is this. */
static void key_of(uint8_t key[STREAM_KEY_SIZE], uint32_t word)
{
    memset(key, 0x5a, STREAM_KEY_SIZE);
    memcpy(key, &word, sizeof word);
}

/* order = the numbers from 0 to count - 1 in the order that the key gives them, each
 * the first word of an item of that size. */
static void shuffle_numbers(uint32_t *order, uint32_t count, size_t item_size,
                            uint32_t key_word)
{
    uint8_t key[STREAM_KEY_SIZE];
    key_of(key, key_word);
    struct shuffle *shuffle =
        shuffle_create(&(struct shuffle_spec){path, item_size, key});
    unsigned char *item = calloc(1, item_size);
    for (uint32_t i = 0; i < count; i++) {
        memset(item, (int)(i % 251), item_size);
        memcpy(item, &i, sizeof i);
        assert_int_equal(shuffle_add(shuffle, item, 1, NULL), ST_OK);
    }
    assert_int_equal(access(path, F_OK), -1);
    for (uint32_t i = 0; i < count; i++) {
        const void *next = NULL;
        assert_int_equal(shuffle_next(shuffle, &next, NULL), ST_OK);
        assert_non_null(next);
        memcpy(&order[i], next, sizeof order[i]);
        for (size_t k = sizeof order[i]; k < item_size; k++)
            assert_int_equal(((const unsigned char *)next)[k], order[i] % 251);
    }
    const void *none = item;
    assert_int_equal(shuffle_next(shuffle, &none, NULL), ST_OK);
    assert_null(none);
    shuffle_destroy(shuffle);
    free(item);
}

static void all_items_come_back_whole_whatever_their_size(void **state)
{
    (void)state;
    static const struct {
        size_t item_size;
        uint32_t count;
    } cases[] = {{4, 0},     {4, 1},       {4, 2},      {4, 5000},    {4, 3000000},
                 {7, 40000}, {784, 30000}, {16383, 99}, {16384, 700}, {40000, 600}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint32_t count = cases[c].count;
        uint32_t *order = calloc(count + 1, sizeof *order);
        bool *seen = calloc(count + 1, sizeof *seen);
        shuffle_numbers(order, count, cases[c].item_size, 1);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(order[i] < count);
            assert_false(seen[order[i]]);
            seen[order[i]] = true;
        }
        free(order);
        free(seen);
    }
}

/* So rows and their targets, which are shuffled separately, stay together. */
static void the_order_follows_from_key_and_number_alone(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    static uint32_t first[COUNT], other[COUNT];
    shuffle_numbers(first, COUNT, 4, 9);
    shuffle_numbers(other, COUNT, 500, 9);
    assert_memory_equal(first, other, sizeof first);
    shuffle_numbers(other, COUNT, 20000, 9);
    assert_memory_equal(first, other, sizeof first);
    shuffle_numbers(other, COUNT, 4, 10);
    assert_memory_not_equal(first, other, sizeof first);
}

/* Checks that a count of n draws of probability p lies within six deviations; a check
 * fails by chance with probability 2e-9. */
static void expect_count(size_t count, size_t draws, double p)
{
    double mean = (double)draws * p, deviation = sqrt(mean * (1 - p));
    if (fabs((double)count - mean) > 6 * deviation)
        fail_msg("%zu, where %g with a deviation of %g is expected", count, mean,
                 deviation);
}

static void each_order_of_four_is_as_likely(void **state)
{
    (void)state;
    enum { ORDERS = 256, TIMES = 48000 }; /* an order as a number of base 4 */
    size_t counts[ORDERS] = {0}, seen = 0;
    for (uint32_t t = 0; t < TIMES; t++) {
        uint32_t order[4];
        shuffle_numbers(order, 4, 4, t);
        counts[order[0] * 64 + order[1] * 16 + order[2] * 4 + order[3]]++;
    }
    for (size_t k = 0; k < ORDERS; k++) {
        seen += counts[k] > 0;
        if (counts[k] > 0)
            expect_count(counts[k], TIMES, 1.0 / 24);
    }
    assert_int_equal(seen, 24);
}

/* There are more items than buckets, so that orders inside a bucket are tested too. */
static void each_item_is_as_likely_at_each_place(void **state)
{
    (void)state;
    enum { COUNT = 1000, TENTH = COUNT / 10, TIMES = 4000 };
    static size_t places[10][10]; /* [tenth of the file][tenth of the order] */
    size_t behind = 0, next_to = 0, stayed = 0;
    for (uint32_t t = 0; t < TIMES; t++) {
        uint32_t order[COUNT], at[COUNT];
        shuffle_numbers(order, COUNT, 4, t);
        for (uint32_t i = 0; i < COUNT; i++) {
            at[order[i]] = i;
            stayed += order[i] == i;
        }
        for (uint32_t tenth = 0; tenth < 10; tenth++) /* one item of each: draws are
                                                         independent */
            places[tenth][at[tenth * TENTH + t % TENTH] / TENTH]++;
        behind += at[t % COUNT] < at[(t + 1) % COUNT];
        next_to += at[t % COUNT] + 1 == at[(t + 1) % COUNT];
    }
    for (size_t i = 0; i < 10; i++)
        for (size_t k = 0; k < 10; k++)
            expect_count(places[i][k], TIMES, .1);
    expect_count(behind, TIMES, .5);
    expect_count(next_to, TIMES, 1.0 / COUNT);
    /* Fixed points: one per order on average, with variance one. */
    assert_true(fabs((double)stayed - TIMES) < 6 * sqrt(TIMES));
}

/* Buckets have eighty items, so that the order within a bucket is tested. Two
 * consecutive items are (n + 1) / 3 apart on average. The deviation for one pair is n /
 * sqrt(18), and pairs that share an item have a correlation below one half. */
static void neighbours_in_the_order_are_as_far_apart_as_any_two(void **state)
{
    (void)state;
    enum { COUNT = 20000, TIMES = 20, PAIRS = TIMES * (COUNT - 1) };
    static uint32_t order[COUNT];
    double sum = 0;
    for (uint32_t t = 0; t < TIMES; t++) {
        shuffle_numbers(order, COUNT, 4, t);
        for (uint32_t i = 1; i < COUNT; i++)
            sum += fabs((double)order[i] - order[i - 1]);
    }
    double deviation = COUNT / sqrt(18.0) * sqrt(2.0 / PAIRS);
    assert_true(fabs(sum / PAIRS - (COUNT + 1) / 3.0) < 6 * deviation);
}

static void a_file_that_cannot_be_made_is_an_error(void **state)
{
    (void)state;
    uint8_t key[STREAM_KEY_SIZE] = {0};
    static const char items[40000];
    struct error error = {0};
    struct shuffle *shuffle =
        shuffle_create(&(struct shuffle_spec){"/nonexistent/shuffle", 40000, key});
    assert_int_equal(shuffle_add(shuffle, items, 1, &error), ST_IO);
    assert_non_null(strstr(error.text, "No such file"));
    shuffle_destroy(shuffle);
    shuffle_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_items_come_back_whole_whatever_their_size),
        cmocka_unit_test(the_order_follows_from_key_and_number_alone),
        cmocka_unit_test(each_order_of_four_is_as_likely),
        cmocka_unit_test(each_item_is_as_likely_at_each_place),
        cmocka_unit_test(neighbours_in_the_order_are_as_far_apart_as_any_two),
        cmocka_unit_test(a_file_that_cannot_be_made_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
