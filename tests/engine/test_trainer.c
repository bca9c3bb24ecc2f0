/* Goal: a run follows its spec, is the same at any number of threads, can be stopped,
 * and is refused if it is impossible. Method: digests of the models of runs under a
 * fixed key. */
#include "engine/trainer.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/engine/gemm_fixture.h"
#include "tests/engine/trainer_fixture.h"

static void threads_do_not_matter(void **state)
{
    (void)state;
    static const char *const names[] = {"dpsgd", "sgd"};
    for (size_t k = 0; k < 2; k++) {
        uint8_t first[SHA256_SIZE], other[SHA256_SIZE];
        struct world *world = world_create(names[k]);
        world->spec.optimizer.momentum = 0.5;
        digest_of_run(world, 1, first);
        for (unsigned threads = 2; threads <= 7; threads++) {
            digest_of_run(world, threads, other);
            assert_memory_equal(first, other, SHA256_SIZE);
        }
        world_destroy(world);
    }
}

/* These runs look rows up for gradients and for differences, draw subsets, and skip
 * clients. */
static void threads_do_not_matter_at_two_points(void **state)
{
    (void)state;
    static const char *const names[] = {"diff2_gd", "diff2_bvr_l_sgd"};
    for (size_t k = 0; k < 2; k++) {
        uint8_t first[SHA256_SIZE], other[SHA256_SIZE];
        struct world *world = world_create(names[k]);
        world->spec.batch_size = RECORDS;
        world->spec.noise_multiplier = 2;
        world->spec.optimizer.learning_rate = 0.05;
        world->spec.optimizer.learning_rate_final = 0.05;
        set_parameter(world, "clients", 3);
        set_parameter(world, "restart_interval", 2);
        if (k == 1)
            set_parameter(world, "local_steps", 4);
        digest_of_run(world, 1, first);
        for (unsigned threads = 2; threads <= 4; threads++) {
            digest_of_run(world, threads, other);
            assert_memory_equal(first, other, SHA256_SIZE);
        }
        world_destroy(world);
    }
}

/* Blocks of every height, and public data in pieces of all sizes. */
static void threads_do_not_matter_on_images(void **state)
{
    (void)state;
    static const char *const names[] = {"dpsgd", "sgd"};
    static const uint64_t batches[] = {16, 64, 300, 1000, RECORDS};
    for (size_t k = 0; k < 10; k++) {
        uint8_t first[SHA256_SIZE], other[SHA256_SIZE];
        struct world *world = world_create(names[k % 2]);
        set_image_model(world);
        world->spec.batch_size = batches[k / 2];
        digest_of_run(world, 1, first);
        for (unsigned threads = 2; threads <= 3; threads++) {
            digest_of_run(world, threads, other);
            assert_memory_equal(first, other, SHA256_SIZE);
        }
        world_destroy(world);
    }
}

/* Another number of threads cuts the batch into other micro-batches, so each record has
 * another row. */
static void masks_are_the_same_at_any_number_of_threads(void **state)
{
    (void)state;
    static const char *const names[] = {"dpsgd", "sgd"};
    for (size_t k = 0; k < 2; k++) {
        uint8_t first[SHA256_SIZE], other[SHA256_SIZE];
        struct world *world = world_create(names[k]);
        set_dropping_model(world, 0.5);
        digest_of_run(world, 1, first);
        for (unsigned threads = 2; threads <= 5; threads++) {
            digest_of_run(world, threads, other);
            assert_memory_equal(first, other, SHA256_SIZE);
        }
        set_dropping_model(world, 0);
        digest_of_run(world, 1, other);
        assert_memory_not_equal(first, other, SHA256_SIZE);
        world_destroy(world);
    }
}

