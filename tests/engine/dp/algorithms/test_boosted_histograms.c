/* Goal: boosting counts each column and pair once, and then takes rounds in cyclic order
 * whose moves are those of the paper; what it releases has the noise of its charge; its
 * bins follow the released counts. Method: boosting in double, with loops of its own, for
 * noise that hardly matters; releases of a step, recorded; tables of bins; refusals. */
#include "tests/expect.h"

#include <math.h>
#include <string.h>

#include "engine/dp/algorithms/boosted_bins.h"
#include "engine/nn/layers/registry.h"
#include "tests/engine/dp/algorithm_fixture.h"
#include "tests/engine/draw_fixture.h"

enum {
    RECORDS = 396,
    FEATURES = 4,
    CELLS = HISTOGRAM_CELLS,
    SIDE = HISTOGRAM_SIDE_CELLS
};
enum { WORDS = 3, BINS = 8, PAIR_BINS = 8, SHAPES = 4, COUNTED = 3, STEPS = 3 + 9 * 4 };

/* About the least noise for this many records: a deviation of 0.006 on a sum. The counts
 * of a bin, which are whole, are half a record from the share at which it ends. */
static const double noise = 0x1p-6, rate = 0.3, clip = 0.4;

static float features[RECORDS * FEATURES], values[RECORDS];
static uint32_t classes[RECORDS];
static struct layer_spec layer = {.kind = &layer_step_functions, .out = 1};
static struct model_spec model = {
    .columns = {.count = 2, .widths = {1, WORDS}, .pair_count = 1, .pairs = {{0, 1}}},
    .layer_count = 1,
    .layers = &layer};
static struct matrix data = {.records = RECORDS,
                             .features = FEATURES,
                             .element = ELEMENT_F32,
                             .scale = 1,
                             .rows = features};

/* Squares of uniform numbers: bins of equal counts have very different widths. */
static int fill(void **state)
{
    uint64_t seed = 11;
    (void)state;
    for (size_t i = 0; i < RECORDS; i++) {
        double u = draw_uniform(&seed), x = 2 * u * u - 1;
        size_t word = i * 7 % 4; /* the last: none */
        features[i * FEATURES] = (float)x;
        if (word < WORDS)
            features[i * FEATURES + 1 + word] = 1;
        values[i] = (float)(0.5 * sin(4 * x) + 0.2 * (double)word - 0.3 +
                            (word == 1 ? 0.3 * x : 0));
        classes[i] = values[i] > 0;
    }
    return 0;
}

static struct kit_setup setup_of(enum loss loss)
{
    bool is_regression = loss == LOSS_SQUARED;
    model.loss = loss;
    data.values = is_regression ? values : NULL;
    data.targets = is_regression ? NULL : classes;
    data.classes = is_regression ? 0 : 2;
    return (struct kit_setup){.data = &data,
                              .model = &model,
                              .optimizer = {.kind = OPTIMIZER_SGD,
                                            .learning_rate = rate,
                                            .learning_rate_final = rate},
                              .batch_size = RECORDS,
                              .steps = STEPS,
                              .noise_multiplier = noise,
                              .threads = 2,
                              .key = 3};
}

static void kit_choose(struct kit *kit)
{
    kit_spec(kit, "boosted_histograms");
    kit_set(kit, "bins", BINS);
    kit_set(kit, "pair_bins", PAIR_BINS);
    kit_set(kit, "residual_clip", clip);
}

/* --- boosting in double --- */

struct oracle {
    size_t bin[SHAPES][RECORDS]; /* of each record, in each shape */
    double counts[SHAPES][CELLS], step[SHAPES][CELLS], scores[RECORDS];
};

static size_t word_of(size_t i)
{
    size_t word = 0;
    while (word < WORDS && features[i * FEATURES + 1 + word] < 0.5F)
        word++;
    return word;
}

