/* Goal: moments are one vector, clipped and rounded unit by unit, and no unit moves it
 * further than the noise is chosen for; what is released is mean and deviation, as a
 * direct computation in double finds them. Method: under one key the noise of two runs
 * is the same, so their releases differ only by their records. */
#include "engine/statistics/moments.h"

#include <math.h>
#include <string.h>

#include "engine/noise/grid.h"
#include "engine/statistics/measurement.h"
#include "tests/expect.h"
#include "tests/engine/statistics/records_fixture.h"

static struct records records;
static const struct noise_key key = {{4, 4, 2}};
static atomic_bool never;

enum { PEOPLE = 300, WIDE = 2048 };

static struct statistics moments_of(const struct schema *schema, double clip_norm)
{
    struct statistics list = asked(1);
    list.items[0].kind = STATISTIC_MOMENTS;
    list.items[0].moments.clip_norm = clip_norm;
    assert_int_equal(statistics_resolve(&list, schema, NULL), ST_OK);
    return list;
}

static void run(const struct statistics *list, const struct measurement_terms *terms,
                const struct matrix *matrix, struct measurement *measurement,
                double *released)
{
    assert_int_equal(measurement_plan(measurement, list, terms, NULL), ST_OK);
    assert_int_equal(
        measurement_run(measurement, list, matrix, &key, &never, released, NULL),
        ST_OK);
}

/* --- how far a unit moves the vector --- */

/* Records of WIDE numbers without names. */
static uint32_t no_targets[2];
static float wide[2 * WIDE];
static const struct reader wide_reader = {.name = "wide", .form = FORM_SHAPED};
static const struct schema wide_schema = {.reader = &wide_reader,
                                          .task = TASK_CLASSIFICATION,
                                          .classes = 2,
                                          .shape_count = 1,
                                          .shape = {WIDE},
                                          .scale = 1};
static struct matrix wide_matrix = {.features = WIDE,
                                    .classes = 2,
                                    .element = ELEMENT_F32,
                                    .rows = wide,
                                    .targets = no_targets};

static double clip; /* of the moments that move measures; 0: the default */

/* The last of the records has this number in every place. */
static void fill_wide(uint64_t count, float value)
{
    memset(wide, 0, sizeof wide);
    wide_matrix.records = count;
    for (size_t j = 0; count > 0 && j < WIDE; j++)
        wide[(count - 1) * WIDE + j] = value;
}

/* The distance of two releases, in grid steps. */
static double distance(const struct measurement *measurement, const double *a,
                       const double *b)
{
    double sum = 0;
    for (size_t j = 0; j < measurement->slots; j++) {
        double steps = (a[j] - b[j]) * measurement->scale;
        sum += steps * steps;
    }
    return sqrt(sum);
}

/* Returns how far the vector moves if a record becomes present, or turns into another,
 * in units of the distance that the noise multiplier is for. */
static double move(enum relation relation, double steps, float from, float to)
{
    static double with[2 * WIDE], without[2 * WIDE];
    struct measurement measurement, smaller;
    bool exchanged = relation == RELATION_REPLACE_ONE;
    struct statistics list = moments_of(&wide_schema, clip);
    struct measurement_terms terms = {
        relation, PRIVACY_UNIT_RECORD, GRID_NOISE_STDDEV / steps, 2, 0, 0};
    fill_wide(2, to);
    run(&list, &terms, &wide_matrix, &measurement, with);
    terms.units = exchanged ? 2 : 1;
    fill_wide(terms.units, exchanged ? from : 0);
    run(&list, &terms, &wide_matrix, &smaller, without);
    assert_true(smaller.scale == measurement.scale);
    statistics_fini(&list);
    return distance(&measurement, with, without) / steps;
}

static const float values[] = {1, -1, 0.7F, -0.3F, 1e-3F, 30, -3e38F};
enum { VALUES = sizeof values / sizeof *values };

/* So few steps that the roundings of 2 d coordinates, sqrt(2 d) / 2 = 32 steps in all,
 * are longer than the vector. */
static void rounding_is_part_of_the_distance(void **state)
{
    (void)state;
    static const double lengths[] = {66, 70, 90, 130, 300, 1e4, 1e9};
    double most = 0;
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (size_t i = 0; i < VALUES; i++) {
            double moved = move(RELATION_ZERO_OUT, lengths[l], 0, values[i]);
            assert_true(moved <= 1 + 1e-9);
            most = fmax(most, moved);
            for (size_t k = 0; k < i; k++)
                assert_true(move(RELATION_REPLACE_ONE, 2 * lengths[l], values[k],
                                 values[i]) <= 1 + 1e-9);
        }
    assert_true(most > 0.99); /* reached by long vectors */
}

/* A record of minus ones turns round: its numbers move by twice their length, their
 * squares stay. */
