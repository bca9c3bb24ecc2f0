/* Goal: the numbers behind frozen layers are means over a unit's own positions, a unit
 * moves their sums no further than the noise is chosen for, and their digest differs if
 * anything differs that determines them. Method: pooled images, whose moments are
 * computed here in double; releases under one key, which differ only by their records. */
#include "engine/scaled_prefix.h"

#include <math.h>
#include <string.h>

#include "engine/nn/layers/registry.h"
#include "engine/noise/grid.h"
#include "engine/parallel/team.h"
#include "engine/statistics/measurement.h"
#include "tests/expect.h"

enum {
    SIDE = 4, /* of an image; pools of 2 x 2 leave POSITIONS */
    POOL = 2,
    POSITIONS = 4,
    CHANNELS = 3,
    FEATURES = SIDE * SIDE * CHANNELS,
    SLOTS = 3, /* rows of a person's room */
    UNITS = 150,
    ROWS = UNITS * SLOTS
};

static float rows[ROWS * FEATURES];
static uint32_t classes[ROWS], starts[UNITS + 1];
static const struct noise_key key = {{2, 7}};
static atomic_bool never;

static const struct reader reader = {.name = "images", .form = FORM_SHAPED};
static const struct schema schema = {.reader = &reader,
                                     .task = TASK_CLASSIFICATION,
                                     .classes = 2,
                                     .shape_count = 3,
                                     .shape = {SIDE, SIDE, CHANNELS},
                                     .scale = 1};

static struct matrix matrix_of(enum privacy_unit unit)
{
    struct matrix matrix = {.features = FEATURES,
                            .classes = 2,
                            .element = ELEMENT_F32,
                            .rows = rows,
                            .targets = classes,
                            .records = ROWS};
    if (unit == PRIVACY_UNIT_PERSON) {
        matrix.starts = starts;
        matrix.slots = SLOTS;
        matrix.units = UNITS;
    }
    return matrix;
}

static uint32_t rows_of_person(uint32_t person)
{
    return 1 + person % SLOTS;
}

/* Fills the images; a person's empty rows are zeros. Channel c is about c / 2. */
static void fill(enum privacy_unit unit)
{
    bool persons = unit == PRIVACY_UNIT_PERSON;
    memset(rows, 0, sizeof rows);
    for (uint32_t u = 0; u < UNITS; u++)
        starts[u + 1] = starts[u] + rows_of_person(u);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < FEATURES; j++)
            if (!persons || i % SLOTS < rows_of_person((uint32_t)(i / SLOTS)))
                rows[i * FEATURES + j] = (float)(j / (SIDE * SIDE)) / 2 +
                                         (float)((i * 31 + j * 17) % 64) / 128;
}

static void describe(struct model_spec *model)
{
    *model = (struct model_spec){.loss = LOSS_LOGISTIC,
                                 .input = {SIDE, SIDE, CHANNELS},
                                 .start = {.is_scaled = true}};
    model_spec_set_layers(model, 4);
    model->layers[0] = (struct layer_spec){.kind = &layer_avg_pool2d,
                                           .kernel_height = POOL,
                                           .kernel_width = POOL,
                                           .stride = POOL,
                                           .dilation = 1};
    model->layers[1].kind = &layer_standardise;
    model->layers[2].kind = &layer_flatten;
    model->layers[3] =
        (struct layer_spec){.kind = &layer_dense, .out = 1, .bias = true};
}

static struct statistics moments_of(double clip_norm)
{
    struct statistics list = {1, calloc(1, sizeof *list.items)};
    assert_non_null(list.items);
    list.items[0].kind = STATISTIC_MOMENTS;
    list.items[0].moments.clip_norm = clip_norm;
    list.items[0].moments.prefix = (struct moments_prefix){"layers", CHANNELS};
    assert_int_equal(statistics_resolve(&list, &schema, NULL), ST_OK);
    return list;
}

struct asked {
    struct measurement_terms terms;
    double clip_norm;
    unsigned threads;
};

/* released (2 CHANNELS) = what is released about the images as they are. */
static struct measurement release(const struct asked *asked, double *released)
{
    struct model_spec model;
    struct scaled_prefix *prefix = NULL;
    struct measurement measurement;
    struct statistics list = moments_of(asked->clip_norm);
    const struct matrix matrix = matrix_of(asked->terms.unit);
    describe(&model);
    const struct scaled_prefix_setup setup = {
        .model = &model, .data = {FEATURES, 2}, .threads = asked->threads};
    assert_int_equal(scaled_prefix_open(&prefix, &setup, NULL), ST_OK);
    const struct moments_source source = scaled_prefix_source(prefix);
    list.items[0].moments.source = &source;
    assert_int_equal(measurement_plan(&measurement, &list, &asked->terms, NULL), ST_OK);
    assert_int_equal(
        measurement_run(&measurement, &list, &matrix, &key, &never, released, NULL),
        ST_OK);
    scaled_prefix_close(prefix);
    statistics_fini(&list);
    model_spec_fini(&model);
    return measurement;
}