static void no_run_is_another(void **state)
{
    (void)state;
    uint8_t digest[3][SHA256_SIZE];
    struct world *world = world_create("dpsgd");
    struct trainer_options options = options_of(world, 1);
    for (int k = 0; k < 3; k++) {
        options.test_key = k < 2 ? NULL : key;
        struct trainer *trainer = trainer_of(&options);
        run_steps(trainer, 2);
        digest_of(trainer, digest[k]);
        trainer_destroy(trainer);
    }
    assert_memory_not_equal(digest[0], digest[1], SHA256_SIZE);
    assert_memory_not_equal(digest[0], digest[2], SHA256_SIZE);
    world_destroy(world);
}

static void training_learns(void **state)
{
    (void)state;
    static const struct {
        const char *algorithm;
        struct optimizer_spec optimizer;
    } rows[] = {
        {"dpsgd",
         {.kind = OPTIMIZER_SGD, .learning_rate = 2, .learning_rate_final = 0.5}},
        {"dpsgd",
         {.kind = OPTIMIZER_ADAM,
          .learning_rate = 0.02,
          .learning_rate_final = 0.02,
          .beta1 = 0.9,
          .beta2 = 0.999,
          .epsilon = 1e-8}},
        {"sgd",
         {.kind = OPTIMIZER_SGD,
          .learning_rate = 0.5,
          .learning_rate_final = 0.5,
          .momentum = 0.9}},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct world *world = world_create(rows[k].algorithm);
        struct evaluation before, after;
        world->spec.optimizer = rows[k].optimizer;
        world->spec.steps = 80;
        struct trainer_options options = options_of(world, 2);
        struct trainer *trainer = trainer_of(&options);
        assert_int_equal(trainer_evaluate(trainer, &before, NULL), ST_OK);
        run_steps(trainer, 80);
        assert_int_equal(trainer_steps_done(trainer), 80);
        assert_int_equal(trainer_evaluate(trainer, &after, NULL), ST_OK);
        assert_true(after.accuracy > 0.8 && after.accuracy > before.accuracy);
        assert_true(after.loss < 0.8 * before.loss);
        trainer_destroy(trainer);
        world_destroy(world);
    }
}

static void the_certificate_is_the_plan(void **state)
{
    (void)state;
    struct world *world = world_create("dpsgd");
    struct trainer_options options = options_of(world, 1);
    struct trainer *trainer = trainer_of(&options);
    struct noise_certificate certificate;
    assert_true(trainer_noise_certificate(trainer, &certificate));
    assert_true(certificate.plan.clip_norm == 1 && certificate.plan.spread == 1);
    assert_int_equal(certificate.plan.grid.cells, 3);
    assert_true(certificate.plan.grid.cell_rows_max >= 100 &&
                certificate.plan.grid.cell_rows_max <= 500);
    assert_int_equal(certificate.plan.grid.terms_max,
                     certificate.plan.grid.cell_rows_max);
    assert_int_equal(certificate.plan.grid.roundings, 1);
    assert_true(certificate.plan.grid.scale * 0.8 *
                    (1 + certificate.plan.grid.inflation) <
                0x1p36);
    assert_true(certificate.plan.grid.scale * 0.8 *
                    (1 + certificate.plan.grid.inflation) >
                0.999 * 0x1p36);
    assert_true(certificate.gemm_kernel[0] != '\0');
    assert_true(certificate.kernel[0] != '\0');
    trainer_destroy(trainer);
    world_destroy(world);

    world = world_create("sgd");
    options = options_of(world, 1);
    trainer = trainer_of(&options);
    assert_false(trainer_noise_certificate(trainer, &certificate));
    trainer_destroy(trainer);
    world_destroy(world);
}

static void a_cancelled_step_leaves_the_model(void **state)
{
    (void)state;
    uint8_t before[SHA256_SIZE], after[SHA256_SIZE];
    atomic_bool cancel = false;
    struct evaluation evaluation;
    struct world *world = world_create("dpsgd");
    struct trainer_options options = options_of(world, 2);
    options.cancel = &cancel;
    struct trainer *trainer = trainer_of(&options);
    run_steps(trainer, 1);
    digest_of(trainer, before);
    atomic_store(&cancel, true);
    assert_int_equal(trainer_step(trainer, NULL), ST_CANCELLED);
    assert_int_equal(trainer_evaluate(trainer, &evaluation, NULL), ST_CANCELLED);
    digest_of(trainer, after);
    assert_memory_equal(before, after, SHA256_SIZE);
    assert_int_equal(trainer_steps_done(trainer), 1);
    trainer_destroy(trainer);
    world_destroy(world);
}