static void a_record_that_turns_round_moves_further_than_an_absent_one(void **state)
{
    (void)state;
    assert_close(move(RELATION_ZERO_OUT, 1e9, 0, 1), 1, 1e-6);
    assert_close(move(RELATION_REPLACE_ONE, 1e9, -1, 1), M_SQRT1_2, 1e-6);
}

/* Zero divided by the length of a record of zeros is no number. */
static void a_record_of_zeros_adds_nothing_at_any_clip_length(void **state)
{
    static const double lengths[] = {MOMENTS_CLIP_MIN, 1e-320, MOMENTS_CLIP_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        clip = lengths[i];
        assert_true(move(RELATION_ZERO_OUT, 1e9, 0, 0) == 0);
        assert_true(move(RELATION_ZERO_OUT, 1e9, 0, 1e-3F) <= 1 + 1e-9);
    }
    clip = 0;
}

static void a_number_that_is_not_finite_adds_nothing(void **state)
{
    (void)state;
    assert_true(move(RELATION_ZERO_OUT, 1e9, 0, NAN) == 0);
    assert_true(move(RELATION_ZERO_OUT, 1e9, 0, INFINITY) == 0);
}

/* --- values --- */

static void fill(uint64_t count)
{
    records_init(&records, count);
    for (uint64_t i = 0; i < count; i++)
        records_set(&records, i,
                    (struct record){(double)(i * 37 % 100), (unsigned)(i % 3),
                                    (unsigned)(i % 7 == 0)});
}

/* The mean and the deviation of the ages, each vector clipped, without the engine. */
static struct moment computed(double clip_norm, double units)
{
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < PEOPLE; i++) {
        double x = (i * 37 % 100) / 50.0 - 1;
        double norm = hypot(x, x * x), factor = fmin(1, clip_norm / norm);
        sum += norm > 0 ? factor * x : 0;
        squares += norm > 0 ? factor * x * x : 0;
    }
    double mean = sum / units;
    return (struct moment){50 + 50 * mean, 50 * sqrt(squares / units - mean * mean), 0};
}

static void moments_are_those_of_a_direct_computation(void **state)
{
    (void)state;
    static const double clips[] = {0, 1.5, 1, 0.4, 0.05};
    for (size_t c = 0; c < sizeof clips / sizeof *clips; c++) {
        double released[2];
        struct measurement measurement;
        struct statistics list = moments_of(&record_schema, clips[c]);
        const struct measurement_terms terms = {
            RELATION_ZERO_OUT, PRIVACY_UNIT_RECORD, 1e-4, PEOPLE, 0, 0};
        fill(PEOPLE);
        run(&list, &terms, &records.matrix, &measurement, released);
        const struct moments *moments = &list.items[0].moments;
        assert_int_equal(moments->count, 1);
        assert_string_equal(moments->features[0].column, "age");
        double clip_norm = clips[c] > 0 ? clips[c] : M_SQRT2;
        assert_true(moments->clip_norm == clip_norm);
        const struct moment moment =
            moments_value(moments, 0, released, PEOPLE, measurement.deviation);
        const struct moment wanted = computed(clip_norm, PEOPLE);
        assert_true(fabs(moment.mean - wanted.mean) <= 4 * moment.margin + 1e-5);
        double least = 50 * sqrt(fmax(0x1p-12, 4 * moment.margin / (50 * 1.96)));
        assert_true(fabs(moment.deviation - fmax(wanted.deviation, least)) <
                    1e-4 + 20 * moment.margin);
        statistics_fini(&list);
    }
}

/* The noise of a vector of many coordinates is that of its length, not of their
 * number. */
static void every_coordinate_has_the_noise_of_the_clip_length(void **state)
{
    (void)state;
    static double released[2 * WIDE];
    struct measurement measurement;
    struct statistics list = moments_of(&wide_schema, 3);
    const struct measurement_terms terms = {
        RELATION_ZERO_OUT, PRIVACY_UNIT_RECORD, 2.5, 1, 0, 0};
    fill_wide(1, 0);
    run(&list, &terms, &wide_matrix, &measurement, released);
    double squares = 0;
    for (size_t j = 0; j < 2 * WIDE; j++)
        squares += released[j] * released[j] / (2.5 * 2.5);
    /* In units of the clip length; 6 deviations of a mean square. */
    assert_true(fabs(squares / (2 * WIDE) - 1) <= 6 / sqrt(WIDE));
    assert_true(measurement.deviation >= 2.5 && measurement.deviation < 2.5001);
    statistics_fini(&list);
}

static void a_deviation_is_at_least_the_floor(void **state)
{
    (void)state;
    struct statistics list = moments_of(&record_schema, 0);
    const struct moments *moments = &list.items[0].moments;
    const double same[] = {0, 0}, below[] = {3, -20};
    /* Half the range is 50. Of 100 units, deviation 7: noise .07 sqrt 2. */
    assert_close(moments_value(moments, 0, same, 100, 1e-9).deviation, 50.0 / 64, 1e-9);
    assert_close(moments_value(moments, 0, below, 100, 7).deviation,
                 50 * sqrt(4 * 0.07 * M_SQRT2), 1e-9);
    statistics_fini(&list);
}

