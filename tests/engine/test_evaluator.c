/* Goal: an evaluation of a model is correct, and drops no activations. Method: three
 * loops over the parameters of a linear model, and steps too small to be seen. */
#include "tests/expect.h"

#include "engine/rounding/blas.h"
#include "tests/engine/gemm_fixture.h"
#include "tests/engine/trainer_fixture.h"

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

/* A feature of 1e-39 times weights of 1e36 and more would count, if the feature were
 * not read as zero. */
static struct evaluation evaluation_of(float feature, unsigned threads)
{
    struct world *world = world_create("dpsgd");
    struct evaluation evaluation;
    set_model(&world->spec.model, 0, LOSS_SOFTMAX_CROSS_ENTROPY, CLASSES);
    for (size_t j = 0; j < RECORDS * FEATURES; j++)
        world->x[j] = feature;
    struct trainer_options options = options_of(world, threads);
    struct trainer *trainer = trainer_of(&options);
    size_t count;
    trainer_model(trainer, &count);
    float *large = calloc(count, sizeof *large);
    assert_non_null(large);
    for (size_t j = CLASSES; j < count - CLASSES;
         j++) /* biases are at one of the two ends */
        large[j] = (float)j * 1e36F;
    trainer_adopt(trainer, 1, large);
    assert_int_equal(trainer_evaluate(trainer, &evaluation, NULL), ST_OK);
    assert_true(
        blas_rounding_is_exact()); /* of the caller, who is a member of the team */
    free(large);
    trainer_destroy(trainer);
    world_destroy(world);
    return evaluation;
}

static void a_row_of_subnormals_is_a_row_of_zeros(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct evaluation small = evaluation_of(1e-39F, threads);
        struct evaluation zero = evaluation_of(0.0F, threads);
        assert_true(small.loss == zero.loss && small.accuracy == zero.accuracy);
    }
}

/* The parameters of the model are finite, but its outputs are not. */
static void a_loss_that_is_not_finite_is_refused(void **state)
{
    (void)state;
    struct world *world = world_create("dpsgd");
    set_model(&world->spec.model, 0, LOSS_SOFTMAX_CROSS_ENTROPY, CLASSES);
    struct trainer_options options = options_of(world, 2);
    struct trainer *trainer = trainer_of(&options);
    struct evaluation evaluation = {.loss = 7};
    size_t count;
    trainer_model(trainer, &count);
    float *huge = calloc(count, sizeof *huge);
    assert_non_null(huge);
    for (size_t j = 0; j < count; j++)
        huge[j] = 3e38F;
    trainer_adopt(trainer, 1, huge);
    assert_int_equal(trainer_check(trainer, NULL), ST_OK);
    assert_int_equal(trainer_evaluate(trainer, &evaluation, NULL), ST_INTERNAL);
    assert_true(evaluation.loss == 7);
    huge[count - 1] = INFINITY;
    trainer_adopt(trainer, 2, huge);
    assert_int_equal(trainer_check(trainer, NULL), ST_INTERNAL);
    free(huge);
    trainer_destroy(trainer);
    world_destroy(world);
}

int main(int argc, char **argv)
{
    int result;
    (void)argc;
    if (!kernels_chosen(argv, &result))
        return result;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluation_drops_nothing),
        cmocka_unit_test(evaluation_is_three_loops),
        cmocka_unit_test(a_regression_has_an_error_in_mapped_units),
        cmocka_unit_test(a_row_of_subnormals_is_a_row_of_zeros),
        cmocka_unit_test(a_loss_that_is_not_finite_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
