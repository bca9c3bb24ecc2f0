/* Goal: ranks divide all records and all parameters, each exactly once, in whole cells
 * and whole chunks; without other ranks, nothing is called. Method: many sizes of
 * groups and grids. */
#include "engine/dp/group.h"

#include "engine/noise/noise_chunk.h"
#include "tests/expect.h"

static void ranks_have_whole_cells_and_all_records(void **state)
{
    (void)state;
    for (uint64_t cells = 1; cells <= 19; cells++)
        for (unsigned size = 1; size <= cells; size++) {
            const struct grid grid = {.records = 1009, .cells = cells};
            size_t next = 0;
            for (unsigned rank = 0; rank < size; rank++) {
                const struct group group = {.rank = rank, .size = size};
                struct index_range own = group_records(&group, &grid);
                uint64_t cell = rank * cells / size;
                assert_int_equal(own.first, next);
                assert_int_equal(own.first, cell * grid.records / cells);
                assert_true(own.count > 0);
                next += own.count;
            }
            assert_int_equal(next, grid.records);
        }
}

static void slices_are_whole_chunks_and_all_parameters(void **state)
{
    (void)state;
    static const size_t dims[] = {1, NOISE_CHUNK, NOISE_CHUNK + 1, 9 * NOISE_CHUNK + 5};
    for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
        for (unsigned size = 1; size <= 12; size++) {
            const struct group group = {.size = size};
            size_t next = 0;
            for (unsigned rank = 0; rank < size; rank++) {
                struct span slice = group_slice(&group, rank, dims[d]);
                if (slice.count == 0)
                    continue;
                assert_int_equal(slice.first, next);
                assert_int_equal(slice.first % NOISE_CHUNK, 0);
                next += slice.count;
            }
            assert_int_equal(next, dims[d]);
        }
}

/* Also with a grid without cells, as public sums have it. */
static void alone_everything_is_ones_own(void **state)
{
    (void)state;
    const struct grid grid = {.records = 77};
    int64_t sum[] = {3, -4};
    float vector[] = {1.5F, 2.5F};
    struct index_range own = group_records(&group_alone, &grid);
    assert_int_equal(own.first, 0);
    assert_int_equal(own.count, 77);
    group_meet(&group_alone, sum, 2);
    group_collect(&group_alone, sum, 2);
    group_tell(&group_alone, sum, sizeof sum);
    group_gather(&group_alone, vector, 2);
    assert_true(sum[0] == 3 && sum[1] == -4 && vector[1] == 2.5F);
    assert_true(group_all(&group_alone, true) && !group_all(&group_alone, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_have_whole_cells_and_all_records),
        cmocka_unit_test(slices_are_whole_chunks_and_all_parameters),
        cmocka_unit_test(alone_everything_is_ones_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
