/* Goal: what a unit adds to the sum of a round is as long as is charged, whatever its
 * rows are, and is the clipped residual in its own bin. Method: a float64 sum of clipped
 * residuals, record by record; persons whose rows share a bin, or do not, with residuals
 * far beyond the clip norm; and every person's own contribution, as integers. */
#include "tests/expect.h"

#include <math.h>
#include <string.h>

#include "engine/dp/bin_sum.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/layers/step_functions.h"
#include "engine/noise/grid.h"

enum { COUNT = 32, FEATURES = 4, CELLS = HISTOGRAM_CELLS, BINS = 5 };

static const double scale = 0x1p30;

struct bench {
    struct layer_spec layer;
    struct model_spec model;
    struct network *network;
    struct workspace *workspace;
    float *parameters;
    float weights[COUNT];
    uint32_t bins[CELLS];
    struct bin_sum sum;
};

/* A column of numbers and one of three words; bins are stretches of the numbers. */
static void bench_make(struct bench *bench, enum loss loss, uint32_t outputs,
                       size_t unit_rows)
{
    struct network_shape shape = {FEATURES, outputs};
    *bench = (struct bench){.layer = {.kind = &layer_step_functions, .out = outputs}};
    bench->model = (struct model_spec){.columns = {.count = 2, .widths = {1, 3}},
                                       .layer_count = 1,
                                       .layers = &bench->layer,
                                       .loss = loss};
    assert_int_equal(
        network_create_of_units(&bench->network, &bench->model, shape, unit_rows, NULL),
        ST_OK);
    assert_int_equal(workspace_create(&bench->workspace, bench->network, COUNT, NULL),
                     ST_OK);
    bench->parameters = calloc(network_floats(bench->network), sizeof(float));
    for (uint32_t k = 0; k < CELLS; k++)
        bench->bins[k] = k * BINS / CELLS;
    for (size_t i = 0; i < COUNT; i++)
        bench->weights[i] = 1;
    bench->sum = (struct bin_sum){.histograms = step_functions_of(bench->network),
                                  .bins = bench->bins,
                                  .bin_count = BINS,
                                  .clip_norm = 0.5,
                                  .scale = scale};
    assert_non_null(bench->sum.histograms);
}

static void bench_fini(struct bench *bench)
{
    workspace_destroy(bench->workspace);
    network_destroy(bench->network);
    free(bench->parameters);
}

static float number_of(size_t i)
{
    return (float)sin(2.7 * (double)i);
}

/* Puts rows into the workspace; the targets of a regression are far from 0. */
static void bench_fill(struct bench *bench)
{
    float *x = workspace_input(bench->workspace);
    size_t stride = workspace_stride(bench->workspace);
    for (size_t i = 0; i < COUNT; i++) {
        memset(x + i * stride, 0, stride * sizeof *x);
        x[i * stride] = number_of(i);
        x[i * stride + 1 + i % 3] = 1;
        workspace_classes(bench->workspace)[i] =
            (uint32_t)(i * 5 % network_predictions(bench->network));
        workspace_values(bench->workspace)[i] = (float)(3 * cos(1.9 * (double)i));
    }
}

static void bench_lose(struct bench *bench)
{
    workspace_forward(bench->workspace, bench->parameters, COUNT);
    workspace_loss(bench->workspace);
}

/* The clipped residual of a row in double, with parameters of zero. */
static void oracle_row(const struct bench *bench, size_t i, size_t outputs, double *out)
{
    size_t classes = network_predictions(bench->network);
    double square = 0;
    for (size_t o = 0; o < outputs; o++) {
        double target = (double)workspace_values(bench->workspace)[i];
        uint32_t class = workspace_classes(bench->workspace)[i];
        out[o] = -target;
        if (bench->model.loss == LOSS_LOGISTIC)
            out[o] = 0.5 - (double)class;
        if (bench->model.loss == LOSS_SOFTMAX_CROSS_ENTROPY)
            out[o] = 1 / (double)classes - (o == class);
        square += out[o] * out[o];
    }
    for (size_t o = 0; o < outputs; o++)
        out[o] *= fmin(1, bench->sum.clip_norm / sqrt(square));
}

static void expect_oracle(enum loss loss, uint32_t outputs)
{
    struct bench bench;
    int64_t sums[BINS * 3] = {0};
    double expected[BINS * 3] = {0};
    bench_make(&bench, loss, outputs, 1);
    bench_fill(&bench);
    bench_lose(&bench);
    bin_sum_add(&bench.sum, bench.workspace, bench.weights, COUNT, sums);
    for (size_t i = 0; i < COUNT; i++) {
        double row[3];
        int cell = (int)floor(((double)number_of(i) + 1) * CELLS / 2);
        size_t bin = bench.bins[cell];
        oracle_row(&bench, i, outputs, row);
        for (size_t o = 0; o < outputs; o++)
            expected[bin * outputs + o] += row[o];
    }
    for (size_t j = 0; j < (size_t)BINS * outputs; j++)
        assert_close((double)sums[j] / scale + 10, expected[j] + 10, 1e-6);
    bench_fini(&bench);
}

