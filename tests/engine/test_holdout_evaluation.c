/* Goal: the model is measured on the records held out and on no others, once, with
 * noise. Method: a division of a made-up dataset; counts by three loops over the
 * parameters of a linear model, with noise too small to hide them; then noise that can
 * be seen. */
#include "engine/holdout_evaluation.h"

#include "engine/dp/stepper.h"
#include "engine/quality/quality_count.h"
#include "tests/expect.h"
#include "tests/engine/gemm_fixture.h"
#include "tests/engine/trainer_fixture.h"

enum { COUNTS_OF_TEST = CLASSES * CLASSES + 2 * QUALITY_BINS };
static const struct division division = {0.2, 3};

/* Makes the world train on the records that are not held out. */
static struct matrix divide(struct world *world)
{
    struct matrix holdout = world->data;
    matrix_select(&holdout, &division, PART_HOLDOUT);
    matrix_select(&world->data, &division, PART_TRAIN);
    world->spec.records = world->data.records;
    return holdout;
}

static struct quality_plan plan_of(const struct matrix *holdout, double noise)
{
    return (struct quality_plan){.classes = holdout->classes,
                                 .error_clip = .5,
                                 .records = holdout->records,
                                 .noise_multiplier = noise};
}

static void the_held_out_records_are_counted_and_no_others(void **state)
{
    (void)state;
    struct world *world = world_create("dpsgd");
    set_model(&world->spec.model, 0, LOSS_SOFTMAX_CROSS_ENTROPY, CLASSES);
    const struct matrix holdout = divide(world);
    struct quality_plan plan = plan_of(&holdout, 1e-5);
    double released[COUNTS_OF_TEST], expected[CLASSES * CLASSES] = {0}, all = 0;
    float bias[CLASSES], weight[CLASSES * FEATURES];
    static const struct {
        unsigned threads;
        size_t views; /* of each record in training; measuring uses none */
    } ways[] = {{1, 0}, {3, 0}, {2, 4}};
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        train_spec_drop_network(&world->spec);
        world->spec.views =
            (struct view_spec){ways[way].views, true, 2, 1, 1, FEATURES};
        struct trainer_options options = options_of(world, ways[way].threads);
        options.evaluation = NULL;
        struct trainer *trainer = trainer_of(&options);
        run_steps(trainer, 10);
        read_linear(trainer, bias, weight, CLASSES);
        memset(expected, 0, sizeof expected);
        for (size_t i = 0; i < RECORDS; i++) {
            double z[CLASSES];
            size_t best = 0;
            if (division_part(&division, i) != PART_HOLDOUT)
                continue;
            for (size_t c = 0; c < CLASSES; c++) {
                z[c] = (double)bias[c];
                for (size_t j = 0; j < FEATURES; j++)
                    z[c] += (double)weight[c * FEATURES + j] *
                            (double)world->x[i * FEATURES + j];
                best = z[c] > z[best] ? c : best;
            }
            expected[world->targets[i] * CLASSES + best]++;
        }
        assert_int_equal(trainer_measure(trainer, &plan, &holdout, released, NULL),
                         ST_OK);
        for (size_t j = 0; j < (size_t)(CLASSES * CLASSES); j++)
            assert_close(released[j] + 1, expected[j] + 1, 1e-3);
        all = 0;
        for (size_t j = (size_t)(CLASSES * CLASSES); j < quality_counts(&plan); j++)
            all += released[j];
        assert_close(all, (double)holdout.records, 1e-4);
        trainer_destroy(trainer);
    }
    world_destroy(world);
}