struct canceller {
    atomic_bool cancel, go;
};

static void *cancel_soon(void *context)
{
    struct canceller *canceller = context;
    struct timespec pause = {.tv_nsec = 2000000};
    while (!atomic_load(&canceller->go))
        ;
    nanosleep(&pause, NULL);
    atomic_store(&canceller->cancel, true);
    return NULL;
}

static void a_flag_raised_in_a_step_is_seen(void **state)
{
    (void)state;
    struct canceller canceller = {0};
    pthread_t thread;
    struct world *world = world_create("dpsgd");
    set_model(&world->spec.model, 500, LOSS_SOFTMAX_CROSS_ENTROPY, CLASSES);
    world->spec.steps = 1000000;
    world->spec.batch_size = RECORDS;
    struct trainer_options options = options_of(world, 2);
    options.cancel = &canceller.cancel;
    struct trainer *trainer = trainer_of(&options);
    enum status status = ST_OK;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &canceller), 0);
    atomic_store(&canceller.go, true);
    while (status == ST_OK)
        status = trainer_step(trainer, NULL);
    assert_int_equal(status, ST_CANCELLED);
    pthread_join(thread, NULL);
    trainer_destroy(trainer);
    world_destroy(world);
}

static void a_diverged_run_is_told(void **state)
{
    (void)state;
    struct world *world = world_create("dpsgd");
    struct error error = {0};
    enum status status = ST_OK;
    world->spec.batch_size = 1; /* the divisor: noise of 0.8, times the rate */
    world->spec.optimizer.learning_rate = world->spec.optimizer.learning_rate_final =
        3e38;
    struct trainer_options options = options_of(world, 2);
    struct trainer *trainer = trainer_of(&options);
    for (int k = 0; k < 20 && status == ST_OK; k++)
        status = trainer_step(trainer, &error);
    assert_int_equal(status, ST_INTERNAL);
    assert_string_equal(error.text, "diverged");
    trainer_destroy(trainer);
    world_destroy(world);
}

static enum status compile_and_price(const struct world *world,
                                     struct trainer_cost *cost, struct error *error)
{
    struct train_spec spec = world->spec;
    struct data_shape shape = {FEATURES, world->data.classes};
    spec.network = NULL;
    enum status status = train_spec_compile(&spec, shape, error);
    if (status == ST_OK)
        status = trainer_cost(cost, &spec, 1, error);
    train_spec_drop_network(&spec);
    return status;
}

static void expect_refused(struct world *world)
{
    struct trainer_cost cost = {0};
    struct error error = {0};
    struct trainer *trainer = NULL;
    struct trainer_options options = options_of(world, 1);
    assert_int_equal(compile_and_price(world, &cost, &error), ST_INVALID);
    assert_true(error.text[0] != '\0');
    assert_true(cost.memory == 0);
    assert_int_equal(trainer_create(&trainer, &options, NULL), ST_INVALID);
    assert_null(trainer);
}