/* --- the numbers --- */

/* Adds to sums (2 CHANNELS) what image i counts with this weight. */
static void count_image(double *sums, size_t i, double weight)
{
    for (size_t c = 0; c < CHANNELS; c++)
        for (size_t t = 0; t < POSITIONS; t++) {
            size_t top = t / 2 * POOL, left = t % 2 * POOL;
            double x = 0;
            for (size_t k = 0; k < POOL * POOL; k++)
                x += (double)rows[i * FEATURES + c * SIDE * SIDE +
                                  (top + k / POOL) * SIDE + left + k % POOL];
            x /= POOL * POOL;
            sums[c] += weight * x / POSITIONS;
            sums[CHANNELS + c] += weight * x * x / POSITIONS;
        }
}

static void count_all(double *sums, enum privacy_unit unit)
{
    memset(sums, 0, 2 * CHANNELS * sizeof *sums);
    for (size_t i = 0; i < ROWS; i++) {
        uint32_t count = rows_of_person((uint32_t)(i / SLOTS));
        if (unit == PRIVACY_UNIT_RECORD)
            count_image(sums, i, 1);
        else if (i % SLOTS < count)
            count_image(sums, i, 1.0 / count);
    }
}

static void numbers_are_means_over_positions_and_rows(void **state)
{
    (void)state;
    static const enum privacy_unit units[] = {PRIVACY_UNIT_RECORD, PRIVACY_UNIT_PERSON};
    for (size_t k = 0; k < 2; k++) {
        double sums[2 * CHANNELS], released[2 * CHANNELS];
        const uint64_t n = k == 0 ? ROWS : UNITS;
        const struct asked asked = {
            {RELATION_ZERO_OUT, units[k], 1e-3, n, 0, 0}, sqrt(2 * CHANNELS), 2};
        fill(units[k]);
        count_all(sums, units[k]);
        const struct measurement measurement = release(&asked, released);
        for (size_t j = 0; j < 2 * CHANNELS; j++)
            /* Roundings of n units, and 8 deviations of the noise. */
            assert_close(released[j] * asked.clip_norm, sums[j],
                         asked.clip_norm * ((double)n / measurement.scale +
                                            8 * measurement.deviation) +
                             1e-6 * (double)n);
    }
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    for (enum privacy_unit unit = PRIVACY_UNIT_RECORD; unit <= PRIVACY_UNIT_PERSON;
         unit++) {
        double one[2 * CHANNELS], many[2 * CHANNELS];
        struct asked asked = {{RELATION_ZERO_OUT, unit, 1,
                               unit == PRIVACY_UNIT_PERSON ? UNITS : ROWS, 0, 0},
                              .7,
                              1};
        fill(unit);
        release(&asked, one);
        asked.threads = 3;
        release(&asked, many);
        assert_memory_equal(one, many, sizeof one);
    }
}

/* --- how far a unit moves them --- */

/* An image, or all images of a person, become large numbers. */
static void a_unit_moves_the_sums_no_further_than_was_charged(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        enum privacy_unit unit = k % 2 ? PRIVACY_UNIT_PERSON : PRIVACY_UNIT_RECORD;
        enum relation relation = k < 2 ? RELATION_ZERO_OUT : RELATION_REPLACE_ONE;
        size_t width = (k % 2 ? SLOTS : 1) * FEATURES;
        const struct asked asked = {
            {relation, unit, 1, k % 2 ? UNITS : ROWS, 0, 0}, .25, 2};
        double a[2 * CHANNELS], b[2 * CHANNELS], square = 0;
        fill(unit);
        starts[UNITS] = starts[UNITS - 1] + SLOTS;
        float *last = rows + (sizeof rows / sizeof *rows - width);
        for (size_t j = 0; j < width; j++)
            last[j] = relation == RELATION_ZERO_OUT ? 0 : -1e-3F;
        release(&asked, a);
        for (size_t j = 0; j < width; j++)
            last[j] = relation == RELATION_ZERO_OUT ? 900 : 1e-3F;
        const struct measurement measurement = release(&asked, b);
        for (size_t j = 0; j < 2 * CHANNELS; j++)
            square += pow(a[j] - b[j], 2);
        assert_true(sqrt(square) > 0);
        assert_true(sqrt(square) <= measurement.distance);
        assert_true(measurement.distance * measurement.scale <= GRID_NOISE_STDDEV);
    }
}

/* --- the digest --- */

static void digest_of(const struct model_spec *model, const char *weights,
                      uint8_t digest[SHA256_SIZE])
{
    struct network *network;
    const struct network_shape shape = {
        (uint32_t)(model->input.height * model->input.width * model->input.channels),
        1};
    assert_int_equal(network_create(&network, model, shape, NULL), ST_OK);
    scaled_prefix_digest(model, network, weights, digest);
    network_destroy(network);
}

