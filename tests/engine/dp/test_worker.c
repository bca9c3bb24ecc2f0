/* Goal: Theorem 1 of NOISE.md holds of the code that runs: one record moves the integer
 * sum by at most Delta_Z, whatever the kernel. Method: the engine's own pipeline with
 * and without a record, on generic data and on data made to sit on a kink, where a
 * product that rounds rows unlike moves the sum of the others by many clip norms. */
#include "engine/dp/worker.h"

#include <string.h>

#include "engine/nn/blas.h"
#include "engine/nn/workspace.h"
#include "tests/expect.h"
#include "tests/engine/kernels.h"

static const uint8_t drop_key[STREAM_KEY_SIZE] = {0x5e, 0xed};

struct bench {
    struct network *network;
    struct matrix data;
    float *x, *parameters;
    uint32_t *targets;
    size_t dim, records;
    struct row_classes rows;
    struct grid grid;
    struct flat_clip clip;
    struct shared_sum sum;
    struct batch batch;
    struct worker *worker;
};

static void bench_make(struct bench *bench, const struct model_spec *model,
                       const uint32_t shape[3], size_t records)
{
    memset(bench, 0, sizeof *bench);
    assert_int_equal(network_create(&bench->network, model,
                                    (struct network_shape){shape[0], shape[2]}, NULL),
                     ST_OK);
    assert_true(network_spread(bench->network) == 1);
    bench->dim = network_parameters(bench->network);
    bench->records = records;
    bench->x = calloc(records * shape[0], sizeof *bench->x);
    bench->targets = calloc(records, sizeof *bench->targets);
    bench->parameters = calloc(bench->dim, sizeof *bench->parameters);
    network_init(bench->network, bench->parameters, 5);
    bench->data = (struct matrix){.records = records,
                                  .features = shape[0],
                                  .classes = shape[2],
                                  .element = ELEMENT_F32,
                                  .rows = bench->x,
                                  .targets = bench->targets};
    size_t tiles = network_tile_count(bench->network);
    bench->sum.sum = calloc(bench->dim, sizeof *bench->sum.sum);
    bench->sum.locks = calloc(tiles, sizeof *bench->sum.locks);
    for (size_t k = 0; k < tiles; k++)
        pthread_mutex_init(&bench->sum.locks[k], NULL);
    bench->clip = (struct flat_clip){.clip_norm = 1, .spread = 1};
    struct grid_demand demand = {.clip_norm = 1,
                                 .noise_multiplier = 1.1,
                                 .sampling_rate = 1,
                                 .records = records,
                                 .dim = bench->dim,
                                 .cell_mean = 128,
                                 .spread = 1};
    assert_int_equal(grid_plan(&bench->grid, &demand, NULL), ST_OK);
    assert_int_equal(batch_init(&bench->batch, records, bench->grid.cells, NULL),
                     ST_OK);
}

static void bench_init(struct bench *bench, const uint32_t shape[3], size_t records)
{
    struct layer_spec layers[] = {{.kind = LAYER_DENSE, .out = shape[1], .bias = true},
                                  {.kind = LAYER_RELU},
                                  {.kind = LAYER_DENSE, .out = shape[2], .bias = true}};
    struct model_spec model = {
        .layer_count = 3, .layers = layers, .loss = LOSS_SOFTMAX_CROSS_ENTROPY};
    bench_make(bench, &model, shape, records);
}

/* Convolutions with group norms, dropout and a residual on 8 x 8 images. */
static void bench_of_blocks(struct bench *bench, size_t records)
{
    static const uint32_t shape[] = {64, 8, 10};
    struct layer_spec conv = {.kind = LAYER_CONV2D,
                              .out = 8,
                              .bias = true,
                              .kernel_height = 3,
                              .kernel_width = 3,
                              .stride = 1,
                              .padding = 1,
                              .dilation = 1};
    struct layer_spec norm = {.kind = LAYER_GROUP_NORM, .groups = 2, .epsilon = 1e-5};
    struct layer_spec layers[] = {conv,
                                  norm,
                                  {.kind = LAYER_SOFTPLUS},
                                  {.kind = LAYER_RESIDUAL, .body = 4},
                                  conv,
                                  norm,
                                  {.kind = LAYER_GELU},
                                  {.kind = LAYER_DROPOUT, .rate = 0.5},
                                  {.kind = LAYER_FLATTEN},
                                  {.kind = LAYER_DENSE, .out = 10, .bias = true}};
    struct model_spec model = {.layer_count = sizeof layers / sizeof *layers,
                               .layers = layers,
                               .input = {8, 8, 1},
                               .loss = LOSS_SOFTMAX_CROSS_ENTROPY};
    bench_make(bench, &model, shape, records);
}

