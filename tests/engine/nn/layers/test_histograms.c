/* Goal: the layer of additive models reads the cells of its columns as declared, adds
 * their rows, and has the gradient of such a sum. Method: cells by loops over edges, also
 * at the edges and next to them; outputs and gradients record by record in double;
 * refusals. */
#include "tests/expect.h"

#include <math.h>
#include <string.h>

#include "engine/nn/layers/step_functions.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/workspace.h"

enum { COUNT = 32, FEATURES = 6, WORDS = 4, OUTPUTS = 2, SHAPES = 5 };

static struct layer_spec layer = {.kind = &layer_step_functions, .out = OUTPUTS};
static const struct model_spec model = {.columns = {.count = 3,
                                                    .widths = {1, WORDS, 1},
                                                    .pair_count = 1,
                                                    .pairs = {{2, 1}}},
                                        .layer_count = 1,
                                        .layers = &layer,
                                        .loss = LOSS_SOFTMAX_CROSS_ENTROPY};

struct bench {
    struct network *network;
    struct workspace *workspace;
    float *w;
    const struct histograms *histograms;
};

static void bench_make(struct bench *bench, size_t unit_rows)
{
    struct network_shape shape = {FEATURES, OUTPUTS};
    assert_int_equal(
        network_create_of_units(&bench->network, &model, shape, unit_rows, NULL),
        ST_OK);
    assert_int_equal(workspace_create(&bench->workspace, bench->network, COUNT, NULL),
                     ST_OK);
    bench->histograms = step_functions_of(bench->network);
    assert_non_null(bench->histograms);
    size_t count = network_parameters(bench->network);
    bench->w = calloc(count, sizeof *bench->w);
    for (size_t j = 0; j < count; j++)
        bench->w[j] = (float)sin(0.7 * (double)j);
}

static void bench_fini(struct bench *bench)
{
    workspace_destroy(bench->workspace);
    network_destroy(bench->network);
    free(bench->w);
}

/* Numbers at edges, next to them, and beyond the range. */
static float number_of(size_t i)
{
    float edge = (float)(i * 17 % HISTOGRAM_CELLS) / (HISTOGRAM_CELLS / 2) - 1;
    if (i % 5 == 0)
        return i % 2 ? 1.5F : -3;
    return i % 3 == 0 ? edge : nextafterf(edge, i % 3 == 1 ? -2.0F : 2.0F);
}

static void bench_fill(struct bench *bench, float x[COUNT][FEATURES])
{
    size_t stride = workspace_stride(bench->workspace);
    memset(x, 0, COUNT * sizeof *x);
    for (size_t i = 0; i < COUNT; i++) {
        x[i][0] = number_of(i);
        if (i % (WORDS + 1) < WORDS) /* else there is no word */
            x[i][1 + i % (WORDS + 1)] = 1;
        x[i][1 + WORDS] = number_of(i * 3 + 1);
        memcpy(workspace_input(bench->workspace) + i * stride, x[i], sizeof x[i]);
        workspace_classes(bench->workspace)[i] = i % OUTPUTS;
    }
}

/* The number of edges that are not above x, of cells of the range. */
static size_t edges_below(float x, size_t cells)
{
    size_t below = 0;
    for (size_t k = 1; k < cells; k++)
        below += (double)x >= 2 * (double)k / (double)cells - 1;
    return below;
}

/* The rows of the table that a record reads, by loops over edges. */
static void oracle_rows(const struct histograms *h, const float *x, size_t rows[SHAPES])
{
    size_t word = 0;
    while (word < WORDS && x[1 + word] <= 0.5F)
        word++;
    rows[0] = edges_below(x[0], HISTOGRAM_CELLS);
    rows[1] = HISTOGRAM_CELLS + word;
    rows[2] = HISTOGRAM_CELLS + WORDS + 1 + edges_below(x[1 + WORDS], HISTOGRAM_CELLS);
    size_t side = edges_below(x[1 + WORDS], HISTOGRAM_SIDE_CELLS);
    rows[3] = 2 * HISTOGRAM_CELLS + WORDS + 1 + side * (WORDS + 1) + word;
    rows[4] = h->first[SHAPES] - 1;
}

