/* Goal: a run is what its spec says, the same at any number of threads, and nothing but
 * the noisy model comes out of it. Method: small made-up datasets in memory under a
 * fixed key; evaluation against three loops; noise against its planned deviation. */
#include "engine/trainer.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "tests/expect.h"
#include "tests/engine/kernels.h"

enum { RECORDS = 1500, FEATURES = 23, CLASSES = 4 };

static const uint8_t key[32] = {3, 1, 4, 1, 5, 9, 2, 6};

struct world {
    struct matrix data;
    struct train_spec spec;
    float x[RECORDS * FEATURES];
    uint32_t targets[RECORDS];
    float values[RECORDS];
};

static float generic(size_t i, size_t j)
{
    return (float)sin((double)(i * 131 + j * j * 7) * 0.37);
}

static void set_model(struct model_spec *model, size_t hidden, enum loss loss,
                      uint32_t outputs)
{
    model_spec_fini(model);
    *model = (struct model_spec){.preset = hidden > 0 ? PRESET_MLP : PRESET_LINEAR,
                                 .hidden_count = hidden > 0,
                                 .hidden = {(uint32_t)hidden},
                                 .activation = LAYER_TANH,
                                 .bias = true,
                                 .loss = loss,
                                 .init_seed = 11};
    model_spec_expand(model, outputs);
}

/* Classes that a linear model can tell apart, mostly. */
static struct world *world_create(const char *algorithm)
{
    struct world *world = calloc(1, sizeof *world);
    for (size_t i = 0; i < RECORDS; i++) {
        world->targets[i] = (uint32_t)(i % CLASSES);
        for (size_t j = 0; j < FEATURES; j++)
            world->x[i * FEATURES + j] =
                generic(i, j) + (j % CLASSES == i % CLASSES ? 0.8F : 0);
        world->values[i] = 0.3F * world->x[i * FEATURES] - 0.2F;
    }
    world->data = (struct matrix){.records = RECORDS,
                                  .features = FEATURES,
                                  .classes = CLASSES,
                                  .element = ELEMENT_F32,
                                  .rows = world->x,
                                  .targets = world->targets};
    world->spec = (struct train_spec){.optimizer = {.kind = OPTIMIZER_SGD,
                                                    .learning_rate = 0.5,
                                                    .learning_rate_final = 0.5},
                                      .relation = RELATION_ZERO_OUT,
                                      .records = RECORDS,
                                      .batch_size = 300,
                                      .steps = 20,
                                      .noise_multiplier =
                                          strcmp(algorithm, "sgd") == 0 ? 0 : 0.8};
    algorithm_spec_init(&world->spec.algorithm, algorithm_find(algorithm));
    set_model(&world->spec.model, 16, LOSS_SOFTMAX_CROSS_ENTROPY, CLASSES);
    return world;
}

static void set_parameter(struct world *world, const char *name, double value)
{
    struct algorithm_spec *spec = &world->spec.algorithm;
    size_t k = 0;
    while (strcmp(spec->algorithm->parameters[k].name, name) != 0)
        k++;
    spec->values[k] = value;
}

static void world_destroy(struct world *world)
{
    train_spec_fini(&world->spec);
    free(world);
}

static struct trainer_options options_of(const struct world *world, unsigned threads)
{
    return (struct trainer_options){.spec = &world->spec,
                                    .data = &world->data,
                                    .evaluation = &world->data,
                                    .threads = threads,
                                    .test_key = key};
}

static struct trainer *trainer_of(const struct trainer_options *options)
{
    struct trainer *trainer;
    struct error error = {0};
    if (trainer_create(&trainer, options, &error) != ST_OK)
        fail_msg("%s", error.text);
    return trainer;
}

static void run_steps(struct trainer *trainer, uint64_t steps)
{
    for (uint64_t k = 0; k < steps; k++)
        assert_int_equal(trainer_step(trainer, NULL), ST_OK);
}

static void digest_of(struct trainer *trainer, uint8_t digest[SHA256_SIZE])
{
    char path[] = "/tmp/epsilond-trainer-XXXXXX";
    uint64_t size;
    close(mkstemp(path));
    assert_int_equal(trainer_save(trainer, path, NULL, 0, digest, &size, NULL), ST_OK);
    assert_true(size > 0);
    unlink(path);
}

static void digest_of_run(const struct world *world, unsigned threads,
                          uint8_t digest[SHA256_SIZE])
{
    struct trainer_options options = options_of(world, threads);
    struct trainer *trainer = trainer_of(&options);
    run_steps(trainer, world->spec.steps);
    digest_of(trainer, digest);
    trainer_destroy(trainer);
}

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

/* Rows are found for gradients and for differences, subsets drawn, clients passed over. */
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