/* --- persons --- */

static uint32_t starts[3];

static double persons_mean(unsigned rows, double first, double rest)
{
    double released[2];
    struct measurement measurement;
    struct statistics list = moments_of(&record_schema, 0);
    const struct measurement_terms terms = {
        RELATION_ZERO_OUT, PRIVACY_UNIT_PERSON, 1e-4, 2, 0, 0};
    records_init(&records, rows + 1);
    records_set(&records, 0, (struct record){50, 0, 0});
    for (unsigned k = 0; k < rows; k++)
        records_set(&records, 1 + k, (struct record){k == 0 ? first : rest, 0, 0});
    starts[1] = 1;
    starts[2] = rows + 1;
    records.matrix.starts = starts;
    records.matrix.units = 2;
    run(&list, &terms, &records.matrix, &measurement, released);
    double mean =
        moments_value(&list.items[0].moments, 0, released, 2, measurement.deviation)
            .mean;
    statistics_fini(&list);
    return mean;
}

/* The mean of a person's rows counts once, however many there are. */
static void a_person_counts_once(void **state)
{
    (void)state;
    assert_close(persons_mean(1, 90, 0), 70, 0.05);
    assert_close(persons_mean(40, 90, 90), 70, 0.05);
    assert_close(persons_mean(4, 90, 50), 55, 0.05);
}

/* --- refusals --- */

static void expect_refused(struct statistics *list, const struct schema *schema,
                           const char *pointer)
{
    struct error error = {0};
    assert_int_equal(statistics_resolve(list, schema, &error), ST_INVALID);
    assert_string_equal(error.pointer, pointer);
    statistics_fini(list);
}

static void what_is_no_vector_of_numbers_is_refused(void **state)
{
    (void)state;
    struct schema schema = record_schema;
    struct statistics list = asked(2);
    ask(&list.items[0], STATISTIC_HISTOGRAM, "colour", 0);
    list.items[1].kind = STATISTIC_MOMENTS;
    expect_refused(&list, &schema, "/statistics/1/kind");

    list = asked(1);
    list.items[0].kind = STATISTIC_MOMENTS;
    schema.columns++; /* without the age */
    schema.column_count--;
    expect_refused(&list, &schema, "/statistics/0/kind");

    schema = wide_schema;
    schema.shape[0] = STATISTIC_SLOTS_MAX / 2 + 1;
    list = asked(1);
    list.items[0].kind = STATISTIC_MOMENTS;
    expect_refused(&list, &schema, "/statistics/0/kind");
}

static void noise_that_rounding_exceeds_is_refused(void **state)
{
    (void)state;
    struct measurement measurement;
    struct statistics list = moments_of(&wide_schema, 0);
    struct measurement_terms terms = {
        RELATION_ZERO_OUT, PRIVACY_UNIT_RECORD, GRID_NOISE_STDDEV / 32, 1, 0, 0};
    assert_int_equal(measurement_plan(&measurement, &list, &terms, NULL), ST_INVALID);
    statistics_fini(&list);
}

static void a_stop_ends_the_pass(void **state)
{
    (void)state;
    atomic_bool stop = true;
    double released[2] = {-1, -1};
    struct measurement measurement;
    struct statistics list = moments_of(&record_schema, 0);
    const struct measurement_terms terms = {
        RELATION_ZERO_OUT, PRIVACY_UNIT_RECORD, 1, PEOPLE, 0, 0};
    fill(PEOPLE);
    assert_int_equal(measurement_plan(&measurement, &list, &terms, NULL), ST_OK);
    assert_int_equal(measurement_run(&measurement, &list, &records.matrix, &key, &stop,
                                     released, NULL),
                     ST_CANCELLED);
    assert_true(released[0] == -1 && released[1] == -1);
    statistics_fini(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_is_part_of_the_distance),
        cmocka_unit_test(a_record_that_turns_round_moves_further_than_an_absent_one),
        cmocka_unit_test(a_record_of_zeros_adds_nothing_at_any_clip_length),
        cmocka_unit_test(a_number_that_is_not_finite_adds_nothing),
        cmocka_unit_test(moments_are_those_of_a_direct_computation),
        cmocka_unit_test(every_coordinate_has_the_noise_of_the_clip_length),
        cmocka_unit_test(a_deviation_is_at_least_the_floor),
        cmocka_unit_test(a_person_counts_once),
        cmocka_unit_test(what_is_no_vector_of_numbers_is_refused),
        cmocka_unit_test(noise_that_rounding_exceeds_is_refused),
        cmocka_unit_test(a_stop_ends_the_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
