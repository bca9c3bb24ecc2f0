/* Goal: no record moves the vector of counts further than the plan says, under either
 * relation, and some records do move it that far: the noise is that of the whole
 * vector. Method: every pair of many records with the worst outputs that a model can
 * give. */
#include "engine/quality/quality_count.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "tests/expect.h"

enum { RECORDS = 60, COUNTS_MAX = QUALITY_CLASSES_MAX * QUALITY_CLASSES_MAX + 40 };

static uint64_t drawn;
static double draw(void)
{
    static struct stream *stream;
    static const uint8_t key[STREAM_KEY_SIZE] = {9};
    uint64_t bits;
    if (stream == NULL)
        stream = stream_create();
    stream_read(stream, &bits, sizeof bits, &(struct stream_position){key, 0, drawn++});
    return (double)(bits >> 11) * 0x1p-53;
}

/* Scores at the ends and between them; for a record without an answer, also NaN and
 * infinity. */
static double any_score(bool is_answered)
{
    static const double odd[] = {0, 1, -3, 7, NAN, INFINITY, -INFINITY};
    return draw() < .3 ? odd[(size_t)(draw() * (is_answered ? 4 : 7))] : draw();
}

static void add_any(const struct quality_tally *tally)
{
    double probabilities[QUALITY_CLASSES_MAX];
    size_t classes = tally->plan->classes;
    if (classes == 0) {
        static const double odd[] = {1, -1, 0, 3e38, NAN, -INFINITY};
        double value = draw() < .5 ? odd[(size_t)(draw() * 3)] : 2 * draw() - 1;
        quality_count_value(tally, value,
                            draw() < .5 ? odd[(size_t)(draw() * 6)] : 4 * draw() - 2);
        return;
    }
    bool is_answered = draw() < .7;
    for (size_t k = 0; k < classes; k++)
        probabilities[k] = any_score(is_answered);
    quality_count_class(tally, (uint32_t)(draw() * (double)classes), probabilities,
                        (uint32_t)(draw() * (double)classes));
}

static double distance(const int64_t *a, const int64_t *b, size_t count)
{
    double sum = 0;
    for (size_t j = 0; j < count; j++) {
        double d = (double)(a[j] - b[j]) / QUALITY_ONE;
        sum += d * d;
    }
    return sqrt(sum);
}

/* Checks that the largest distance over many records equals the plan's. */
static void expect_distance(struct quality_plan plan)
{
    static int64_t counts[RECORDS][COUNTS_MAX];
    static const int64_t nothing[COUNTS_MAX] = {0};
    size_t count = quality_counts(&plan);
    double farthest[2] = {0, 0};
    memset(counts, 0, sizeof counts);
    for (size_t i = 0; i < RECORDS; i++)
        add_any(&(struct quality_tally){&plan, counts[i], QUALITY_ONE});
    if (plan.classes == 0) { /* the two records that are farthest apart */
        memset(counts[0], 0, sizeof counts[0]);
        memset(counts[1], 0, sizeof counts[1]);
        quality_count_value(&(struct quality_tally){&plan, counts[0], QUALITY_ONE}, 1,
                            1 + 2 * plan.error_clip);
        quality_count_value(&(struct quality_tally){&plan, counts[1], QUALITY_ONE}, -1,
                            -1);
    }
    for (size_t i = 0; i < RECORDS; i++) {
        farthest[0] = fmax(farthest[0], distance(counts[i], nothing, count));
        for (size_t j = 0; j < i; j++)
            farthest[1] = fmax(farthest[1], distance(counts[i], counts[j], count));
    }
    plan.relation = RELATION_ZERO_OUT;
    assert_true(farthest[0] <= quality_distance(&plan));
    assert_close(farthest[0], quality_distance(&plan), 1e-12);
    plan.relation = RELATION_REPLACE_ONE;
    assert_true(farthest[1] <= quality_distance(&plan));
    /* y^2 cannot differ where y does by 2, so the last bound is not quite reached. */
    assert_close(farthest[1], quality_distance(&plan), plan.classes > 0 ? 1e-12 : .07);
}

