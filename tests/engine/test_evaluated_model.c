/* Goal: a published model that is loaded gives the figures of its own training, on
 * public records and on held-out units, with any number of threads; what does not fit
 * it is refused, and its memory follows from public numbers. Method: a short training,
 * whose model is saved and loaded again. */
#include "engine/evaluated_model.h"

#include "engine/dp/stepper.h"
#include "engine/quality/quality_count.h"
#include "tests/expect.h"
#include "tests/engine/gemm_fixture.h"
#include "tests/engine/trainer_fixture.h"

enum { COUNTS_OF_TEST = CLASSES * CLASSES + 2 * QUALITY_BINS };
static const struct division division = {0.2, 3};
static char path[] = "/tmp/epsilond-evaluated-XXXXXX";

static struct trained {
    struct world *world;
    struct matrix all, holdout;
    struct trainer *trainer;
    struct file_checksum seal;
    struct quality_plan plan;
} trained;

static int begin(void **state)
{
    (void)state;
    struct world *world = trained.world = world_create("dpsgd");
    set_model(&world->spec.model, 0, LOSS_SOFTMAX_CROSS_ENTROPY, CLASSES);
    trained.all = trained.holdout = world->data;
    matrix_select(&trained.holdout, &division, PART_HOLDOUT);
    matrix_select(&world->data, &division, PART_TRAIN);
    world->spec.records = world->data.records;
    trained.plan = (struct quality_plan){.classes = CLASSES,
                                         .records = trained.holdout.records,
                                         .noise_multiplier = 1e-5};
    struct trainer_options options = options_of(world, 2);
    options.evaluation = &trained.all;
    trained.trainer = trainer_of(&options);
    run_steps(trained.trainer, 10);
    close(mkstemp(path));
    assert_int_equal(trainer_save(trained.trainer, path, (struct metadata_list){0},
                                  &trained.seal, NULL),
                     ST_OK);
    return 0;
}

static int end(void **state)
{
    (void)state;
    unlink(path);
    trainer_destroy(trained.trainer);
    world_destroy(trained.world);
    return 0;
}

static struct evaluated_model_setup setup_of(unsigned threads)
{
    return (struct evaluated_model_setup){
        .source = {.files = {.path = path, .seal = &trained.seal},
                   .model = &trained.world->spec.model,
                   .data = {.features = FEATURES, .classes = CLASSES}},
        .unit_rows = 1,
        .threads = threads};
}

static void the_figures_are_those_of_the_training(void **state)
{
    (void)state;
    static const unsigned threads[] = {1, 2, 5};
    struct evaluation own, later;
    double measured[COUNTS_OF_TEST], again[COUNTS_OF_TEST];
    assert_int_equal(trainer_evaluate(trained.trainer, &own, NULL), ST_OK);
    assert_int_equal(trainer_measure(trained.trainer, &trained.plan, &trained.holdout,
                                     measured, NULL),
                     ST_OK);
    for (size_t i = 0; i < 3; i++) {
        struct evaluated_model *model = NULL;
        const struct evaluated_model_setup setup = setup_of(threads[i]);
        assert_int_equal(evaluated_model_open(&model, &setup, NULL), ST_OK);
        assert_int_equal(evaluated_model_score(model, &trained.all, &later, NULL),
                         ST_OK);
        assert_true(later.accuracy == own.accuracy);
        assert_close(later.loss, own.loss, 1e-12);
        assert_int_equal(evaluated_model_measure(model, &trained.plan, &trained.holdout,
                                                 again, NULL),
                         ST_OK);
        for (size_t j = 0; j < COUNTS_OF_TEST; j++)
            assert_close(again[j] + 1, measured[j] + 1, 1e-3);
        evaluated_model_close(model);
    }
}

/* Two measurements of one model have noise of their own. */
static void each_measurement_draws_its_own_noise(void **state)
{
    (void)state;
    struct evaluated_model *model = NULL;
    const struct evaluated_model_setup setup = setup_of(2);
    struct quality_plan plan = trained.plan;
    double one[COUNTS_OF_TEST], other[COUNTS_OF_TEST];
    size_t same = 0;
    plan.noise_multiplier = 5;
    assert_int_equal(evaluated_model_open(&model, &setup, NULL), ST_OK);
    assert_int_equal(evaluated_model_measure(model, &plan, &trained.holdout, one, NULL),
                     ST_OK);
    assert_int_equal(
        evaluated_model_measure(model, &plan, &trained.holdout, other, NULL), ST_OK);
    for (size_t j = 0; j < COUNTS_OF_TEST; j++)
        same += one[j] == other[j];
    assert_true(same < COUNTS_OF_TEST / 10);
    evaluated_model_close(model);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct evaluated_model *model = NULL;
    struct evaluation unused;
    uint64_t memory;
    double released[COUNTS_OF_TEST];
    struct evaluated_model_setup setup = setup_of(2);
    struct file_checksum other = trained.seal;
    struct matrix wide = trained.all, many = trained.all;
    atomic_bool cancel = true;
    setup.cancel = &cancel;
    assert_int_equal(evaluated_model_open(&model, &setup, NULL), ST_OK);
    wide.features--;
    many.classes++;
    assert_int_equal(evaluated_model_score(model, &wide, &unused, NULL), ST_INVALID);
    assert_int_equal(evaluated_model_score(model, &many, &unused, NULL), ST_INVALID);
    assert_int_equal(
        evaluated_model_measure(model, &trained.plan, &wide, released, NULL),
        ST_INVALID);
    assert_int_equal(
        evaluated_model_measure(model, &trained.plan, &trained.holdout, released, NULL),
        ST_CANCELLED);
    evaluated_model_close(model);
    evaluated_model_close(NULL);
    other.sha256[0] ^= 1;
    setup.source.files.seal = &other;
    assert_int_equal(evaluated_model_open(&model, &setup, NULL), ST_CORRUPT);
    setup = setup_of(2);
    setup.source.files.path = "/tmp/epsilond-there-is-no-such-model";
    assert_int_equal(evaluated_model_open(&model, &setup, NULL), ST_IO);
    setup = setup_of(2);
    setup.source.data.classes = 0; /* its loss is of classes */
    assert_int_equal(evaluated_model_open(&model, &setup, NULL), ST_INVALID);
    assert_int_equal(evaluated_model_memory(&memory, &setup, NULL, NULL), ST_INVALID);
}

static void its_memory_grows_with_threads_and_counts(void **state)
{
    (void)state;
    uint64_t public[2], measured[2];
    for (unsigned i = 0; i < 2; i++) {
        const struct evaluated_model_setup setup = setup_of(1 + 2 * i);
        assert_int_equal(evaluated_model_memory(&public[i], &setup, NULL, NULL), ST_OK);
        assert_int_equal(
            evaluated_model_memory(&measured[i], &setup, &trained.plan, NULL), ST_OK);
        assert_true(measured[i] ==
                    public[i] + (1 + 2 * i) * holdout_evaluation_size(&trained.plan,
                                                                      PREDICTOR_ROWS));
    }
    assert_true(public[0] > (FEATURES + 1) * CLASSES * sizeof(float));
    assert_true(public[1] > public[0] && public[1] < 3 * public[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_figures_are_those_of_the_training),
        cmocka_unit_test(each_measurement_draws_its_own_noise),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(its_memory_grows_with_threads_and_counts),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