/* Persons with four rows each, all of which a step reads: each row counts a quarter. */
static void persons_held_out_count_once_each(void **state)
{
    (void)state;
    enum { ROWS_EACH = 4, PERSONS = RECORDS / ROWS_EACH };
    static uint32_t starts[PERSONS + 1];
    struct world *world = world_create("dpsgd");
    set_model(&world->spec.model, 0, LOSS_SOFTMAX_CROSS_ENTROPY, CLASSES);
    for (uint32_t u = 0; u <= PERSONS; u++)
        starts[u] = u * ROWS_EACH;
    world->data.starts = starts;
    world->data.units = PERSONS;
    struct matrix holdout = world->data;
    matrix_select(&holdout, &division, PART_HOLDOUT);
    matrix_select(&world->data, &division, PART_TRAIN);
    assert_int_equal(matrix_units(&holdout) + matrix_units(&world->data), PERSONS);
    for (uint32_t u = 0; u < matrix_units(&holdout); u++)
        assert_int_equal(
            division_part(&division, matrix_unit(&holdout, u).first / ROWS_EACH),
            PART_HOLDOUT);
    for (uint32_t u = 0; u < matrix_units(&world->data); u++)
        assert_int_equal(
            division_part(&division, matrix_unit(&world->data, u).first / ROWS_EACH),
            PART_TRAIN);
    world->spec.unit = PRIVACY_UNIT_PERSON;
    world->spec.unit_rows = ROWS_EACH;
    world->spec.records = matrix_units(&world->data);
    struct quality_plan plan = plan_of(&holdout, 1e-5);
    plan.records = matrix_units(&holdout);
    double released[COUNTS_OF_TEST], expected[CLASSES * CLASSES] = {0}, all = 0;
    float bias[CLASSES], weight[CLASSES * FEATURES];
    struct trainer_options options = options_of(world, 2);
    options.evaluation = NULL;
    struct trainer *trainer = trainer_of(&options);
    run_steps(trainer, 10);
    read_linear(trainer, bias, weight, CLASSES);
    for (size_t i = 0; i < RECORDS; i++) {
        double z[CLASSES];
        size_t best = 0;
        if (division_part(&division, i / ROWS_EACH) != PART_HOLDOUT)
            continue;
        for (size_t c = 0; c < CLASSES; c++) {
            z[c] = (double)bias[c];
            for (size_t j = 0; j < FEATURES; j++)
                z[c] += (double)weight[c * FEATURES + j] *
                        (double)world->x[i * FEATURES + j];
            best = z[c] > z[best] ? c : best;
        }
        expected[world->targets[i] * CLASSES + best] += 1.0 / ROWS_EACH;
    }
    assert_int_equal(trainer_measure(trainer, &plan, &holdout, released, NULL), ST_OK);
    for (size_t j = 0; j < (size_t)(CLASSES * CLASSES); j++) {
        assert_close(released[j] + 1, expected[j] + 1, 1e-3);
        all += released[j];
    }
    assert_close(all, (double)plan.records, 1e-4);
    trainer_destroy(trainer);
    world_destroy(world);
}

static void a_regression_is_counted_in_mapped_units(void **state)
{
    (void)state;
    struct world *world = world_create("dpsgd");
    set_model(&world->spec.model, 0, LOSS_SQUARED, 1);
    world->data.classes = 0;
    world->data.targets = NULL;
    world->data.values = world->values;
    const struct matrix holdout = divide(world);
    struct quality_plan plan = plan_of(&holdout, 1e-5);
    struct trainer_options options = options_of(world, 2);
    double released[COUNTS_OF_TEST], sum = 0, squares = 0;
    options.evaluation = NULL;
    struct trainer *trainer = trainer_of(&options);
    run_steps(trainer, 3);
    for (size_t i = 0; i < RECORDS; i++) {
        if (division_part(&division, i) != PART_HOLDOUT)
            continue;
        sum += (double)world->values[i];
        squares += (double)world->values[i] * (double)world->values[i];
    }
    assert_int_equal(trainer_measure(trainer, &plan, &holdout, released, NULL), ST_OK);
    assert_close(released[1], sum, 2e-3);
    assert_close(released[2], squares, 2e-3);
    trainer_destroy(trainer);
    world_destroy(world);
}

/* 56 coordinates, each with noise of deviation 20 sqrt 2: their mean square is within
 * five deviations of chi-squared, and two measurements differ. */
static void every_look_has_noise_of_its_own(void **state)
{
    (void)state;
    struct world *world = world_create("dpsgd");
    const struct matrix holdout = divide(world);
    struct quality_plan exact = plan_of(&holdout, 1e-5), noisy = plan_of(&holdout, 20);
    struct trainer_options options = options_of(world, 2);
    double truth[COUNTS_OF_TEST], looks[2][COUNTS_OF_TEST], squares = 0, both = 0;
    size_t count = quality_counts(&noisy);
    options.evaluation = NULL;
    struct trainer *trainer = trainer_of(&options);
    run_steps(trainer, 2);
    assert_int_equal(trainer_measure(trainer, &exact, &holdout, truth, NULL), ST_OK);
    for (size_t k = 0; k < 2; k++)
        assert_int_equal(trainer_measure(trainer, &noisy, &holdout, looks[k], NULL),
                         ST_OK);
    for (size_t j = 0; j < count; j++) {
        double one = looks[0][j] - truth[j], other = looks[1][j] - truth[j];
        squares += one * one + other * other;
        both += one * other;
    }
    double mean = squares / (2 * (double)count) / (20 * 20 * 2);
    assert_true(fabs(mean - 1) < 5 * sqrt(2 / (2 * (double)count)));
    assert_true(fabs(both) / (20 * 20 * 2) < 5 * sqrt((double)count));
    trainer_destroy(trainer);
    world_destroy(world);
}