/* A frozen convolution, then the layer. */
static void describe_convolution(struct model_spec *model)
{
    static char patterns[][TENSOR_NAME_SIZE] = {"0.*"};
    describe(model);
    model->layers[0] = (struct layer_spec){.kind = &layer_conv2d,
                                           .out = 5,
                                           .bias = true,
                                           .kernel_height = 2,
                                           .kernel_width = 2,
                                           .stride = 1,
                                           .dilation = 1};
    model_start_copy(&model->start, &(struct model_start){.trainable = TRAINABLE_EXCEPT,
                                                          .named = {1, patterns},
                                                          .is_scaled = true});
}

static void change_pool(struct model_spec *model)
{
    model->layers[0].stride = 1;
}
static void change_kind(struct model_spec *model)
{
    model->layers[0].kind = &layer_max_pool2d;
}
static void change_input(struct model_spec *model)
{
    model->input = (struct model_input){SIDE, 2 * SIDE, CHANNELS};
}
static void change_seed(struct model_spec *model)
{
    model->init_seed = 9;
}
static void change_head(struct model_spec *model)
{
    model->layers[3].bias = false;
}

static void the_digest_names_what_determines_the_numbers(void **state)
{
    (void)state;
    static const struct {
        void (*describe)(struct model_spec *model);
        void (*change)(struct model_spec *model);
        const char *weights, *others;
        bool same;
    } cases[] = {
        {describe, change_pool, "", "", false},
        {describe, change_kind, "", "", false},
        {describe, change_input, "", "", false},
        {describe, NULL, "aa", "bb", true}, /* a pool has no weights */
        {describe, change_seed, "", "", true},
        {describe, change_head, "", "", true},
        {describe_convolution, NULL, "aa", "bb", false},
        {describe_convolution, NULL, "aa", "", false},
        {describe_convolution, change_seed, "", "", false},
        {describe_convolution, change_seed, "aa", "aa",
         true}, /* they are in the file */
        {describe_convolution, change_head, "aa", "aa", true},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct model_spec model;
        uint8_t one[SHA256_SIZE], two[SHA256_SIZE];
        cases[k].describe(&model);
        digest_of(&model, cases[k].weights, one);
        if (cases[k].change != NULL)
            cases[k].change(&model);
        digest_of(&model, cases[k].others, two);
        assert_int_equal(memcmp(one, two, sizeof one) == 0, cases[k].same);
        model_spec_fini(&model);
    }
}

/* --- what cannot be read --- */

static void weights_that_are_gone_are_refused(void **state)
{
    (void)state;
    struct model_spec model;
    struct scaled_prefix *prefix = NULL;
    const struct weights_source gone = {.path = "/tmp/epsilond-no-such-file"};
    describe_convolution(&model);
    const struct scaled_prefix_setup setup = {
        .model = &model, .data = {FEATURES, 2}, .weights = &gone, .threads = 1};
    assert_int_equal(scaled_prefix_open(&prefix, &setup, NULL), ST_MODEL_CORRUPT);
    const struct scaled_prefix_setup other = {
        .model = &model, .data = {FEATURES + 1, 2}, .threads = 1};
    assert_int_equal(scaled_prefix_open(&prefix, &other, NULL), ST_INVALID);
    assert_null(prefix);
    model_spec_fini(&model);
}

static void a_stop_ends_the_pass(void **state)
{
    (void)state;
    struct model_spec model;
    struct scaled_prefix *prefix = NULL;
    atomic_bool stopped = true;
    int64_t sums[2 * CHANNELS] = {0};
    struct statistics list = moments_of(1);
    const struct matrix matrix = matrix_of(PRIVACY_UNIT_RECORD);
    describe(&model);
    const struct scaled_prefix_setup setup = {
        .model = &model, .data = {FEATURES, 2}, .threads = 2};
    assert_int_equal(scaled_prefix_open(&prefix, &setup, NULL), ST_OK);
    const struct moments_source source = scaled_prefix_source(prefix);
    list.items[0].moments.source = &source;
    fill(PRIVACY_UNIT_RECORD);
    assert_int_equal(
        moments_sum(&list.items[0].moments, &matrix, 1e9, &stopped, sums, NULL),
        ST_CANCELLED);
    for (size_t j = 0; j < 2 * CHANNELS; j++)
        assert_true(sums[j] == 0);
    scaled_prefix_close(prefix);
    statistics_fini(&list);
    model_spec_fini(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_means_over_positions_and_rows),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(a_unit_moves_the_sums_no_further_than_was_charged),
        cmocka_unit_test(the_digest_names_what_determines_the_numbers),
        cmocka_unit_test(weights_that_are_gone_are_refused),
        cmocka_unit_test(a_stop_ends_the_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
