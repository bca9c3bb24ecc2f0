/* Goal: averages, and weights of classes, change the published model and nothing of
 * what is charged. Method: runs of a linear model under a fixed key, with and without
 * them; models read back after every step. */
#include "tests/expect.h"

#include "tests/engine/trainer_fixture.h"

enum { WEIGHTS = CLASSES * FEATURES, STEPS = 20 };

static struct world *linear_world(const char *algorithm)
{
    struct world *world = world_create(algorithm);
    set_model(&world->spec.model, 0, LOSS_SOFTMAX_CROSS_ENTROPY, CLASSES);
    return world;
}

/* Gives the model after each step, as it would be published. */
static void models_of(struct world *world, float (*models)[WEIGHTS])
{
    struct trainer_options options = options_of(world, 2);
    struct trainer *trainer = trainer_of(&options);
    float bias[CLASSES];
    for (size_t k = 0; k < STEPS; k++) {
        run_steps(trainer, 1);
        read_linear(trainer, bias, models[k], CLASSES);
    }
    trainer_destroy(trainer);
}

static void the_model_is_the_average_of_the_points_passed(void **state)
{
    (void)state;
    static const char *const names[] = {"dpsgd", "adp", "dicesgd", "diff2_gd",
                                        "dcsgd_p"};
    for (size_t a = 0; a < sizeof names / sizeof *names; a++) {
        float points[STEPS][WEIGHTS], tail[STEPS][WEIGHTS], ema[STEPS][WEIGHTS];
        struct world *world = linear_world(names[a]);
        if (world->spec.algorithm.algorithm->full_batch)
            world->spec.batch_size = RECORDS;
        world->spec.noise_multiplier = 4;
        world->spec.optimizer.learning_rate = 0.01;
        world->spec.optimizer.learning_rate_final = 0.01;
        models_of(world, points);
        world->spec.averaging =
            (struct averaging_spec){.kind = AVERAGING_TAIL, .share = 0.25};
        models_of(world, tail);
        world->spec.averaging =
            (struct averaging_spec){.kind = AVERAGING_EMA, .decay = 0.8};
        models_of(world, ema);
        assert_memory_equal(tail[STEPS - 6], points[STEPS - 6], sizeof *points);
        for (size_t j = 0; j < WEIGHTS; j++) {
            double sum = 0, weighted = 0, weights = 0;
            for (size_t k = 0; k < STEPS; k++) {
                double weight = pow(0.8, (double)(STEPS - 1 - k));
                sum += k < STEPS - 5 ? 0 : (double)points[k][j] / 5;
                weighted += weight * (double)points[k][j];
                weights += weight;
            }
            assert_true(fabs((double)tail[STEPS - 1][j] - sum) < 1e-6);
            assert_true(fabs((double)ema[STEPS - 1][j] - weighted / weights) < 1e-6);
        }
        world_destroy(world);
    }
}

static void averages_are_post_processing(void **state)
{
    (void)state;
    struct world *world = linear_world("dpsgd");
    char *texts[2];
    struct noise_certificate noise[2];
    struct trainer_cost costs[2];
    for (int k = 0; k < 2; k++) {
        struct mechanism mechanism;
        compile_model(world);
        world->spec.averaging.kind = k == 0 ? AVERAGING_NONE : AVERAGING_TAIL;
        world->spec.averaging.share = 0.5;
        assert_int_equal(train_spec_mechanism(&mechanism, &world->spec, NULL), ST_OK);
        texts[k] = mechanism_render(&mechanism);
        mechanism_fini(&mechanism);
        struct trainer_options options = options_of(world, 1);
        struct trainer *trainer = trainer_of(&options);
        memset(&noise[k], 0, sizeof noise[k]);
        assert_true(trainer_noise_certificate(trainer, &noise[k]));
        trainer_destroy(trainer);
        assert_int_equal(trainer_cost(&costs[k], &world->spec, 1, NULL), ST_OK);
    }
    assert_string_equal(texts[0], texts[1]);
    assert_true(noise[0].plan.grid.scale == noise[1].plan.grid.scale &&
                noise[0].plan.grid.multiplier == noise[1].plan.grid.multiplier);
    assert_int_equal(costs[1].memory - costs[0].memory,
                     4 * network_parameters(world->spec.network));
    free(texts[0]);
    free(texts[1]);
    world_destroy(world);
}

