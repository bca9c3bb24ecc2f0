/* Goal: a step moves the model by its own batch and its own noise of the planned
 * deviation, and by nothing else. Method: the changes that steps under a fixed key make
 * to the weights of a linear model, with records that have gradients and with records
 * that have none. */
#include "tests/expect.h"
#include "engine/nn/layers/registry.h"

#include "tests/engine/gemm_fixture.h"
#include "tests/engine/trainer_fixture.h"

static void records_that_are_not_finite_leave_only_noise(void **state)
{
    (void)state;
    uint8_t digest[2][SHA256_SIZE];
    struct world *world = world_create("dpsgd");
    set_model(&world->spec.model, 400, LOSS_SOFTMAX_CROSS_ENTROPY, CLASSES);
    world->spec.model.layers[1].kind = &layer_relu;
    for (int k = 0; k < 2; k++) { /* two datasets that must leave no trace */
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
    double expected = 0.8 * 0.37 * (1 + certificate.plan.grid.inflation) / 300;
    assert_close(sqrt(squares / count), expected, 5 / sqrt(2 * count));
    trainer_destroy(trainer);
    world_destroy(world);
}

enum { WEIGHTS = CLASSES * FEATURES };

/* Measures how much each of the first steps of a linear model moves its weights. */
static void moves_of(struct world *world, size_t steps, float *moves)
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
    moves_of(world, 2, moves); /* of noise only */
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

int main(int argc, char **argv)
{
    int result;
    (void)argc;
    if (!kernels_chosen(argv, &result))
        return result;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_that_are_not_finite_leave_only_noise),
        cmocka_unit_test(the_noise_of_a_step_has_the_planned_deviation),
        cmocka_unit_test(each_step_has_its_own_noise_and_its_own_batch),
        cmocka_unit_test(each_step_sums_afresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