/* Joins cells of a column to bins of share records, cells being 2 / cells wide. */
static void oracle_column(size_t *bins, size_t cells, double share)
{
    double held[CELLS] = {0}, sum = 0;
    size_t of[CELLS] = {0}, bin = 0;
    for (size_t i = 0; i < RECORDS; i++) {
        bins[i] =
            (size_t)floor(((double)features[i * FEATURES] + 1) * (double)cells / 2);
        held[bins[i]]++;
    }
    for (size_t k = 0; k < cells; k++) {
        if (sum >= share) {
            bin++;
            sum = 0;
        }
        of[k] = bin;
        sum += held[k];
    }
    for (size_t i = 0; i < RECORDS; i++)
        bins[i] = of[bins[i]];
}

static void oracle_make(struct oracle *oracle)
{
    size_t sides[RECORDS];
    *oracle = (struct oracle){0};
    oracle_column(oracle->bin[0], CELLS, (double)RECORDS / BINS);
    oracle_column(sides, SIDE, (double)RECORDS / PAIR_BINS);
    for (size_t i = 0; i < RECORDS; i++) {
        oracle->bin[1][i] = word_of(i);
        oracle->bin[2][i] = sides[i] * (WORDS + 1) + word_of(i);
        for (size_t s = 0; s < SHAPES; s++)
            oracle->counts[s][oracle->bin[s][i]]++;
    }
}

static void oracle_round(struct oracle *oracle, size_t shape, enum loss loss)
{
    double sums[CELLS] = {0}, curvature = loss == LOSS_SQUARED ? 1 : 0.25;
    for (size_t i = 0; i < RECORDS; i++) {
        double z = oracle->scores[i];
        double residual = loss == LOSS_SQUARED ? (double)values[i] - z
                                               : (double)classes[i] - 1 / (1 + exp(-z));
        sums[oracle->bin[shape][i]] += fmin(fmax(residual, -clip), clip);
    }
    for (size_t i = 0; i < RECORDS; i++) {
        size_t bin = oracle->bin[shape][i];
        oracle->scores[i] +=
            rate * sums[bin] / (curvature * oracle->counts[shape][bin]);
    }
}

/* The score of a record by the parameters of the kit. */
static double score_of(const struct kit *kit, size_t i)
{
    const struct histograms *histograms = step_functions_of(kit->network);
    double x = (double)features[i * FEATURES];
    size_t word = word_of(i), cell = (size_t)floor((x + 1) * CELLS / 2);
    size_t side = (size_t)floor((x + 1) * SIDE / 2);
    const float *w = kit->parameters;
    return (double)w[histograms->first[0] + cell] +
           (double)w[histograms->first[1] + word] +
           (double)w[histograms->first[2] + side * (WORDS + 1) + word] +
           (double)w[histograms->first[3]];
}

static void expect_rounds_of(enum loss loss)
{
    static struct oracle oracle;
    static const size_t order[SHAPES] = {3, 0, 1, 2};
    /* The noise on the count of a single record is a share of its curvature. */
    const double close = loss == LOSS_SQUARED ? 1e-2 : 5e-2;
    struct kit_setup setup = setup_of(loss);
    struct kit kit;
    kit_choose(&kit);
    kit_open(&kit, &setup);
    oracle_make(&oracle);
    for (size_t t = 0; t < STEPS; t++) {
        kit_step(&kit);
        if (t >= COUNTED)
            oracle_round(&oracle, order[(t - COUNTED) % SHAPES], loss);
        for (size_t i = 0; i < RECORDS; i++)
            assert_true(fabs(score_of(&kit, i) - oracle.scores[i]) < close);
    }
    double moved = 0;
    for (size_t i = 0; i < RECORDS; i++)
        moved = fmax(moved, fabs(oracle.scores[i]));
    assert_true(moved > 0.5);
    kit_close(&kit);
}

static void rounds_are_those_of_boosting_in_double(void **state)
{
    (void)state;
    expect_rounds_of(LOSS_SQUARED);
    expect_rounds_of(LOSS_LOGISTIC);
}

/* --- noise --- */

/* A count has the grid of ones, and residuals that of their clip norm: both at the noise
 * multiplier that is charged. */