static void a_record_adds_the_rows_of_its_cells(void **state)
{
    (void)state;
    struct bench bench;
    float x[COUNT][FEATURES];
    double shares[COUNT * OUTPUTS];
    bench_make(&bench, 1);
    bench_fill(&bench, x);
    assert_int_equal(bench.histograms->shapes, SHAPES);
    assert_int_equal(network_frozen_width(bench.network), SHAPES);
    workspace_forward(bench.workspace, bench.w, COUNT);
    workspace_predict(bench.workspace, shares);
    for (size_t i = 0; i < COUNT; i++) {
        size_t rows[SHAPES];
        double z[OUTPUTS] = {0};
        struct rows read = workspace_frozen_rows(bench.workspace);
        oracle_rows(bench.histograms, x[i], rows);
        for (size_t s = 0; s < SHAPES; s++) {
            assert_true(read.data[i * read.stride + s] == (float)rows[s]);
            for (size_t o = 0; o < OUTPUTS; o++)
                z[o] += (double)bench.w[rows[s] * OUTPUTS + o];
        }
        assert_close(shares[i * OUTPUTS], 1 / (1 + exp(z[1] - z[0])), 1e-5);
    }
    bench_fini(&bench);
}

/* gradient += that of a record: b at each of its rows. */
static void oracle_add(const struct bench *bench, size_t i, const float *x,
                       double *gradient)
{
    size_t rows[SHAPES];
    const float *b = workspace_slopes(bench->workspace, i);
    oracle_rows(bench->histograms, x, rows);
    for (size_t s = 0; s < SHAPES; s++)
        for (size_t o = 0; o < OUTPUTS; o++)
            gradient[rows[s] * OUTPUTS + o] += (double)b[o];
}

static void expect_sum(const struct bench *bench, struct row_range unit,
                       const double *gradient)
{
    size_t dim = network_parameters(bench->network);
    float *block =
        aligned_alloc(64, (network_tile_floats_max(bench->network) + 16) / 16 * 64);
    double square = 0;
    for (size_t t = 0; t < network_tile_count(bench->network); t++) {
        struct tile tile = network_tile(bench->network, t);
        workspace_sum(bench->workspace, t, unit, block);
        for (size_t j = 0; j < tile.count; j++)
            assert_true(fabs((double)block[j] - gradient[tile.offset + j]) < 1e-6);
    }
    for (size_t j = 0; j < dim; j++)
        square += gradient[j] * gradient[j];
    assert_close(workspace_norms(bench->workspace)[unit.first] + 1, sqrt(square) + 1,
                 1e-6);
    free(block);
}

/* Rows that several records of a unit read are one row of its gradient. */
static void a_unit_has_the_gradient_of_its_rows(void **state)
{
    (void)state;
    for (size_t unit = 1; unit <= 8; unit *= 2) {
        struct bench bench;
        float x[COUNT][FEATURES];
        bench_make(&bench, unit);
        bench_fill(&bench, x);
        workspace_forward(bench.workspace, bench.w, COUNT);
        workspace_loss(bench.workspace);
        workspace_backward(bench.workspace, bench.w);
        workspace_measure(bench.workspace, NULL);
        for (size_t first = 0; first < COUNT; first += unit) {
            double *gradient =
                calloc(network_parameters(bench.network), sizeof *gradient);
            for (size_t i = first; i < first + unit; i++)
                oracle_add(&bench, i, x[i], gradient);
            expect_sum(&bench, (struct row_range){first, unit}, gradient);
            free(gradient);
        }
        bench_fini(&bench);
    }
}

static void a_model_begins_at_zero(void **state)
{
    (void)state;
    struct bench bench;
    bench_make(&bench, 1);
    assert_int_equal(network_tensor(bench.network, 0)->initial, INITIAL_ZEROS);
    bench_fini(&bench);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    static struct layer_spec dense_first[] = {
        {.kind = &layer_dense, .out = 4}, {.kind = &layer_step_functions, .out = 2}};
    const struct model_spec cases[] = {
        {.columns = {.count = 2, .widths = {1, 4}}, .layer_count = 1, .layers = &layer},
        {.columns = {.count = 2, .widths = {1, 5}, .pair_count = 1, .pairs = {{0, 2}}},
         .layer_count = 1,
         .layers = &layer},
        {.columns = {.count = 2, .widths = {1, 5}, .pair_count = 1, .pairs = {{1, 1}}},
         .layer_count = 1,
         .layers = &layer},
        {.layer_count = 2, .layers = dense_first},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct network *network = NULL;
        struct error error = {0};
        assert_int_equal(network_create(&network, &cases[k],
                                        (struct network_shape){FEATURES, OUTPUTS},
                                        &error),
                         ST_INVALID);
        assert_true(strncmp(error.pointer, "/model/layers/", 14) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_adds_the_rows_of_its_cells),
        cmocka_unit_test(a_unit_has_the_gradient_of_its_rows),
        cmocka_unit_test(a_model_begins_at_zero),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