static void no_record_moves_the_vector_further_than_the_plan_says(void **state)
{
    (void)state;
    static const uint32_t classes[] = {2, 3, 10, QUALITY_CLASSES_MAX};
    for (size_t i = 0; i < 4; i++)
        expect_distance((struct quality_plan){.classes = classes[i]});
    expect_distance((struct quality_plan){.error_clip = .25});
    expect_distance((struct quality_plan){.error_clip = 2});
}

/* Persons of up to 16 rows, with the worst rows or with any rows. */
static void nor_does_a_person(void **state)
{
    (void)state;
    static const struct quality_plan plans[] = {
        {.classes = 2}, {.classes = 10}, {.error_clip = .25}, {.error_clip = 2}};
    static int64_t counts[RECORDS][COUNTS_MAX];
    static const int64_t nothing[COUNTS_MAX] = {0};
    for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
        struct quality_plan none = plans[p], other = plans[p];
        size_t count = quality_counts(&plans[p]);
        other.relation = RELATION_REPLACE_ONE;
        memset(counts, 0, sizeof counts);
        for (size_t i = 0; i < RECORDS; i++) {
            size_t rows = 1 + i % 16;
            int64_t weight = QUALITY_ONE / (int64_t)rows;
            const struct quality_tally tally = {&plans[p], counts[i], weight};
            for (size_t k = 0; k < rows; k++)
                add_any(&tally);
        }
        for (size_t i = 0; i < RECORDS; i++) {
            assert_true(distance(counts[i], nothing, count) <= quality_distance(&none));
            for (size_t j = 0; j < i; j++)
                assert_true(distance(counts[i], counts[j], count) <=
                            quality_distance(&other));
        }
    }
}

/* The charge is for the noise multiplier, so the sampler's deviation over the whole
 * vector's distance must be at least that. */
static void the_noise_is_that_of_the_whole_vector(void **state)
{
    (void)state;
    static const double square[2][2] = {{4, 8}, {2, 4}}; /* by task, relation */
    for (unsigned task = 0; task < 2; task++)
        for (unsigned relation = 0; relation < 2; relation++) {
            const struct quality_plan plan = {.classes = task == 0 ? 0 : 10,
                                              .error_clip = .5,
                                              .relation = (enum relation)relation,
                                              .records = 5000,
                                              .noise_multiplier = 37.41};
            struct grid grid;
            assert_int_equal(quality_grid(&grid, &plan, NULL), ST_OK);
            double reach = sqrt(square[task][relation]) * QUALITY_ONE;
            assert_true(GRID_NOISE_STDDEV / grid.scale >= 37.41 * reach);
            assert_close(GRID_NOISE_STDDEV / grid.scale, 37.41 * reach, 1e-4);
            assert_true(grid.scale == floor(grid.scale));
            assert_int_equal(grid.dim, quality_counts(&plan));
        }
}

/* Ten histograms of one class against the rest would be sqrt 10 apart. There is only
 * one, of the model's confidence. */
static void a_record_counts_once_among_the_scores(void **state)
{
    (void)state;
    const struct quality_plan plan = {.classes = 10};
    int64_t counts[COUNTS_MAX] = {0}, sum = 0, confusion = 0;
    double probabilities[10] = {.05, .55, .05, .05, .05, .05, .05, .05, .05, .05};
    quality_count_class(&(struct quality_tally){&plan, counts, QUALITY_ONE}, 1,
                        probabilities, 1);
    for (size_t j = 0; j < 100; j++)
        confusion += counts[j];
    for (size_t j = 100; j < quality_counts(&plan); j++)
        sum += counts[j];
    assert_int_equal(confusion, QUALITY_ONE);
    assert_int_equal(counts[1 * 10 + 1], QUALITY_ONE);
    assert_int_equal(sum, QUALITY_ONE);
    assert_int_equal(counts[100 + QUALITY_BINS + 11], QUALITY_ONE); /* right, .55 */
}

