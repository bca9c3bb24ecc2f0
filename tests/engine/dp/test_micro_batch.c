/* Goal: Theorem 1 of noise.md holds for the code that runs: one record moves the
 * integer sum by at most Delta_Z, with every kernel. Method: the engine's own pipeline
 * with and without a record, on generic data and on data made to be exactly on a kink:
 * there a product that rounds rows differently moves the sum of the other records by
 * many clip norms. */
#include "engine/dp/micro_batch.h"

#include <string.h>

#include "engine/gemm/gemm_portable.h"
#include "engine/rounding/blas.h"
#include "engine/nn/workspace.h"
#include "engine/nn/layers/registry.h"
#include "tests/expect.h"
#include "tests/engine/gemm_fixture.h"
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
    fill_generic(bench);
    bench_rows(bench);
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
        /* The same integers move when the other cells are left out. */
        for (size_t j = 0; j < bench->dim; j++)
            with[j] -= without[j];
        sum_without(bench, SIZE_MAX, cell, part);
        sum_without(bench, i, cell, without);
        for (size_t j = 0; j < bench->dim; j++)
            assert_true(part[j] - without[j] == with[j]);
    }
    assert_true(most > 0.99); /* a record was clipped: the bound is nearly reached */
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

/* A record's mask goes with it: no other record's mask depends on who is in the
 * batch. */
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
    bench_rows(&bench);
    int64_t *with = calloc(bench.dim, sizeof *with);
    int64_t *without = calloc(bench.dim, sizeof *without);
    for (size_t j = 0; j < 20; j++)
        bench.x[BAD * 20 + j] = j % 2 == 0 ? 3e38F : -3e38F;
    sum_without(&bench, SIZE_MAX, SIZE_MAX, with);
    sum_without(&bench, BAD, SIZE_MAX, without);
    /* It still takes a row, so its cell may round differently. */
    assert_true(moved(&bench, with, without) <= bound(&bench) - 1);
    free(with);
    free(without);
    bench_fini(&bench);
}

/* ---- a kernel that rounds by position ---- */

enum { PLACES = 12, PROBE_ROWS = 48 };

/* Adds the terms of a tile's last rows in the opposite order, like a BLAS that sums
 * some rows in a different tree. */
static void multiply_by_place(const struct product_tile *tile)
{
    for (size_t i = 0; i < tile->rows; i++)
        for (size_t j = 0; j < tile->columns; j++) {
            float sum = tile->start == NULL ? 0 : tile->start[i * tile->start_row + j];
            for (size_t k = 0; k < tile->terms; k++) {
                size_t t = i < PLACES / 2 ? k : tile->terms - 1 - k;
                sum += tile->x[i * tile->x_row + t * tile->x_term] *
                       tile->y[t * tile->y_term + j];
            }
            tile->z[i * tile->z_row + j] = sum;
        }
}

static bool runs_anywhere(void)
{
    return true;
}

static struct gemm_kernel by_place = {.name = "by place",
                                      .rows = PLACES,
                                      .columns = PANEL_COLUMNS,
                                      .available = runs_anywhere,
                                      .multiply = multiply_by_place};

/* Computes the hidden units' output for record 0 in each row of a few tiles.
 *   activations  (PROBE_ROWS, units) */
static void hidden_of(const struct bench *bench, size_t units, float *activations)
{
    struct workspace *workspace;
    assert_int_equal(workspace_create(&workspace, bench->network, PROBE_ROWS, NULL),
                     ST_OK);
    for (size_t r = 0; r < PROBE_ROWS; r++)
        memcpy(workspace_input(workspace) + r * workspace_stride(workspace), bench->x,
               bench->data.features * sizeof(float));
    workspace_forward(workspace, bench->parameters, PROBE_ROWS);
    struct factors f = workspace_factors(workspace, 1);
    for (size_t r = 0; r < PROBE_ROWS; r++)
        memcpy(activations + r * units, f.a + r * f.a_stride,
               units * sizeof *activations);
    workspace_destroy(workspace);
}

/* Lowers the bias of one hidden unit until record 0 is off in the first rows of a tile
 * and on in the last rows, and makes that unit decide the gradient. */
static void sit_on_the_kink(struct bench *bench, size_t units)
{
    float *hidden = calloc(PROBE_ROWS * units, sizeof *hidden);
    float *bias = bench->parameters + network_tensor(bench->network, 1)->offset;
    const float *last = hidden + (PLACES - 1) * units;
    size_t unit = 0;
    hidden_of(bench, units, hidden);
    for (size_t u = 0; u < units; u++)
        bias[u] = -nextafterf(hidden[u], 0);
    for (int step = 0; step < 64; step++) {
        hidden_of(bench, units, hidden);
        for (unit = 0; unit < units && !(hidden[unit] == 0 && last[unit] > 0);)
            unit++;
        if (unit < units)
            break;
        for (size_t u = 0; u < units; u++)
            bias[u] = nextafterf(bias[u], -INFINITY);
    }
    assert_true(unit < units);
    float kink = bias[unit];
    memset(bias, 0, units * sizeof *bias);
    bias[unit] = kink;
    bench->parameters[network_tensor(bench->network, 2)->offset + unit] = 4000;
    free(hidden);
}

/* Returns the largest move of the sum when one of every few records is left out. */
static double most_moved(struct bench *bench, size_t step)
{
    int64_t *with = calloc(bench->dim, sizeof *with);
    int64_t *without = calloc(bench->dim, sizeof *without);
    double most = 0;
    sum_without(bench, SIZE_MAX, SIZE_MAX, with);
    for (size_t absent = 0; absent < bench->records; absent += step) {
        sum_without(bench, absent, SIZE_MAX, without);
        most = fmax(most, moved(bench, with, without));
    }
    free(with);
    free(without);
    return most;
}

static void rows_that_round_by_place_would_break_the_bound(void **state)
{
    (void)state;
    enum { RECORDS = 128, UNITS = 64, FEATURES = 784 };
    static const uint32_t shape[] = {FEATURES, UNITS, 3};
    struct bench bench;
    bench_init(&bench, shape, RECORDS);
    fill_generic(&bench);
    /* Record i is in row i, or in row i - 1 without record 0. One record of every tile
     * moves from the last row of one kind to the first row of the other; that record
     * will be on the kink. The others are half as long and well below it. */
    for (size_t i = 0; i < RECORDS; i++) {
        float size = i == 0 || i % PLACES == PLACES / 2 ? 1 : 0.5F;
        for (size_t j = 0; j < FEATURES; j++)
            bench.x[i * FEATURES + j] = size * (float)sin((double)(j * j) * 0.61);
        bench.targets[i] = 1;
    }
    memset(bench.parameters + network_tensor(bench.network, 1)->offset, 0,
           UNITS * sizeof(float));
    by_place.transpose = gemm_portable.transpose;
    product_chosen = &by_place;
    sit_on_the_kink(&bench, UNITS);
    bench_rows(&bench);
    double broken = most_moved(&bench, RECORDS);
    print_message("one record moves the sum by %.2f C where rows round by place\n",
                  broken);
    assert_true(broken > 5);
    product_chosen = NULL;
    assert_true(most_moved(&bench, 9) <= bound(&bench));
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
        cmocka_unit_test(rows_that_round_by_place_would_break_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