static void both_grids_have_the_charged_noise(void **state)
{
    (void)state;
    static const double clips[] = {0.01, 0.4, 3};
    for (size_t k = 0; k < sizeof clips / sizeof *clips; k++) {
        struct kit_setup setup = setup_of(LOSS_SQUARED);
        struct kit kit;
        kit_choose(&kit);
        kit_set(&kit, "residual_clip", clips[k]);
        setup.noise_multiplier = 1.7;
        kit_open(&kit, &setup);
        const struct noise_plan *plan = algorithm_noise(kit.spec.algorithm, kit.state);
        assert_int_equal(plan->named_count, 1);
        assert_string_equal(plan->named[0].name, "counts");
        const double reach[] = {plan->grid.scale * clips[k],
                                floor(plan->named[0].grid.scale)};
        for (size_t j = 0; j < 2; j++) {
            assert_true(reach[j] * 1.7 <= GRID_NOISE_STDDEV);
            assert_true(reach[j] * 1.7 > 0.98 * GRID_NOISE_STDDEV);
        }
        kit_close(&kit);
    }
}

/* --- bins --- */

static void bins_hold_about_the_same_counts(void **state)
{
    (void)state;
    static const double counts[] = {5, 0, 3, -2, 9, 1, 1, 1, 1, -3};
    static const uint32_t expected[] = {0, 1, 1, 1, 1, 2, 2, 2, 2, 3};
    uint32_t bins[10];
    assert_int_equal(boosted_bins_quantiles(bins, counts, 10, 4), 4);
    assert_memory_equal(bins, expected, sizeof expected);
    assert_int_equal(boosted_bins_quantiles(bins, counts, 10, 100), 1);
    assert_int_equal(boosted_bins_quantiles(bins, counts, 1, 0.1), 1);
}

static void bins_of_one_width_differ_by_a_cell(void **state)
{
    (void)state;
    for (uint32_t cells = 1; cells < 40; cells++)
        for (uint32_t most = 1; most < 45; most++) {
            uint32_t bins[40], size[45] = {0};
            uint32_t count = boosted_bins_equal(bins, cells, most);
            assert_int_equal(count, most < cells ? most : cells);
            for (uint32_t k = 0; k < cells; k++)
                size[bins[k]]++;
            for (uint32_t j = 0; j < count; j++)
                assert_in_range(size[j], cells / count, cells / count + 1);
        }
}

/* --- refusals --- */

static void what_does_not_fit_is_refused_by_its_pointer(void **state)
{
    (void)state;
    static const struct {
        const char *pointer;
        struct optimizer_spec optimizer;
        uint64_t steps, batch_size;
        bool is_dense;
    } cases[] = {
        {"/optimizer/name", {.kind = OPTIMIZER_ADAM}, STEPS, RECORDS, false},
        {"/optimizer/momentum", {.momentum = 0.9}, STEPS, RECORDS, false},
        {"/optimizer/weight_decay", {.weight_decay = 0.1}, STEPS, RECORDS, false},
        {"/steps", {0}, COUNTED + SHAPES - 1, RECORDS, false},
        {"/batch_size", {0}, STEPS, RECORDS / 2, false},
        {"/model", {0}, STEPS, RECORDS, true},
    };
    static struct layer_spec dense = {.kind = &layer_dense, .out = 1};
    static const struct model_spec line = {
        .layer_count = 1, .layers = &dense, .loss = LOSS_SQUARED};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct kit_setup setup = setup_of(LOSS_SQUARED);
        struct error error = {0};
        struct mechanism m = {0};
        struct kit kit;
        kit_choose(&kit);
        setup.optimizer = cases[k].optimizer;
        setup.steps = cases[k].steps;
        setup.batch_size = cases[k].batch_size;
        setup.model = cases[k].is_dense ? &line : setup.model;
        enum status status = kit_start(&kit, &setup, &error);
        if (status == ST_OK)
            status = kit.spec.algorithm->plan(&m, &kit.inputs, &error);
        assert_int_equal(status, ST_INVALID);
        assert_string_equal(error.pointer, cases[k].pointer);
        mechanism_fini(&m);
        kit_close(&kit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_are_those_of_boosting_in_double),
        cmocka_unit_test(both_grids_have_the_charged_noise),
        cmocka_unit_test(bins_hold_about_the_same_counts),
        cmocka_unit_test(bins_of_one_width_differ_by_a_cell),
        cmocka_unit_test(what_does_not_fit_is_refused_by_its_pointer),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
