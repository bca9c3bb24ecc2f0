/* Goal: private models of a real dataset are as good as they are known to be. Method:
 * MNIST at delta 1e-5 under a fixed key; the noise multipliers are those of epsilon 2
 * and 1 by an independent accountant (integer orders, tight conversion). */
#include "engine/dp/algorithms/registry.h"
#include "engine/nn/layers/preset.h"
#include "engine/nn/layers/registry.h"
#include "engine/trainer.h"

#include "tests/expect.h"
#include "tests/engine/mnist_fixture.h"

struct workload {
    enum preset preset;
    double learning_rate, noise_multiplier, accuracy_min;
};

static double accuracy_of(const struct mnist *mnist, const struct workload *workload)
{
    static const uint8_t key[32] = {2, 7, 1, 8, 2, 8};
    struct train_spec spec = {
        .model = {.preset = workload->preset,
                  .activation = &layer_relu,
                  .bias = true,
                  .loss = LOSS_SOFTMAX_CROSS_ENTROPY},
        .optimizer = {.kind = OPTIMIZER_SGD,
                      .learning_rate = workload->learning_rate,
                      .learning_rate_final = workload->learning_rate},
        .relation = RELATION_ZERO_OUT,
        .records = 60000,
        .batch_size = 1024,
        .steps = 1172, /* 20 epochs */
        .noise_multiplier = workload->noise_multiplier};
    struct evaluation evaluation;
    struct trainer *trainer;
    if (workload->preset == PRESET_MLP) {
        spec.model.hidden_count = 1;
        spec.model.hidden[0] = 128;
    }
    preset_expand(&spec.model, 10);
    algorithm_spec_init(&spec.algorithm, algorithm_find("dpsgd"));
    struct trainer_options options = {.spec = &spec,
                                      .data = &mnist->train,
                                      .evaluation = &mnist->test,
                                      .threads = 2,
                                      .test_key = key};
    assert_int_equal(train_spec_compile(&spec, (struct data_shape){784, 10}, NULL),
                     ST_OK);
    assert_int_equal(trainer_create(&trainer, &options, NULL), ST_OK);
    while (trainer_steps_done(trainer) < spec.steps)
        assert_int_equal(trainer_step(trainer, NULL), ST_OK);
    assert_int_equal(trainer_evaluate(trainer, &evaluation, NULL), ST_OK);
    trainer_destroy(trainer);
    train_spec_fini(&spec);
    print_message("accuracy %.4f, loss %.4f\n", evaluation.accuracy, evaluation.loss);
    return evaluation.accuracy;
}

static void check(const struct workload *workload)
{
    struct mnist mnist;
    if (SANITIZED)
        skip_because("slow under a sanitizer, and test_trainer runs the same code");
    mnist_open(&mnist);
    assert_true(accuracy_of(&mnist, workload) >= workload->accuracy_min);
    mnist_close(&mnist);
}

static void a_small_network_at_epsilon_two(void **state)
{
    (void)state;
    check(&(struct workload){PRESET_MLP, 4, 1.4854, 0.935});
}

static void a_linear_model_at_epsilon_one(void **state)
{
    (void)state;
    check(&(struct workload){PRESET_LINEAR, 2, 2.5213, 0.905});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_network_at_epsilon_two),
        cmocka_unit_test(a_linear_model_at_epsilon_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
