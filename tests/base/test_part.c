/* Goal: a division gives every index one part, which depends only on index, n and seed,
 * and the sizes and positions of parts agree with it. Method: brute force over all
 * indices of many divisions, against strata that are written out here, and values of
 * splitmix64 published by its authors. */
#include "base/part.h"

#include <math.h>
#include <stdlib.h>

#include "tests/expect.h"

static const double shares[] = {0.5, 0.4999999, 1.0 / 3, 0.3,
                                0.1, 0.05,      0.0123,  0x1p-20};

static void every_index_is_in_the_part_that_lists_it(void **state)
{
    (void)state;
    enum { MOST = 4000 };
    for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
        const struct division division = {shares[s], 7 + s};
        for (uint64_t n = 1; n <= MOST; n += 1 + n / 3) {
            uint64_t seen = 0;
            for (unsigned p = 0; p < PARTS_MAX; p++) {
                uint64_t count = division_count(&division, n, (enum part)p), last = 0;
                for (uint64_t k = 0; k < count; k++) {
                    uint64_t index = division_index(&division, (enum part)p, k);
                    assert_true(index < n && (k == 0 || index > last));
                    assert_int_equal(division_part(&division, index), p);
                    last = index;
                }
                seen += count;
            }
            assert_int_equal(seen, n);
        }
    }
}

/* Computes it by the rule in part.h, without sharing its code. */
static uint64_t held_out(const struct division *division, uint64_t stratum)
{
    uint64_t first = (uint64_t)ceil((double)stratum / division->holdout);
    uint64_t size = (uint64_t)ceil((double)(stratum + 1) / division->holdout) - first;
    uint64_t z = division->seed + (stratum + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return first + (uint64_t)floorl((long double)size * (long double)z * 0x1p-64L);
}

static void one_record_of_each_stratum_is_held_out(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
        const struct division division = {shares[s], UINT64_C(1) << 53};
        for (uint64_t k = 0; k < 2000; k++)
            assert_int_equal(division_index(&division, PART_HOLDOUT, k),
                             held_out(&division, k));
    }
}

/* The first three outputs from seed 1234567, as published with the generator. A stratum
 * of 2^20 indices shows the first 20 bits of each. */
static void the_draws_are_those_of_splitmix64(void **state)
{
    (void)state;
    static const uint64_t published[] = {UINT64_C(6457827717110365317),
                                         UINT64_C(3203168211198807973),
                                         UINT64_C(9817491932198370423)};
    const struct division division = {0x1p-20, 1234567};
    for (uint64_t k = 0; k < 3; k++)
        assert_int_equal(division_index(&division, PART_HOLDOUT, k),
                         (k << 20) + (published[k] >> 44));
}

static void the_share_is_kept_to_one_record(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
        const struct division division = {shares[s], 3};
        for (uint64_t n = 1; n < (UINT64_C(1) << 31); n = 3 * n + 1) {
            double count = (double)division_count(&division, n, PART_HOLDOUT);
            assert_true(fabs(count - shares[s] * (double)n) <= 1 + 1e-6);
            assert_int_equal((uint64_t)count + division_count(&division, n, PART_TRAIN),
                             n);
        }
    }
}

static void another_seed_holds_out_others(void **state)
{
    (void)state;
    const struct division one = {0.1, 1}, other = {0.1, 2};
    unsigned same = 0;
    for (uint64_t k = 0; k < 1000; k++)
        same += division_index(&one, PART_HOLDOUT, k) ==
                division_index(&other, PART_HOLDOUT, k);
    assert_true(same > 40 && same < 180); /* one in ten, within six deviations */
}

static void an_undivided_dataset_is_one_part(void **state)
{
    (void)state;
    const struct division whole = {0};
    assert_int_equal(division_parts(&whole), 1);
    assert_int_equal(division_count(&whole, 17, PART_TRAIN), 17);
    assert_int_equal(division_count(&whole, 17, PART_HOLDOUT), 0);
    assert_int_equal(division_index(&whole, PART_TRAIN, 5), 5);
    assert_int_equal(division_part(&whole, 5), PART_TRAIN);
}

static void what_names_no_part_has_read_all_of_them(void **state)
{
    (void)state;
    const struct division whole = {0}, divided = {0.1, 0};
    enum parts all = PARTS_UNNAMED;
    assert_true(division_resolve(&divided, PARTS_UNNAMED, &all));
    assert_int_equal(all, PARTS_BOTH);
    assert_true(division_resolve(&divided, PARTS_HOLDOUT, &all));
    assert_int_equal(all, PARTS_HOLDOUT);
    assert_true(division_resolve(&whole, PARTS_UNNAMED, &all));
    assert_int_equal(all, PARTS_TRAIN);
    assert_false(division_resolve(&whole, PARTS_HOLDOUT, &all));
    assert_false(division_resolve(&whole, PARTS_BOTH, &all));
    assert_int_equal(all, PARTS_TRAIN);
}

static void shares_out_of_range_divide_nothing(void **state)
{
    (void)state;
    static const double bad[] = {NAN, INFINITY, -0.1, 0x1p-21, 0.51, 1};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(division_valid(&(struct division){bad[i], 0}));
    assert_true(division_valid(&(struct division){0, 0}));
    assert_false(division_valid(&(struct division){0, 5}));
    assert_true(division_valid(&(struct division){0.5, 5}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_is_in_the_part_that_lists_it),
        cmocka_unit_test(one_record_of_each_stratum_is_held_out),
        cmocka_unit_test(the_draws_are_those_of_splitmix64),
        cmocka_unit_test(the_share_is_kept_to_one_record),
        cmocka_unit_test(another_seed_holds_out_others),
        cmocka_unit_test(an_undivided_dataset_is_one_part),
        cmocka_unit_test(what_names_no_part_has_read_all_of_them),
        cmocka_unit_test(shares_out_of_range_divide_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
