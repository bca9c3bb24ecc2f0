/* Goal: no sum depends on how a micro_batch cuts a batch into micro-batches, with any
 * kernel. Method: the engine's own pipeline with buffers of many sizes, bit for bit. */
#include "engine/dp/micro_batch.h"

#include <string.h>

#include "engine/nn/workspace.h"
#include "engine/rounding/blas.h"
#include "tests/expect.h"
#include "tests/engine/gemm_fixture.h"
#include "tests/engine/dp/micro_batch_fixture.h"

static void a_cell_too_long_for_the_buffers_is_taken_in_parts(void **state)
{
    (void)state;
    static const uint32_t shape[] = {20, 16, 4};
    struct bench bench;
    bench_init(&bench, shape, 700);
    fill_generic(&bench);
    bench.grid.cells = 1; /* a cell of 700 where no more than 512 rows were planned */
    int64_t *parts = calloc(bench.dim, sizeof *parts);
    int64_t *whole = calloc(bench.dim, sizeof *whole);
    bench_rows(&bench);
    sum_without(&bench, SIZE_MAX, SIZE_MAX, parts);
    bench.grid.cell_rows_max = 700;
    bench_rows(&bench);
    sum_without(&bench, SIZE_MAX, SIZE_MAX, whole);
    /* 700 terms of norm at most 1: another order changes roundings of 2^-24. */
    assert_true(moved(&bench, parts, whole) <= 2 * 700 * 700 * 0x1p-24);
    memset(whole, 0, bench.dim * sizeof *whole);
    assert_true(moved(&bench, parts, whole) > 1);
    free(parts);
    free(whole);
    bench_fini(&bench);
}

/* Room for the largest cell, and `more` rows in addition. */
static size_t capacity_from(const struct bench *bench, size_t more)
{
    size_t rows = bench->grid.cell_rows_max + more;
    return (rows + WORKSPACE_ROWS_STEP) / WORKSPACE_ROWS_STEP * WORKSPACE_ROWS_STEP;
}

/* Cells share micro-batches if there is room; the sums of a pass do not depend on it,
 * bit for bit. */
static void where_a_micro_batch_ends_changes_no_sum(void **state)
{
    (void)state;
    static const uint32_t shape[] = {784, 64, 10};
    enum { RECORDS = 1100 };
    struct bench bench;
    bench_init(&bench, shape, RECORDS);
    fill_generic(&bench);
    int64_t *sums[2];
    for (size_t k = 0; k < 2; k++)
        sums[k] = calloc(bench.dim, sizeof *sums[k]);
    for (size_t room = 0; room < 6; room++) {
        bench_worker(&bench, capacity_from(&bench, 170 * room));
        sum_without(&bench, SIZE_MAX, SIZE_MAX, sums[room > 0]);
        assert_memory_equal(sums[room > 0], sums[0], bench.dim * sizeof *sums[0]);
    }
    for (size_t k = 0; k < 2; k++)
        free(sums[k]);
    bench_fini(&bench);
}

/* The same for every way of clipping: micro-batches of any size give the same sum. */
static void no_way_of_clipping_knows_where_a_micro_batch_ends(void **state)
{
    (void)state;
    static const uint32_t shape[] = {20, 16, 4};
    enum { RECORDS = 2000, CAPACITIES = 4 };
    const struct automatic_clip automatic = {
        .clip_norm = 1, .gamma = 0.01, .spread = 1};
    const struct flat_clip layer = {.clip_norm = sqrt(0.5), .spread = 1};
    struct bench bench;
    bench_init(&bench, shape, RECORDS);
    fill_generic(&bench);
    const struct batch_sum passes[] = {
        {.grid = &bench.grid, .clip = clip_flat, .clip_context = &bench.clip},
        {.grid = &bench.grid, .clip = clip_automatic, .clip_context = &automatic},
        {.grid = &bench.grid,
         .clip = clip_flat,
         .clip_context = &layer,
         .by_layer = true}};
    int64_t *first = calloc(bench.dim, sizeof *first);
    for (size_t p = 0; p < 3; p++)
        for (size_t c = 0; c < CAPACITIES; c++) {
            struct task task = bench_task(&bench, &passes[p]);
            bench_draw(&bench, SIZE_MAX);
            assert_true(bench.batch.piece_count > 8);
            bench_worker(&bench, capacity_from(&bench, 480 * c));
            memset(bench.reduction.sum, 0, bench.dim * sizeof *bench.reduction.sum);
            micro_batch_run(bench.micro_batch, &task,
                            (struct micro_batch_share){.end = bench.batch.piece_count});
            if (c == 0)
                memcpy(first, bench.reduction.sum, bench.dim * sizeof *first);
            assert_memory_equal(first, bench.reduction.sum, bench.dim * sizeof *first);
        }
    free(first);
    bench_fini(&bench);
}

static void the_flag_stops_a_pass_between_micro_batches(void **state)
{
    (void)state;
    static const uint32_t shape[] = {20, 16, 4};
    struct bench bench;
    atomic_bool cancel = true;
    bench_init(&bench, shape, 300);
    fill_generic(&bench);
    bench_rows(&bench);
    struct batch_sum sum = {
        .grid = &bench.grid, .clip = clip_flat, .clip_context = &bench.clip};
    struct task task = bench_task(&bench, &sum);
    task.cancel = &cancel;
    bench_draw(&bench, SIZE_MAX);
    micro_batch_run(bench.micro_batch, &task,
                    (struct micro_batch_share){.end = bench.batch.piece_count});
    for (size_t j = 0; j < bench.dim; j++)
        assert_true(bench.reduction.sum[j] == 0);
    bench_fini(&bench);
}

int main(int argc, char **argv)
{
    int result;
    (void)argc;
    if (!kernels_chosen(argv, &result))
        return result;
    blas_use_one_thread();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_too_long_for_the_buffers_is_taken_in_parts),
        cmocka_unit_test(where_a_micro_batch_ends_changes_no_sum),
        cmocka_unit_test(no_way_of_clipping_knows_where_a_micro_batch_ends),
        cmocka_unit_test(the_flag_stops_a_pass_between_micro_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