static void what_cannot_run_is_refused(void **state)
{
    (void)state;
    struct world *world = world_create("dpsgd");
    compile_model(world);
    struct train_spec good = world->spec;
    world->spec.noise_multiplier = 1e-4;
    expect_refused(world);
    world->spec.noise_multiplier = 1e9;
    expect_refused(world);
    world->spec = good;
    world->spec.batch_size = RECORDS + 1;
    expect_refused(world);
    world->spec.batch_size = 0;
    expect_refused(world);
    world->spec = good;
    world->spec.steps = 0;
    expect_refused(world);
    world->spec = good;
    world->data.classes = CLASSES + 1; /* one output too few */
    expect_refused(world);
    world->data.classes = 0; /* softmax on a regression */
    expect_refused(world);
    world->data.classes = CLASSES;

    struct trainer *trainer = NULL;
    struct matrix narrower = world->data;
    narrower.features--;
    struct trainer_options options = options_of(world, 1);
    options.evaluation = &narrower;
    assert_int_equal(trainer_create(&trainer, &options, NULL), ST_INVALID);
    options = options_of(world, 0);
    assert_int_equal(trainer_create(&trainer, &options, NULL), ST_INVALID);
    world->spec.records--;
    options = options_of(world, 1);
    assert_int_equal(trainer_create(&trainer, &options, NULL), ST_INVALID);
    world->spec = good;
    world_destroy(world);
}

static void cost_has_no_term_batch_by_parameters(void **state)
{
    (void)state;
    struct world *world = world_create("dpsgd");
    struct trainer_cost small, large, wide;
    set_model(&world->spec.model, 4000, LOSS_SOFTMAX_CROSS_ENTROPY, CLASSES);
    world->spec.records = 1000000;
    world->spec.batch_size = 1024;
    compile_model(world);
    assert_int_equal(trainer_cost(&small, &world->spec, 2, NULL), ST_OK);
    assert_int_equal(small.parameters, 4000 * (FEATURES + 1) + CLASSES * 4001);
    world->spec.batch_size = 8192;
    assert_int_equal(trainer_cost(&large, &world->spec, 2, NULL), ST_OK);
    assert_true(large.memory < small.memory + 200000); /* only indices and cells */
    assert_int_equal(trainer_cost(&wide, &world->spec, 4, NULL), ST_OK);
    assert_true(wide.memory > large.memory);
    world_destroy(world);
}

static void a_spec_has_the_mechanism_it_runs(void **state)
{
    (void)state;
    struct world *world = world_create("dpsgd");
    struct mechanism m;
    assert_int_equal(train_spec_mechanism(&m, &world->spec, NULL), ST_OK);
    assert_int_equal(m.kind, MECHANISM_SAMPLED_GAUSSIAN);
    assert_int_equal(m.relation, RELATION_ZERO_OUT);
    assert_true(m.prefixes_priced);
    assert_int_equal(m.run_count, 1);
    assert_true(m.runs[0].sampling_rate == 300.0 / RECORDS);
    assert_true(m.runs[0].noise_multiplier == 0.8);
    assert_int_equal(m.runs[0].steps, 20);
    mechanism_fini(&m);
    world->spec.noise_multiplier = 0;
    assert_int_equal(train_spec_mechanism(&m, &world->spec, NULL), ST_INVALID);
    world_destroy(world);
    world = world_create("sgd");
    assert_int_equal(train_spec_mechanism(&m, &world->spec, NULL), ST_INVALID);
    world_destroy(world);
}

static void destroying_nothing_is_allowed(void **state)
{
    (void)state;
    trainer_destroy(NULL);
}

int main(int argc, char **argv)
{
    int result;
    (void)argc;
    if (!kernels_chosen(argv, &result))
        return result;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(threads_do_not_matter_on_images),
        cmocka_unit_test(threads_do_not_matter_at_two_points),
        cmocka_unit_test(masks_are_the_same_at_any_number_of_threads),
        cmocka_unit_test(no_run_is_another),
        cmocka_unit_test(training_learns),
        cmocka_unit_test(the_certificate_is_the_plan),
        cmocka_unit_test(a_cancelled_step_leaves_the_model),
        cmocka_unit_test(a_flag_raised_in_a_step_is_seen),
        cmocka_unit_test(a_diverged_run_is_told),
        cmocka_unit_test(what_cannot_run_is_refused),
        cmocka_unit_test(cost_has_no_term_batch_by_parameters),
        cmocka_unit_test(a_spec_has_the_mechanism_it_runs),
        cmocka_unit_test(destroying_nothing_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
