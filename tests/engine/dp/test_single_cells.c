/* Goal: with cells of one unit each unit adds its own vector, rounded by itself, and
 * moves the sum by at most that vector's length (Theorem 1 of noise.md with M = 1), with
 * every kernel. Method: the engine's pipeline against gradients that a small workspace
 * computes and this file rounds, record by record; with and without a unit. */
#include "engine/dp/micro_batch.h"

#include <math.h>
#include <string.h>

#include "engine/dp/cell_size.h"
#include "engine/nn/workspace.h"
#include "engine/rounding/blas.h"
#include "tests/expect.h"
#include "tests/engine/gemm_fixture.h"
#include "tests/engine/dp/person_fixture.h"

/* to += the clipped gradient of record i by itself, each coordinate rounded to the
 * grid. */
static void add_rounded(const struct bench *bench, size_t i, int64_t *to)
{
    struct workspace *workspace;
    float factor,
        *block = aligned_alloc(64, (network_tile_floats_max(bench->network) + 16) / 16 *
                                       16 * sizeof *block);
    size_t features = bench->data.features;
    assert_int_equal(workspace_create(&workspace, bench->network, 16, NULL), ST_OK);
    memcpy(workspace_input(workspace), bench->x + i * features,
           features * sizeof *bench->x);
    workspace_classes(workspace)[0] = bench->targets[i];
    workspace_forward(workspace, bench->parameters, 1);
    workspace_loss(workspace);
    workspace_backward(workspace, bench->parameters);
    workspace_measure(workspace, NULL);
    clip_flat(&factor,
              &(struct measures){.norms = workspace_norms(workspace),
                                 .spreads = workspace_spreads(workspace),
                                 .losses = workspace_losses(workspace),
                                 .count = 1},
              &bench->clip);
    workspace_scale(workspace, &factor);
    for (size_t t = 0; t < network_tile_count(bench->network); t++) {
        struct tile tile = network_tile(bench->network, t);
        workspace_sum(workspace, t, (struct row_range){0, 1}, block);
        for (size_t j = 0; j < tile.count; j++)
            to[tile.offset + j] += llrint((double)block[j] * bench->grid.scale);
    }
    workspace_destroy(workspace);
    free(block);
}

/* Takes ownership of network. */
static void compare_with_rounded(struct network *network, size_t records)
{
    struct bench bench;
    bench_make(&bench, network, records);
    fill_generic(&bench);
    bench_plan(&bench, records, true);
    assert_true(grid_is_single(&bench.grid));
    int64_t *sum = calloc(bench.dim, sizeof *sum),
            *expected = calloc(bench.dim, sizeof *expected);
    for (size_t i = 0; i < records; i++)
        add_rounded(&bench, i, expected);
    for (size_t capacity = 16; capacity < 2 * records; capacity += 48) {
        bench_worker(&bench, capacity);
        sum_without(&bench, SIZE_MAX, SIZE_MAX, sum);
        assert_memory_equal(sum, expected, bench.dim * sizeof *sum);
    }
    double scale = bench.grid.scale; /* larger cells add in floats before they round */
    bench_plan(&bench, records, false);
    bench.grid.scale = scale;
    bench_rows(&bench);
    sum_without(&bench, SIZE_MAX, SIZE_MAX, sum);
    assert_memory_not_equal(sum, expected, bench.dim * sizeof *sum);
    free(sum);
    free(expected);
    bench_fini(&bench);
}

static const struct small_residual sizes = {8, 8, 2, true, 0, &layer_flatten};

static void the_sum_is_that_of_the_records_rounded_one_by_one(void **state)
{
    (void)state;
    compare_with_rounded(small_network_dense(57, 24, 10), 150);
    compare_with_rounded(small_network_residual(&sizes), 60);
}

/* A unit moves the sum by the same amount in every batch, and at most its clip
 * norm and the rounding of one vector. */
static void check_moves(struct network *network, size_t units)
{
    static struct people people;
    struct bench *bench = &people.bench;
    people_make(&people, network, units);
    bench_plan(bench, units, true);
    bench_rows(bench);
    size_t size = bench->dim * sizeof(int64_t);
    int64_t *with = malloc(size), *without = malloc(size), *alone = malloc(size);
    double most = 0,
           limit = (1 + 0x1p-23) + sqrt((double)bench->dim) / 2 / bench->grid.scale;
    assert_true(limit <= bound(bench)); /* what the plan covers */
    sum_without(bench, SIZE_MAX, SIZE_MAX, with);
    for (size_t u = 0; u < units; u += 3) {
        sum_without(bench, u, SIZE_MAX, without);
        sum_without(bench, SIZE_MAX, u, alone);
        for (size_t j = 0; j < bench->dim; j++)
            assert_true(with[j] - without[j] == alone[j]);
        double by = moved(bench, with, without);
        assert_true(by <= limit);
        most = fmax(most, by);
    }
    assert_true(most > 0.99);
    free(with);
    free(without);
    free(alone);
    people_fini(&people);
}

static void a_unit_moves_the_sum_by_its_own_vector(void **state)
{
    (void)state;
    for (size_t unit_rows = 1; unit_rows <= UNIT_ROWS_MAX; unit_rows *= 4)
        check_moves(small_network_dense_of_units(57, 24, 10, unit_rows), 61);
    check_moves(small_network_residual_of_units(&sizes, 1), 47);
    check_moves(small_network_residual_of_units(&sizes, 4), 47);
}

int main(int argc, char **argv)
{
    int result;
    (void)argc;
    if (!kernels_chosen(argv, &result))
        return result;
    blas_use_one_thread();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sum_is_that_of_the_records_rounded_one_by_one),
        cmocka_unit_test(a_unit_moves_the_sum_by_its_own_vector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
