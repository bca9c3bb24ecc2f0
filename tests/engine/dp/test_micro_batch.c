/* Goal: Theorem 1 of noise.md holds of the code that runs: one record moves the integer
 * sum by at most Delta_Z, whatever the kernel. Method: the engine's own pipeline with
 * and without a record, on generic data and on data made to sit on a kink, where a
 * product that rounds rows unlike moves the sum of the others by many clip norms. */
#include "engine/dp/micro_batch.h"

#include <string.h>

#include "engine/rounding/blas.h"
#include "engine/nn/workspace.h"
#include "engine/nn/layers/registry.h"
#include "tests/expect.h"
#include "tests/engine/kernels_fixture.h"
#include "tests/engine/dp/micro_batch_fixture.h"

static double bound(const struct bench *bench)
{
    return 1 + bench->grid.inflation +
           bench->grid.roundings * sqrt((double)bench->dim) / bench->grid.scale;
}

static size_t cell_of(const struct bench *bench, uint64_t i)
{
    size_t cell = 0;
    while (grid_cell_start(&bench->grid, cell + 1) <= i)
        cell++;
    return cell;
}

static void check_moves(struct bench *bench)
{
    struct row_classes rows;
    fill_generic(bench);
    assert_int_equal(
        row_classes_find(&rows, bench->network, (struct heights){32, 144}, NULL),
        ST_OK);
    bench_rows(bench, rows);
    int64_t *with = calloc(bench->dim, sizeof *with),
            *part = calloc(bench->dim, sizeof *part);
    int64_t *without = calloc(bench->dim, sizeof *without);
    double most = 0;
    for (size_t i = 0; i < bench->records; i += 13) {
        size_t cell = cell_of(bench, i);
        sum_without(bench, SIZE_MAX, SIZE_MAX, with);
        sum_without(bench, i, SIZE_MAX, without);
        double all = moved(bench, with, without);
        assert_true(all <= bound(bench));
        most = fmax(most, all);
        /* Exactly the same integers move when the other cells are left out. */
        for (size_t j = 0; j < bench->dim; j++)
            with[j] -= without[j];
        sum_without(bench, SIZE_MAX, cell, part);
        sum_without(bench, i, cell, without);
        for (size_t j = 0; j < bench->dim; j++)
            assert_true(part[j] - without[j] == with[j]);
    }
    assert_true(most > 0.99); /* some record was clipped: the bound is nearly reached */
    free(with);
    free(part);
    free(without);
}

static void one_record_moves_its_own_cell_by_at_most_the_bound(void **state)
{
    (void)state;
    static const uint32_t shape[] = {57, 24, 10};
    struct bench bench;
    bench_init(&bench, shape, 421);
    check_moves(&bench);
    bench_fini(&bench);
}

/* Its mask goes with it: nobody else's depends on who is in the batch. */
static void one_record_moves_no_other_through_norms_and_masks(void **state)
{
    (void)state;
    const struct small_residual sizes = {8, 8, 2, true, 0.5, &layer_flatten};
    struct bench bench;
    bench_make(&bench, small_network_residual(&sizes), 239);
    check_moves(&bench);
    bench_fini(&bench);
}

static void a_record_that_is_not_finite_adds_nothing(void **state)
{
    (void)state;
    static const uint32_t shape[] = {20, 16, 4};
    enum { RECORDS = 200, BAD = 77 };
    struct bench bench;
    bench_init(&bench, shape, RECORDS);
    fill_generic(&bench);
    bench_rows(&bench, row_classes_alike(16));
    int64_t *with = calloc(bench.dim, sizeof *with);
    int64_t *without = calloc(bench.dim, sizeof *without);
    for (size_t j = 0; j < 20; j++)
        bench.x[BAD * 20 + j] = j % 2 == 0 ? 3e38F : -3e38F;
    sum_without(&bench, SIZE_MAX, SIZE_MAX, with);
    sum_without(&bench, BAD, SIZE_MAX, without);
    /* It still takes a row, so its cell may round otherwise. */
    assert_true(moved(&bench, with, without) <= bound(&bench) - 1);
    free(with);
    free(without);
    bench_fini(&bench);
}

/* The hidden unit whose sum for the record in all rows is greatest above that of row 0,
 * and by how much; alike rows give 0. */