static void bench_rows(struct bench *bench, struct row_classes rows)
{
    size_t capacity = worker_capacity(&rows, bench->grid.cell_rows_max);
    worker_destroy(bench->worker);
    bench->rows = rows;
    assert_int_equal(
        worker_create(&bench->worker, bench->network, &rows, capacity, false, NULL),
        ST_OK);
}

static void bench_fini(struct bench *bench)
{
    for (size_t k = 0; k < network_tile_count(bench->network); k++)
        pthread_mutex_destroy(&bench->sum.locks[k]);
    worker_destroy(bench->worker);
    batch_fini(&bench->batch);
    network_destroy(bench->network);
    free(bench->sum.sum);
    free(bench->sum.locks);
    free(bench->x);
    free(bench->targets);
    free(bench->parameters);
}

/* out = the sum over all records but absent, of cell alone or (SIZE_MAX) of all cells.
 */
static void sum_without(struct bench *bench, size_t absent, size_t cell, int64_t *out)
{
    struct pass pass = {.grid = &bench->grid, .weigh = clip_flat, .rule = &bench->clip};
    struct task task = {.network = bench->network,
                        .data = &bench->data,
                        .parameters = bench->parameters,
                        .batch = &bench->batch,
                        .pass = &pass,
                        .drop_key = drop_key,
                        .sum = &bench->sum};
    size_t count = 0;
    for (uint32_t i = 0; i < bench->records; i++)
        if (i != absent)
            bench->batch.indices[count++] = i;
    batch_drawn(&bench->batch, count);
    batch_cut_cells(&bench->batch, &bench->grid);
    struct worker_share share = {.end = bench->batch.piece_count, .tile = 1};
    if (cell != SIZE_MAX)
        share = (struct worker_share){.first = cell, .end = cell + 1};
    memset(bench->sum.sum, 0, bench->dim * sizeof *bench->sum.sum);
    worker_run(bench->worker, &task, share);
    memcpy(out, bench->sum.sum, bench->dim * sizeof *out);
}

/* ||a - b|| in units of G C. */
static double moved(const struct bench *bench, const int64_t *a, const int64_t *b)
{
    double squares = 0;
    for (size_t j = 0; j < bench->dim; j++)
        squares += (double)(a[j] - b[j]) * (double)(a[j] - b[j]);
    return sqrt(squares) / bench->grid.scale;
}

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