static void what_was_planned_for_others_is_refused(void **state)
{
    (void)state;
    struct world *world = world_create("dpsgd");
    const struct matrix holdout = divide(world);
    struct trainer_options options = options_of(world, 1);
    double released[COUNTS_OF_TEST];
    options.evaluation = NULL;
    struct trainer *trainer = trainer_of(&options);
    struct quality_plan plan = plan_of(&holdout, 1);
    plan.records++;
    assert_int_equal(trainer_measure(trainer, &plan, &holdout, released, NULL),
                     ST_INVALID);
    plan = plan_of(&holdout, 1e9);
    assert_int_equal(trainer_measure(trainer, &plan, &holdout, released, NULL),
                     ST_INVALID);
    trainer_destroy(trainer);
    world_destroy(world);
}

static void a_stop_releases_nothing(void **state)
{
    (void)state;
    struct world *world = world_create("dpsgd");
    const struct matrix holdout = divide(world);
    atomic_bool cancel = false;
    struct trainer_options options = options_of(world, 2);
    double released[COUNTS_OF_TEST] = {42};
    options.evaluation = NULL;
    options.cancel = &cancel;
    struct trainer *trainer = trainer_of(&options);
    struct quality_plan plan = plan_of(&holdout, 1);
    atomic_store(&cancel, true);
    assert_int_equal(trainer_measure(trainer, &plan, &holdout, released, NULL),
                     ST_CANCELLED);
    assert_true(released[0] == 42);
    trainer_destroy(trainer);
    world_destroy(world);
}

/* A record that contributes nothing keeps its place: the records next to it count bit
 * for bit what they counted before, however their rows round at their positions. Here
 * it is one whose features are not numbers, first, last and in the middle of the
 * holdout. */
static void an_absent_record_leaves_the_others_where_they_were(void **state)
{
    (void)state;
    struct world *world = world_create("dpsgd");
    const struct matrix holdout = divide(world);
    const struct quality_plan plan = plan_of(&holdout, 1e-5);
    struct trainer_options options = options_of(world, 2);
    double truth[COUNTS_OF_TEST], without[COUNTS_OF_TEST];
    options.evaluation = NULL;
    struct trainer *trainer = trainer_of(&options);
    run_steps(trainer, 3);
    assert_int_equal(trainer_measure(trainer, &plan, &holdout, truth, NULL), ST_OK);
    const uint64_t places[] = {0, holdout.records / 2, holdout.records - 1};
    for (size_t k = 0; k < 3; k++) {
        float *row =
            world->x + FEATURES * division_index(&division, PART_HOLDOUT, places[k]);
        float kept[FEATURES];
        double moved = 0;
        memcpy(kept, row, sizeof kept);
        for (size_t j = 0; j < FEATURES; j++)
            row[j] = NAN;
        assert_int_equal(trainer_measure(trainer, &plan, &holdout, without, NULL),
                         ST_OK);
        memcpy(row, kept, sizeof kept);
        for (size_t j = 0; j < quality_counts(&plan); j++)
            moved += fabs(without[j] - truth[j]);
        /* Its cell of the confusion may change, and it leaves one bin of the scores. */
        assert_true(moved < 3.01 && moved > .99);
    }
    trainer_destroy(trainer);
    world_destroy(world);
}

/* A part has the records of the whole at the places that the division names. */
static void a_part_of_a_matrix_shows_its_records_alone(void **state)
{
    (void)state;
    struct world *world = world_create("dpsgd");
    const struct matrix whole = world->data, holdout = divide(world);
    assert_int_equal(holdout.records + world->data.records, RECORDS);
    for (unsigned p = 0; p < PARTS_MAX; p++) {
        const struct matrix *matrix = p == PART_HOLDOUT ? &holdout : &world->data;
        for (uint32_t i = 0; i < matrix->records; i++) {
            uint32_t at = (uint32_t)division_index(&division, (enum part)p, i);
            float row[FEATURES], same[FEATURES];
            matrix_gather(matrix, row, FEATURES, &i, 1);
            matrix_gather(&whole, same, FEATURES, &at, 1);
            assert_memory_equal(row, same, sizeof row);
            assert_int_equal(matrix_target(matrix, i), world->targets[at]);
        }
    }
    world_destroy(world);
}

int main(int argc, char **argv)
{
    int result;
    (void)argc;
    if (!kernels_chosen(argv, &result))
        return result;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_held_out_records_are_counted_and_no_others),
        cmocka_unit_test(persons_held_out_count_once_each),
        cmocka_unit_test(a_regression_is_counted_in_mapped_units),
        cmocka_unit_test(every_look_has_noise_of_its_own),
        cmocka_unit_test(what_was_planned_for_others_is_refused),
        cmocka_unit_test(a_stop_releases_nothing),
        cmocka_unit_test(an_absent_record_leaves_the_others_where_they_were),
        cmocka_unit_test(a_part_of_a_matrix_shows_its_records_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