/* Dense layers with group norms, dropout and a residual. */
static void set_dropping_model(struct world *world, double rate)
{
    struct layer_spec dense = {.kind = LAYER_DENSE, .out = 16, .bias = true};
    struct layer_spec layers[] = {
        dense,
        {.kind = LAYER_GROUP_NORM, .groups = 4, .epsilon = 1e-5},
        {.kind = LAYER_SIGMOID},
        {.kind = LAYER_DROPOUT, .rate = rate},
        {.kind = LAYER_RESIDUAL, .body = 2},
        dense,
        {.kind = LAYER_DROPOUT, .rate = rate},
        {.kind = LAYER_DENSE, .out = CLASSES, .bias = true}};
    struct model_spec model = {.layer_count = sizeof layers / sizeof *layers,
                               .layers = layers,
                               .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
                               .init_seed = 11};
    model_spec_fini(&world->spec.model);
    model_spec_copy(&world->spec.model, &model);
}

/* Threads cut the batch into other micro-batches, and other rows, for each record. */
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

static void evaluation_drops_nothing(void **state)
{
    (void)state;
    struct evaluation with, without;
    struct world *world = world_create("dpsgd");
    world->spec.steps = 1;
    set_dropping_model(world, 0.9);
    struct trainer_options options = options_of(world, 2);
    struct trainer *trainer = trainer_of(&options);
    /* A step leaves its mark in the workspaces; the next evaluation must not see it. */
    assert_int_equal(trainer_evaluate(trainer, &without, NULL), ST_OK);
    world->spec.noise_multiplier = 0.8;
    trainer_destroy(trainer);

    world->spec.optimizer.learning_rate = world->spec.optimizer.learning_rate_final =
        1e-30;
    trainer = trainer_of(&options);
    run_steps(trainer, 1);
    assert_int_equal(trainer_evaluate(trainer, &with, NULL), ST_OK);
    trainer_destroy(trainer);
    assert_true(with.loss == without.loss && with.accuracy == without.accuracy);
    world_destroy(world);
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
        {"dpsgd", {OPTIMIZER_SGD, 2, 0.5, 0, 0, 0, 0}},
        {"dpsgd", {OPTIMIZER_ADAM, 0.02, 0.02, 0, 0.9, 0.999, 1e-8}},
        {"sgd", {OPTIMIZER_SGD, 0.5, 0.5, 0.9, 0, 0, 0}},
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

/* Reads the tensors of a saved linear model back, in the order bias, weight by name. */
static void read_linear(struct trainer *trainer, float *bias, float *weight,
                        size_t outputs)
{
    char path[] = "/tmp/epsilond-trainer-XXXXXX";
    uint8_t digest[SHA256_SIZE];
    uint64_t size;
    struct safetensors *file;
    close(mkstemp(path));
    assert_int_equal(trainer_save(trainer, path, NULL, 0, digest, &size, NULL), ST_OK);
    assert_int_equal(safetensors_open(&file, path, NULL), ST_OK);
    for (size_t k = 0; k < safetensors_tensor_count(file); k++) {
        const struct tensor *tensor = safetensors_tensor(file, k);
        float *to = tensor->count == outputs ? bias : weight;
        assert_int_equal(safetensors_read(file, tensor, to, NULL), ST_OK);
    }
    safetensors_close(file);
    unlink(path);
}

static void evaluation_is_three_loops(void **state)
{
    (void)state;
    struct world *world = world_create("dpsgd");
    set_model(&world->spec.model, 0, LOSS_SOFTMAX_CROSS_ENTROPY, CLASSES);
    struct trainer_options options = options_of(world, 3);
    struct trainer *trainer = trainer_of(&options);
    float bias[CLASSES], weight[CLASSES * FEATURES];
    struct evaluation evaluation;
    double loss = 0, right = 0;
    run_steps(trainer, 10);
    read_linear(trainer, bias, weight, CLASSES);
    for (size_t i = 0; i < RECORDS; i++) {
        double z[CLASSES], sum = 0;
        size_t best = 0;
        for (size_t c = 0; c < CLASSES; c++) {
            z[c] = (double)bias[c];
            for (size_t j = 0; j < FEATURES; j++)
                z[c] += (double)weight[c * FEATURES + j] *
                        (double)world->x[i * FEATURES + j];
            sum += exp(z[c]);
            best = z[c] > z[best] ? c : best;
        }
        loss += log(sum) - z[world->targets[i]];
        right += best == world->targets[i];
    }
    assert_int_equal(trainer_evaluate(trainer, &evaluation, NULL), ST_OK);
    assert_close(evaluation.loss, loss / RECORDS, 1e-6);
    assert_close(evaluation.accuracy, right / RECORDS, 1e-12);
    trainer_destroy(trainer);
    world_destroy(world);
}

static void a_regression_has_an_error_in_mapped_units(void **state)
{
    (void)state;
    struct world *world = world_create("dpsgd");
    struct evaluation before, after;
    set_model(&world->spec.model, 0, LOSS_SQUARED, 1);
    world->data.classes = 0;
    world->data.targets = NULL;
    world->data.values = world->values;
    world->spec.steps = 100;
    world->spec.optimizer.learning_rate = 0.1;
    world->spec.optimizer.learning_rate_final = 0.02;
    struct trainer_options options = options_of(world, 2);
    struct trainer *trainer = trainer_of(&options);
    assert_int_equal(trainer_evaluate(trainer, &before, NULL), ST_OK);
    run_steps(trainer, 100);
    assert_int_equal(trainer_evaluate(trainer, &after, NULL), ST_OK);
    assert_true(after.rmse < 0.2 && after.rmse < before.rmse);
    assert_close(after.rmse * after.rmse / 2, after.loss, 1e-12);
    assert_true(after.accuracy == 0);
    trainer_destroy(trainer);
    world_destroy(world);
}

static void records_that_are_not_finite_leave_only_noise(void **state)
{
    (void)state;
    uint8_t digest[2][SHA256_SIZE];
    struct world *world = world_create("dpsgd");
    set_model(&world->spec.model, 400, LOSS_SOFTMAX_CROSS_ENTROPY, CLASSES);
    world->spec.model.layers[1].kind = LAYER_RELU;
    for (int k = 0; k < 2; k++) { /* two datasets of which nothing may be seen */
        for (size_t i = 0; i < RECORDS * FEATURES; i++)
            world->x[i] = (k == 0 ? 3e38F : 2.9e38F) * (i % 2 == 0 ? 1 : -1);
        digest_of_run(world, 2, digest[k]);
    }
    assert_memory_equal(digest[0], digest[1], SHA256_SIZE);
    world_destroy(world);
}

static void the_noise_of_a_step_has_the_planned_deviation(void **state)
{
    (void)state;
    struct world *world = world_create("dpsgd");
    set_model(&world->spec.model, 0, LOSS_SOFTMAX_CROSS_ENTROPY, CLASSES);
    world->spec.optimizer.learning_rate = world->spec.optimizer.learning_rate_final = 1;
    set_parameter(world, "clip_norm", 0.37);
    for (size_t i = 0; i < RECORDS * FEATURES; i++)
        world->x[i] = 3e38F * (i % 2 == 0 ? 1 : -1);
    struct trainer_options options = options_of(world, 2);
    struct trainer *trainer = trainer_of(&options);
    struct noise_certificate certificate;
    float before[CLASSES * FEATURES], after[CLASSES * FEATURES], bias[CLASSES];
    double squares = 0, count = 0;
    assert_true(trainer_noise_certificate(trainer, &certificate));
    for (int step = 0; step < 20; step++) {
        read_linear(trainer, bias, before, CLASSES);
        run_steps(trainer, 1);
        read_linear(trainer, bias, after, CLASSES);
        for (int j = 0; j < CLASSES * FEATURES; j++, count++)
            squares += (double)(after[j] - before[j]) * (double)(after[j] - before[j]);
    }
    double expected = 0.8 * 0.37 * (1 + certificate.inflation) / 300;
    assert_close(sqrt(squares / count), expected, 5 / sqrt(2 * count));
    trainer_destroy(trainer);
    world_destroy(world);
}

enum { WEIGHTS = CLASSES * FEATURES };

/* By how much each of the first steps of a linear model moves its weights. */
static void moves_of(const struct world *world, size_t steps, float *moves)
{
    struct trainer_options options = options_of(world, 2);
    struct trainer *trainer = trainer_of(&options);
    float before[WEIGHTS], after[WEIGHTS], bias[CLASSES];
    for (size_t k = 0; k < steps; k++) {
        read_linear(trainer, bias, before, CLASSES);
        run_steps(trainer, 1);
        read_linear(trainer, bias, after, CLASSES);
        for (size_t j = 0; j < WEIGHTS; j++)
            moves[k * WEIGHTS + j] = after[j] - before[j];
    }
    trainer_destroy(trainer);
}

static double norm_of(const float *a, const float *b)
{
    double squares = 0;
    for (size_t j = 0; j < WEIGHTS; j++) {
        double apart = (double)a[j] - (b != NULL ? (double)b[j] : 0);
        squares += apart * apart;
    }
    return sqrt(squares);
}

static void each_step_has_its_own_noise_and_its_own_batch(void **state)
{
    (void)state;
    float moves[3 * WEIGHTS];
    struct world *world = world_create("sgd");
    set_model(&world->spec.model, 0, LOSS_SOFTMAX_CROSS_ENTROPY, CLASSES);
    world->spec.optimizer.learning_rate = world->spec.optimizer.learning_rate_final =
        0.01;
    moves_of(world, 3, moves);
    for (size_t k = 0; k < 2; k++) /* batches of 300 differ by about 1 / sqrt(300) */
        assert_true(norm_of(moves + k * WEIGHTS, moves + (k + 1) * WEIGHTS) >
                    0.02 * norm_of(moves, NULL));
    world_destroy(world);

    world = world_create("dpsgd");
    set_model(&world->spec.model, 0, LOSS_SOFTMAX_CROSS_ENTROPY, CLASSES);
    for (size_t i = 0; i < RECORDS * FEATURES; i++)
        world->x[i] = 3e38F * (i % 2 == 0 ? 1 : -1);
    moves_of(world, 2, moves); /* of noise alone */
    double common = 0;
    for (size_t j = 0; j < WEIGHTS; j++)
        common += (double)moves[j] * (double)moves[WEIGHTS + j];
    common /= norm_of(moves, NULL) * norm_of(moves + WEIGHTS, NULL);
    assert_true(fabs(common) < 4.8916 / sqrt(WEIGHTS));
    world_destroy(world);
}

static void each_step_sums_afresh(void **state)
{
    (void)state;
    static const char *const names[] = {"dpsgd", "sgd"};
    for (size_t k = 0; k < 2; k++) {
        float moves[3 * WEIGHTS];
        struct world *world = world_create(names[k]);
        set_model(&world->spec.model, 0, LOSS_SOFTMAX_CROSS_ENTROPY, CLASSES);
        world->spec.batch_size = RECORDS; /* all of them in every step */
        world->spec.noise_multiplier *= 0.1;
        world->spec.optimizer.learning_rate = 0.001;
        world->spec.optimizer.learning_rate_final = 0.001;
        moves_of(world, 3, moves);
        double length = norm_of(moves, NULL);
        assert_true(norm_of(moves, moves + WEIGHTS) < 0.05 * length);
        assert_true(norm_of(moves, moves + 2 * WEIGHTS) < 0.05 * length);
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
    assert_true(certificate.clip_norm == 1 && certificate.spread == 1);
    assert_int_equal(certificate.cells, 3);
    assert_true(certificate.cell_rows_max >= 100 && certificate.cell_rows_max <= 500);
    assert_int_equal(certificate.terms_max, certificate.cell_rows_max);
    assert_int_equal(certificate.roundings, 1);
    assert_true(certificate.scale * 0.8 * (1 + certificate.inflation) < 0x1p36);
    assert_true(certificate.scale * 0.8 * (1 + certificate.inflation) > 0.999 * 0x1p36);
    assert_true(certificate.position_classes >= 1 && certificate.float_safe);
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

static void expect_refused(const struct world *world)
{
    struct trainer_cost cost = {0};
    struct error error = {0};
    struct trainer *trainer = NULL;
    struct trainer_options options = options_of(world, 1);
    assert_int_equal(
        trainer_cost(&cost, &world->spec, FEATURES, world->data.classes, 1, &error),
        ST_INVALID);
    assert_true(error.text[0] != '\0');
    assert_true(cost.memory == 0);
    assert_int_equal(trainer_create(&trainer, &options, NULL), ST_INVALID);
    assert_null(trainer);
}

static void what_cannot_run_is_refused(void **state)
{
    (void)state;
    struct world *world = world_create("dpsgd");
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
    assert_int_equal(trainer_cost(&small, &world->spec, FEATURES, CLASSES, 2, NULL),
                     ST_OK);
    assert_int_equal(small.parameters, 4000 * (FEATURES + 1) + CLASSES * 4001);
    world->spec.batch_size = 8192;
    assert_int_equal(trainer_cost(&large, &world->spec, FEATURES, CLASSES, 2, NULL),
                     ST_OK);
    assert_true(large.memory < small.memory + 200000); /* indices and cells alone */
    assert_int_equal(trainer_cost(&wide, &world->spec, FEATURES, CLASSES, 4, NULL),
                     ST_OK);
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
    assert_true(m.runs[0].sampling_rate == 300.0 / 1500);
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
        cmocka_unit_test(threads_do_not_matter_at_two_points),
        cmocka_unit_test(masks_are_the_same_at_any_number_of_threads),
        cmocka_unit_test(evaluation_drops_nothing),
        cmocka_unit_test(no_run_is_another),
        cmocka_unit_test(training_learns),
        cmocka_unit_test(evaluation_is_three_loops),
        cmocka_unit_test(a_regression_has_an_error_in_mapped_units),
        cmocka_unit_test(records_that_are_not_finite_leave_only_noise),
        cmocka_unit_test(the_noise_of_a_step_has_the_planned_deviation),
        cmocka_unit_test(each_step_has_its_own_noise_and_its_own_batch),
        cmocka_unit_test(each_step_sums_afresh),
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