static void fill_generic(struct bench *bench)
{
    size_t features = bench->data.features;
    for (size_t i = 0; i < bench->records; i++) {
        float size = (float)exp2(sin((double)i) * 6); /* some clipped, some not */
        for (size_t j = 0; j < features; j++)
            bench->x[i * features + j] =
                size * (float)sin((double)(i * 31 + j * j) * 0.61);
        bench->targets[i] = (uint32_t)(i * 7 % bench->data.classes);
    }
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

/* Its mask goes with it: nobody else's hangs on who is in the batch. */
static void one_record_moves_no_other_through_norms_and_masks(void **state)
{
    (void)state;
    struct bench bench;
    bench_of_blocks(&bench, 239);
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
    bench_rows(&bench, row_classes_alike(16));
    sum_without(&bench, SIZE_MAX, SIZE_MAX, parts);
    bench.grid.cell_rows_max = 700;
    bench_rows(&bench, row_classes_alike(16));
    sum_without(&bench, SIZE_MAX, SIZE_MAX, whole);
    /* 700 terms, each at most 1 in norm, rounded at 2^-24 apart from the order. */
    assert_true(moved(&bench, parts, whole) <= 2 * 700 * 700 * 0x1p-24);
    memset(whole, 0, bench.dim * sizeof *whole);
    assert_true(moved(&bench, parts, whole) > 1);
    free(parts);
    free(whole);
    bench_fini(&bench);
}

/* Cells share micro-batches as room allows; the sums of a pass, bit for bit, do not
 * show how. */
static void where_a_micro_batch_ends_changes_no_sum(void **state)
{
    (void)state;
    static const uint32_t shape[] = {784, 64, 10};
    static const struct heights wanted[] = {{32, 32}, {32, 480}};
    enum { RECORDS = 1100 };
    struct bench bench;
    bench_init(&bench, shape, RECORDS);
    fill_generic(&bench);
    int64_t *sums[2];
    for (size_t k = 0; k < 2; k++)
        sums[k] = calloc(bench.dim, sizeof *sums[k]);
    for (size_t k = 0; k < 2; k++) {
        struct row_classes rows;
        assert_int_equal(row_classes_find(&rows, bench.network, wanted[k], NULL),
                         ST_OK);
        assert_int_equal(rows.tallest > rows.block, k == 1);
        size_t least = row_classes_reach(&rows, bench.grid.cell_rows_max);
        for (size_t room = 0; room < 6; room++) {
            size_t capacity =
                (least + 170 * room + rows.block) / rows.block * rows.block;
            worker_destroy(bench.worker);
            assert_int_equal(worker_create(&bench.worker, bench.network, &rows,
                                           capacity, false, NULL),
                             ST_OK);
            sum_without(&bench, SIZE_MAX, SIZE_MAX, sums[room > 0]);
            assert_memory_equal(sums[room > 0], sums[0], bench.dim * sizeof *sums[0]);
        }
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
    static const struct heights wanted = {32, 480};
    const struct automatic_clip automatic = {
        .clip_norm = 1, .gamma = 0.01, .spread = 1};
    const struct flat_clip layer = {.clip_norm = sqrt(0.5), .spread = 1};
    struct bench bench;
    bench_init(&bench, shape, RECORDS);
    fill_generic(&bench);
    const struct pass passes[] = {
        {.grid = &bench.grid, .weigh = clip_flat, .rule = &bench.clip},
        {.grid = &bench.grid, .weigh = clip_automatic, .rule = &automatic},
        {.grid = &bench.grid, .weigh = clip_flat, .rule = &layer, .by_layer = true}};
    int64_t *first = calloc(bench.dim, sizeof *first);
    struct row_classes rows;
    assert_int_equal(row_classes_find(&rows, bench.network, wanted, NULL), ST_OK);
    size_t least = row_classes_reach(&rows, bench.grid.cell_rows_max);
    for (size_t p = 0; p < 3; p++)
        for (size_t c = 0; c < CAPACITIES; c++) {
            struct task task = {.network = bench.network,
                                .data = &bench.data,
                                .parameters = bench.parameters,
                                .batch = &bench.batch,
                                .pass = &passes[p],
                                .sum = &bench.sum};
            for (uint32_t i = 0; i < RECORDS; i++)
                bench.batch.indices[i] = i;
            batch_drawn(&bench.batch, RECORDS);
            batch_cut_cells(&bench.batch, &bench.grid);
            assert_true(bench.batch.piece_count > 8);
            worker_destroy(bench.worker);
            size_t capacity = (least + 480 * c + rows.block) / rows.block * rows.block;
            assert_int_equal(worker_create(&bench.worker, bench.network, &rows,
                                           capacity, false, NULL),
                             ST_OK);
            memset(bench.sum.sum, 0, bench.dim * sizeof *bench.sum.sum);
            worker_run(bench.worker, &task,
                       (struct worker_share){.end = bench.batch.piece_count});
            if (c == 0)
                memcpy(first, bench.sum.sum, bench.dim * sizeof *first);
            assert_memory_equal(first, bench.sum.sum, bench.dim * sizeof *first);
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
    bench_rows(&bench, row_classes_alike(16));
    struct pass pass = {.grid = &bench.grid, .weigh = clip_flat, .rule = &bench.clip};
    struct task task = {.network = bench.network,
                        .data = &bench.data,
                        .parameters = bench.parameters,
                        .batch = &bench.batch,
                        .pass = &pass,
                        .sum = &bench.sum,
                        .cancel = &cancel};
    for (uint32_t i = 0; i < 300; i++)
        bench.batch.indices[i] = i;
    batch_drawn(&bench.batch, 300);
    batch_cut_cells(&bench.batch, &bench.grid);
    worker_run(bench.worker, &task,
               (struct worker_share){.end = bench.batch.piece_count});
    for (size_t j = 0; j < bench.dim; j++)
        assert_true(bench.sum.sum[j] == 0);
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
        cmocka_unit_test(a_cell_too_long_for_the_buffers_is_taken_in_parts),
        cmocka_unit_test(where_a_micro_batch_ends_changes_no_sum),
        cmocka_unit_test(no_way_of_clipping_knows_where_a_micro_batch_ends),
        cmocka_unit_test(the_flag_stops_a_pass_between_micro_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