static void two_classes_are_scored_by_the_second(void **state)
{
    (void)state;
    const struct quality_plan plan = {.classes = 2};
    int64_t counts[COUNTS_MAX] = {0};
    quality_count_class(&(struct quality_tally){&plan, counts, QUALITY_ONE}, 0,
                        (const double[]){.21, .79}, 1);
    assert_int_equal(counts[0 * 2 + 1], QUALITY_ONE);
    assert_int_equal(counts[4 + 15], QUALITY_ONE);
}

static void a_value_counts_its_clipped_square_and_its_moments(void **state)
{
    (void)state;
    const struct quality_plan plan = {.error_clip = .5};
    int64_t counts[COUNTS_MAX] = {0};
    quality_count_value(&(struct quality_tally){&plan, counts, QUALITY_ONE}, -.25, 0);
    assert_int_equal(counts[0], QUALITY_ONE / 4);
    assert_int_equal(counts[1], -QUALITY_ONE / 4);
    assert_int_equal(counts[2], QUALITY_ONE / 16);
    assert_int_equal(counts[QUALITY_MOMENTS + 15], QUALITY_ONE);
    quality_count_value(&(struct quality_tally){&plan, counts, QUALITY_ONE}, -.25, 9);
    assert_int_equal(counts[0], QUALITY_ONE / 4 + QUALITY_ONE);
    assert_int_equal(counts[QUALITY_MOMENTS + 19], QUALITY_ONE);
}

/* A model that answers nothing is right about nothing, whichever class it would
 * name. */
static void a_record_without_an_answer_counts_as_wrong(void **state)
{
    (void)state;
    static const double odd[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++)
        for (uint32_t truth = 0; truth < 3; truth++) {
            const struct quality_plan classes = {.classes = 3},
                                      value = {.error_clip = .5};
            int64_t counts[COUNTS_MAX] = {0}, values[COUNTS_MAX] = {0}, scores = 0;
            quality_count_class(&(struct quality_tally){&classes, counts, QUALITY_ONE},
                                truth, (const double[]){.5, odd[i], .5}, truth);
            assert_int_equal(counts[truth * 3 + truth], 0);
            assert_int_equal(counts[truth * 3 + (truth + 1) % 3], QUALITY_ONE);
            for (size_t j = 9; j < quality_counts(&classes); j++)
                scores += counts[j];
            assert_int_equal(scores, 0);
            quality_count_value(&(struct quality_tally){&value, values, QUALITY_ONE}, 0,
                                odd[i]);
            assert_int_equal(values[0], QUALITY_ONE);
            assert_int_equal(values[QUALITY_MOMENTS + QUALITY_BINS - 1], QUALITY_ONE);
        }
}

static void noise_that_the_sampler_has_no_room_for_is_refused(void **state)
{
    (void)state;
    struct grid grid;
    struct quality_plan plan = {.classes = 2, .records = 100, .noise_multiplier = 2e4};
    assert_int_equal(quality_grid(&grid, &plan, NULL), ST_INVALID);
    plan.noise_multiplier = 1e-12;
    assert_int_equal(quality_grid(&grid, &plan, NULL), ST_INVALID);
    plan.noise_multiplier = 1;
    assert_int_equal(quality_grid(&grid, &plan, NULL), ST_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_record_moves_the_vector_further_than_the_plan_says),
        cmocka_unit_test(nor_does_a_person),
        cmocka_unit_test(the_noise_is_that_of_the_whole_vector),
        cmocka_unit_test(a_record_counts_once_among_the_scores),
        cmocka_unit_test(two_classes_are_scored_by_the_second),
        cmocka_unit_test(a_value_counts_its_clipped_square_and_its_moments),
        cmocka_unit_test(a_record_without_an_answer_counts_as_wrong),
        cmocka_unit_test(noise_that_the_sampler_has_no_room_for_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
