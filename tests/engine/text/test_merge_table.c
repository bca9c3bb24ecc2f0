/* Goal: a pair has the rank of its merge, every other pair has none, and two merges of one
 * pair are refused. Method: all pairs of a small vocabulary against the list itself. */
#include "tests/expect.h"

#include "engine/text/merge_table.h"

enum { VOCABULARY = 23, MERGES = 150 };

/* Different pairs in no order. */
static struct merge merge_of(uint32_t rank)
{
    uint32_t pair = (rank * 197 + 31) % (VOCABULARY * VOCABULARY);
    return (struct merge){pair / VOCABULARY, pair % VOCABULARY, rank % VOCABULARY};
}

static uint32_t rank_of(uint32_t left, uint32_t right)
{
    for (uint32_t i = 0; i < MERGES; i++)
        if (merge_of(i).left == left && merge_of(i).right == right)
            return i;
    return MERGE_ABSENT;
}

static void every_pair_has_its_rank(void **state)
{
    struct merge_table *table = NULL;
    struct merge merges[MERGES];
    uint32_t repeated[2];
    (void)state;
    for (uint32_t i = 0; i < MERGES; i++)
        merges[i] = merge_of(i);
    assert_int_equal(merge_table_create(&table, merges, MERGES, VOCABULARY, repeated),
                     ST_OK);
    for (uint32_t left = 0; left < VOCABULARY; left++)
        for (uint32_t right = 0; right < VOCABULARY; right++)
            assert_int_equal(merge_table_find(table, left, right),
                             rank_of(left, right));
    for (uint32_t i = 0; i < MERGES; i++)
        assert_memory_equal(merge_table_at(table, i), &merges[i], sizeof *merges);
    merge_table_destroy(table);
}

static void a_table_may_be_empty(void **state)
{
    struct merge_table *table = NULL;
    uint32_t repeated[2];
    (void)state;
    assert_int_equal(merge_table_create(&table, NULL, 0, VOCABULARY, repeated), ST_OK);
    assert_int_equal(merge_table_find(table, 0, 0), MERGE_ABSENT);
    assert_int_equal(merge_table_find(table, VOCABULARY - 1, 5), MERGE_ABSENT);
    merge_table_destroy(table);
    merge_table_destroy(NULL);
}

static void a_pair_that_is_there_twice_is_refused_by_its_ranks(void **state)
{
    struct merge merges[] = {{3, 4, 5}, {1, 2, 6}, {3, 3, 7}, {1, 3, 8}, {1, 2, 9}};
    struct merge_table *table = NULL;
    uint32_t repeated[2] = {9, 9};
    (void)state;
    assert_int_equal(merge_table_create(&table, merges, 5, VOCABULARY, repeated),
                     ST_INVALID);
    assert_null(table);
    assert_int_equal(repeated[0], 1);
    assert_int_equal(repeated[1], 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_has_its_rank),
        cmocka_unit_test(a_table_may_be_empty),
        cmocka_unit_test(a_pair_that_is_there_twice_is_refused_by_its_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