static float widest_gap(const struct bench *bench, size_t block, size_t *unit)
{
    struct workspace *workspace;
    float widest = 0;
    assert_int_equal(workspace_create(&workspace, bench->network, block, NULL), ST_OK);
    for (size_t r = 0; r < block; r++)
        memcpy(workspace_input(workspace) + r * workspace_stride(workspace), bench->x,
               bench->data.features * sizeof(float));
    workspace_forward(workspace, bench->parameters, block);
    struct factors f = workspace_factors(workspace, 1);
    *unit = 0;
    for (size_t u = 0; u < f.inputs; u++)
        for (size_t r = 0; r < block; r++)
            if (f.a[u] > 0 && f.a[r * f.a_stride + u] - f.a[u] > widest) {
                widest = f.a[r * f.a_stride + u] - f.a[u];
                *unit = u;
            }
    workspace_destroy(workspace);
    return widest;
}

/* Sets the unit's bias so that the record is exactly at the kink in row 0, and lets the
 * unit decide the gradient. */
static void sit_on_the_kink(struct bench *bench, size_t block, size_t unit)
{
    struct workspace *workspace;
    assert_int_equal(workspace_create(&workspace, bench->network, block, NULL), ST_OK);
    for (size_t r = 0; r < block; r++)
        memcpy(workspace_input(workspace) + r * workspace_stride(workspace), bench->x,
               bench->data.features * sizeof(float));
    workspace_forward(workspace, bench->parameters, block);
    struct factors first = workspace_factors(workspace, 0);
    struct factors second = workspace_factors(workspace, 1);
    bench->parameters[first.bias + unit] -= second.a[unit];
    bench->parameters[second.weight + unit] = 4000;
    workspace_destroy(workspace);
}

static void rows_that_round_unlike_are_kept_apart(void **state)
{
    (void)state;
    static const uint32_t shape[] = {784, 64, 3};
    enum { RECORDS = 128, BLOCK = 96 };
    struct bench bench;
    size_t unit;
    bench_init(&bench, shape, RECORDS);
    fill_generic(&bench);
    /* Record i stands in row i, or in row i - 1 without record 0. Every twelfth moves
     * from the last row of one class of the AVX2 kernels to the first of the other; it
     * will sit on the kink. The others are half as long and well below it. */
    for (size_t i = 0; i < RECORDS; i++) {
        float size = i == 0 || i % 12 == 6 ? 1 : 0.5F;
        for (size_t j = 0; j < 784; j++)
            bench.x[i * 784 + j] = size * (float)sin((double)(j * j) * 0.61);
        bench.targets[i] = 1;
    }
    memset(bench.parameters + network_tensor(bench.network, 1)->offset, 0,
           64 * sizeof(float)); /* then what is added to the sum is one bias, exactly */
    bool unlike = widest_gap(&bench, BLOCK, &unit) > 0;
    sit_on_the_kink(&bench, BLOCK, unit);

    int64_t *with = calloc(bench.dim, sizeof *with);
    int64_t *without = calloc(bench.dim, sizeof *without);
    bench_rows(&bench, row_classes_alike(BLOCK)); /* the rule broken */
    sum_without(&bench, SIZE_MAX, SIZE_MAX, with);
    sum_without(&bench, 0, SIZE_MAX, without);
    double broken = moved(&bench, with, without);
    print_message(
        "%s: one record moves the sum by %.2f C when rows are taken as alike\n",
        blas_kernel(), broken);
    if (unlike)
        assert_true(broken > 5);
    else
        assert_true(broken <= bound(&bench));

    for (size_t tallest = BLOCK; tallest <= 2 * BLOCK; tallest += BLOCK) {
        struct row_classes rows;
        assert_int_equal(row_classes_find(&rows, bench.network,
                                          (struct heights){BLOCK, tallest}, NULL),
                         ST_OK);
        assert_int_equal(rows.count > 1, unlike);
        bench_rows(&bench, rows);
        for (size_t absent = 0; absent < RECORDS; absent += 9) {
            sum_without(&bench, SIZE_MAX, SIZE_MAX, with);
            sum_without(&bench, absent, SIZE_MAX, without);
            assert_true(moved(&bench, with, without) <= bound(&bench));
        }
    }
    free(with);
    free(without);
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
        cmocka_unit_test(one_record_moves_its_own_cell_by_at_most_the_bound),
        cmocka_unit_test(one_record_moves_no_other_through_norms_and_masks),
        cmocka_unit_test(a_record_that_is_not_finite_adds_nothing),
        cmocka_unit_test(rows_that_round_unlike_are_kept_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