static void residuals_are_clipped_and_added_in_their_bins(void **state)
{
    (void)state;
    expect_oracle(LOSS_LOGISTIC, 1);
    expect_oracle(LOSS_SQUARED, 1);
    expect_oracle(LOSS_SOFTMAX_CROSS_ENTROPY, 3);
}

/* Adds the rows of one unit only. */
static double length_of_unit(struct bench *bench, size_t first, size_t unit)
{
    int64_t sums[BINS * 3] = {0};
    double square = 0;
    for (size_t i = 0; i < COUNT; i++)
        bench->weights[i] = i >= first && i < first + unit ? 1 : 0;
    bin_sum_add(&bench->sum, bench->workspace, bench->weights, COUNT, sums);
    for (size_t j = 0; j < bin_sum_size(&bench->sum); j++)
        square += (double)sums[j] * (double)sums[j];
    return sqrt(square);
}

static void expect_bound(enum loss loss, uint32_t outputs, size_t unit, bool counts,
                         double clip_norm)
{
    struct bench bench;
    double most = 0;
    bench_make(&bench, loss, outputs, unit);
    bench_fill(&bench);
    for (size_t k = 0; k < unit; k++) { /* the rows of the first unit are equal */
        workspace_input(bench.workspace)[k * workspace_stride(bench.workspace)] = 0.3F;
        workspace_classes(bench.workspace)[k] = 1;
        workspace_values(bench.workspace)[k] = 3;
    }
    bench_lose(&bench);
    bench.sum.counts = counts;
    bench.sum.clip_norm = clip_norm;
    for (size_t first = 0; first < COUNT; first += unit)
        most = fmax(most, length_of_unit(&bench, first, unit));
    assert_true(most <= scale * clip_norm);
    if (counts)
        assert_close(most, scale, 1e-6);
    else
        assert_true(most > 0.99 * scale * clip_norm);
    bench_fini(&bench);
}

static void no_unit_adds_more_than_the_clip_norm(void **state)
{
    (void)state;
    for (size_t unit = 1; unit <= 16; unit *= 2) {
        expect_bound(LOSS_SQUARED, 1, unit, false, 0.3);
        expect_bound(LOSS_LOGISTIC, 1, unit, false, 0.4);
        expect_bound(LOSS_SOFTMAX_CROSS_ENTROPY, 3, unit, false, 0.3);
        expect_bound(LOSS_LOGISTIC, 1, unit, true, 1);
    }
}

/* A row that is absent adds nothing, and the others of its unit count more. */
static void a_unit_of_fewer_rows_counts_as_one(void **state)
{
    (void)state;
    struct bench bench;
    bench_make(&bench, LOSS_LOGISTIC, 1, 4);
    bench_fill(&bench);
    bench_lose(&bench);
    bench.sum.counts = true;
    for (size_t i = 0; i < COUNT; i++)
        bench.weights[i] = i % 4 < 3 ? 1.0F / 3 : 0;
    int64_t sums[BINS] = {0}, all = 0;
    bin_sum_add(&bench.sum, bench.workspace, bench.weights, COUNT, sums);
    for (size_t j = 0; j < BINS; j++)
        all += sums[j];
    assert_true(all <= (int64_t)scale * (COUNT / 4));
    assert_true(all > (int64_t)scale * (COUNT / 4) - COUNT);
    bench_fini(&bench);
}

static void a_row_that_is_not_finite_adds_nothing(void **state)
{
    (void)state;
    struct bench bench;
    bench_make(&bench, LOSS_SQUARED, 1, 1);
    bench_fill(&bench);
    for (size_t i = 0; i < COUNT; i++)
        workspace_values(bench.workspace)[i] = i % 2 ? (float)NAN : (float)INFINITY;
    bench_lose(&bench);
    int64_t sums[BINS] = {0};
    bin_sum_add(&bench.sum, bench.workspace, bench.weights, COUNT, sums);
    for (size_t j = 0; j < BINS; j++)
        assert_true(sums[j] == 0);
    bench_fini(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residuals_are_clipped_and_added_in_their_bins),
        cmocka_unit_test(no_unit_adds_more_than_the_clip_norm),
        cmocka_unit_test(a_unit_of_fewer_rows_counts_as_one),
        cmocka_unit_test(a_row_that_is_not_finite_adds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