static void an_evaluation_is_of_the_average(void **state)
{
    (void)state;
    struct world *world = linear_world("dpsgd");
    struct evaluation last, average;
    for (int k = 0; k < 2; k++) {
        world->spec.averaging = (struct averaging_spec){
            .kind = k == 0 ? AVERAGING_NONE : AVERAGING_EMA, .decay = 0.95};
        struct trainer_options options = options_of(world, 2);
        struct trainer *trainer = trainer_of(&options);
        run_steps(trainer, STEPS);
        assert_int_equal(trainer_evaluate(trainer, k == 0 ? &last : &average, NULL),
                         ST_OK);
        trainer_destroy(trainer);
    }
    assert_true(last.loss != average.loss);
    world_destroy(world);
}

static void set_weights(struct world *world, const double *weights)
{
    free(world->spec.class_weights.values);
    world->spec.class_weights.values = calloc(CLASSES, sizeof *weights);
    memcpy(world->spec.class_weights.values, weights, CLASSES * sizeof *weights);
    world->spec.class_weights.count = CLASSES;
}

/* Measures how much one step over all records moves the weights. */
static void move_of(struct world *world, const double *weights, double *move)
{
    struct trainer_options options = options_of(world, 2);
    if (weights != NULL)
        set_weights(world, weights);
    struct trainer *trainer = trainer_of(&options);
    float before[WEIGHTS], after[WEIGHTS], bias[CLASSES];
    read_linear(trainer, bias, before, CLASSES);
    run_steps(trainer, 1);
    read_linear(trainer, bias, after, CLASSES);
    for (size_t j = 0; j < WEIGHTS; j++)
        move[j] = (double)after[j] - (double)before[j];
    trainer_destroy(trainer);
}

static void a_weight_counts_its_class_so_often(void **state)
{
    (void)state;
    double plain[WEIGHTS], ones[WEIGHTS], some[WEIGHTS], others[WEIGHTS], apart = 0;
    struct world *world = linear_world("sgd");
    world->spec.batch_size = RECORDS;
    move_of(world, NULL, plain);
    move_of(world, (const double[]){1, 1, 1, 1}, ones);
    move_of(world, (const double[]){2, 1, 0.5, 1}, some);
    move_of(world, (const double[]){1, 2, 2.5, 2}, others);
    for (size_t j = 0; j < WEIGHTS; j++) {
        assert_true(plain[j] == ones[j]);
        assert_true(fabs(some[j] + others[j] - 3 * plain[j]) < 1e-6);
        apart = fmax(apart, fabs(some[j] - plain[j]));
    }
    assert_true(apart > 1e-3);
    world_destroy(world);
}

static void a_weighted_record_is_clipped_as_any_other(void **state)
{
    (void)state;
    double move[WEIGHTS], squares = 0, clip_norm = 0.001;
    struct world *world = linear_world("dpsgd");
    set_parameter(world, "clip_norm", clip_norm);
    world->spec.batch_size = RECORDS;
    world->spec.noise_multiplier = 0.05;
    world->spec.optimizer.learning_rate = world->spec.optimizer.learning_rate_final = 1;
    move_of(world, (const double[]){1000, 1000, 1000, 1000}, move);
    for (size_t j = 0; j < WEIGHTS; j++)
        squares += move[j] * move[j];
    assert_true(sqrt(squares) < clip_norm * 1.01); /* a mean of vectors of clip_norm */
    world_destroy(world);
}

static void proofs_about_the_plain_loss_refuse_weights(void **state)
{
    (void)state;
    static const char *const names[] = {"value_clip", "diff2_gd", "diff2_bvr_l_sgd"};
    for (size_t a = 0; a < sizeof names / sizeof *names; a++) {
        struct world *world = linear_world(names[a]);
        struct trainer_cost cost;
        struct error error = {0};
        world->spec.batch_size = RECORDS;
        world->spec.noise_multiplier = 4;
        world->spec.optimizer.learning_rate = 1e-4;
        world->spec.optimizer.learning_rate_final = 1e-4;
        compile_model(world);
        assert_int_equal(trainer_cost(&cost, &world->spec, 1, &error), ST_OK);
        set_weights(world, (const double[]){1, 1, 1, 1});
        assert_int_equal(trainer_cost(&cost, &world->spec, 1, &error), ST_INVALID);
        assert_string_equal(error.pointer, "/class_weights");
        assert_non_null(strstr(error.text, names[a]));
        world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_is_the_average_of_the_points_passed),
        cmocka_unit_test(averages_are_post_processing),
        cmocka_unit_test(an_evaluation_is_of_the_average),
        cmocka_unit_test(a_weight_counts_its_class_so_often),
        cmocka_unit_test(a_weighted_record_is_clipped_as_any_other),
        cmocka_unit_test(proofs_about_the_plain_loss_refuse_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
