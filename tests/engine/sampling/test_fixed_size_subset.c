/* Goal: a draw is a subset of exactly the requested size, and all subsets are equally
 * likely. Method: all 35 subsets of 3 of 7 counted over 70,000 draws, and a chi-square
 * bounded by five deviations; sizes at the edges; leftovers. */
#include "engine/sampling/fixed_size_subset.h"

#include <math.h>
#include <string.h>

#include "tests/expect.h"

enum { RECORDS = 1000 };

static struct noise_key key_of(uint32_t number)
{
    struct noise_key key = {{0}};
    memcpy(key.bytes, &number, sizeof number);
    return key;
}

static void a_draw_has_the_size_and_stays_in_its_range(void **state)
{
    (void)state;
    static const struct {
        struct index_range range;
        size_t size;
    } cases[] = {{{0, 1}, 1},     {{0, 1000}, 1}, {{0, 1000}, 1000}, {{3, 64}, 64},
                 {{500, 63}, 62}, {{999, 1}, 1},  {{17, 640}, 129},  {{0, 65}, 64}};
    struct fixed_size_subset subset;
    assert_int_equal(fixed_size_subset_init(&subset, RECORDS, NULL), ST_OK);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct index_range range = cases[k].range;
        for (uint32_t number = 0; number < 50; number++) {
            uint32_t indices[RECORDS + 1];
            struct noise_key key = key_of(number);
            indices[cases[k].size] = 77;
            fixed_size_subset_draw(&subset, indices, range, cases[k].size, &key);
            assert_int_equal(indices[cases[k].size], 77);
            for (size_t i = 0; i < cases[k].size; i++) {
                assert_in_range(indices[i], range.first, range.first + range.count - 1);
                assert_true(i == 0 || indices[i] > indices[i - 1]);
            }
        }
    }
    fixed_size_subset_fini(&subset);
}

static void every_subset_is_as_likely_as_every_other(void **state)
{
    (void)state;
    enum { OF = 7, SIZE = 3, SUBSETS = 35, DRAWS = 70000 };
    unsigned counts[1 << OF] = {0}, seen = 0;
    struct fixed_size_subset subset;
    assert_int_equal(fixed_size_subset_init(&subset, OF, NULL), ST_OK);
    for (uint32_t number = 0; number < DRAWS; number++) {
        uint32_t indices[SIZE], members = 0;
        struct noise_key key = key_of(number);
        fixed_size_subset_draw(&subset, indices, (struct index_range){0, OF}, SIZE,
                               &key);
        for (size_t i = 0; i < SIZE; i++)
            members |= 1U << indices[i];
        counts[members]++;
    }
    double square = 0, expected = (double)DRAWS / SUBSETS;
    for (size_t members = 0; members < 1 << OF; members++) {
        if (counts[members] == 0)
            continue;
        seen++;
        square += pow((double)counts[members] - expected, 2) / expected;
    }
    assert_int_equal(seen, SUBSETS);
    /* 34 degrees of freedom: five deviations of sqrt(68). */
    assert_true(square < 34 + 5 * sqrt(68));
    assert_true(square > 34 - 4 * sqrt(68));
    fixed_size_subset_fini(&subset);
}

static void a_draw_is_a_function_of_its_key_and_leaves_nothing(void **state)
{
    (void)state;
    uint32_t one[40], other[40];
    struct fixed_size_subset subset;
    struct index_range range = {100, 900};
    struct noise_key key = key_of(5), another = key_of(6);
    assert_int_equal(fixed_size_subset_init(&subset, RECORDS, NULL), ST_OK);
    fixed_size_subset_draw(&subset, one, range, 40, &key);
    for (size_t w = 0; w < fixed_size_subset_size(RECORDS) / sizeof(uint64_t); w++)
        assert_true(subset.members[w] == 0);
    fixed_size_subset_draw(&subset, other, range, 40, &another);
    assert_memory_not_equal(one, other, sizeof one);
    fixed_size_subset_draw(&subset, other, range, 40, &key);
    assert_memory_equal(one, other, sizeof one);
    fixed_size_subset_fini(&subset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_draw_has_the_size_and_stays_in_its_range),
        cmocka_unit_test(every_subset_is_as_likely_as_every_other),
        cmocka_unit_test(a_draw_is_a_function_of_its_key_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
