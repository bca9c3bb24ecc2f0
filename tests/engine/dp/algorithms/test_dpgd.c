/* Goal: DP-GD takes every record in each step and is charged accordingly. Method: dpsgd
 * with a batch of all records draws every record, so the two must make the same moves
 * bit for bit; gradient descent in double for negligible noise. */
#include "engine/dp/algorithm.h"
#include "engine/nn/layers/registry.h"

#include "tests/engine/dp/line_fixture.h"

enum { RECORDS = 300, FEATURES = 3, STEPS = 7 };

static float features[RECORDS * FEATURES], values[RECORDS];
static const struct matrix points = {.records = RECORDS,
                                     .features = FEATURES,
                                     .element = ELEMENT_F32,
                                     .scale = 1,
                                     .rows = features,
                                     .values = values};
static struct layer_spec biased = {.kind = &layer_dense, .out = 1, .bias = true};
static const struct model_spec linear = {
    .layer_count = 1, .layers = &biased, .loss = LOSS_SQUARED};

static int fill(void **state)
{
    (void)state;
    line_fill(features, values, RECORDS, FEATURES);
    return 0;
}

static struct kit_setup usual(void)
{
    struct kit_setup setup = line_setup(&points, 0.5);
    setup.model = &linear;
    setup.steps = STEPS;
    setup.noise_multiplier = 1.5;
    setup.threads = 2;
    return setup;
}

static void run(const char *algorithm, double noise, float out[FEATURES + 1])
{
    struct kit kit;
    struct kit_setup setup = usual();
    setup.noise_multiplier = noise;
    kit_spec(&kit, algorithm);
    kit_set(&kit, "clip_norm", 0.75);
    kit_open(&kit, &setup);
    for (int k = 0; k < STEPS; k++)
        kit_step(&kit);
    memcpy(out, kit.parameters, (FEATURES + 1) * sizeof *out);
    kit_close(&kit);
}

static void it_moves_as_dpsgd_with_a_batch_of_all(void **state)
{
    (void)state;
    float whole[FEATURES + 1], sampled[FEATURES + 1];
    run("dpgd", 1.5, whole);
    run("dpsgd", 1.5, sampled);
    assert_memory_equal(whole, sampled, sizeof whole);
}

/* x -= rate mean(clipped gradients), in double. */
static void descend(double w[FEATURES + 1])
{
    double sum[FEATURES + 1] = {0};
    for (size_t i = 0; i < RECORDS; i++) {
        const float *x = features + i * FEATURES;
        double z = w[FEATURES] - (double)values[i], square = 1;
        for (size_t j = 0; j < FEATURES; j++) {
            z += w[j] * (double)x[j];
            square += (double)x[j] * (double)x[j];
        }
        double norm = fabs(z) * sqrt(square), share = norm > 0.75 ? 0.75 / norm : 1;
        for (size_t j = 0; j < FEATURES; j++)
            sum[j] += share * z * (double)x[j];
        sum[FEATURES] += share * z;
    }
    for (size_t j = 0; j <= FEATURES; j++)
        w[j] -= 0.5 * sum[j] / RECORDS;
}

/* Noise of 1/64 C on the sum moves a mean of 300 by 4e-5 at six deviations,
 * STEPS times. */
static void next_to_no_noise_is_gradient_descent(void **state)
{
    (void)state;
    float moved[FEATURES + 1];
    double w[FEATURES + 1];
    struct kit kit;
    struct kit_setup setup = usual();
    setup.noise_multiplier = 0x1p-6;
    kit_spec(&kit, "dpgd");
    kit_open(&kit, &setup);
    for (size_t j = 0; j <= FEATURES; j++)
        w[j] = (double)kit.parameters[j];
    kit_close(&kit);
    run("dpgd", 0x1p-6, moved);
    for (int k = 0; k < STEPS; k++)
        descend(w);
    for (size_t j = 0; j <= FEATURES; j++)
        assert_true(fabs((double)moved[j] - w[j]) <
                    STEPS * 0.5 * 6 * 0.75 * 0x1p-6 / RECORDS);
}

static void each_step_is_charged_as_a_gaussian(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct kit kit;
        struct mechanism m = {0};
        struct kit_setup setup = usual();
        kit_spec(&kit, "dpgd");
        kit_compile(&kit, &setup);
        kit.inputs.relation = k == 0 ? RELATION_ZERO_OUT : RELATION_REPLACE_ONE;
        assert_int_equal(kit.spec.algorithm->plan(&m, &kit.inputs, NULL), ST_OK);
        char *text = mechanism_render(&m);
        assert_string_equal(
            text, k == 0 ? "{\"kind\":\"gaussian\",\"relation\":\"zero_out\","
                           "\"runs\":[[1,1.5,7]],\"prefixes_priced\":true}"
                         : "{\"kind\":\"gaussian\",\"relation\":\"replace_one\","
                           "\"runs\":[[1,1.5,7]],\"prefixes_priced\":true}");
        free(text);
        mechanism_fini(&m);
        kit_close(&kit);
    }
}

static void what_it_cannot_run_is_refused(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct kit kit;
        struct mechanism m = {0};
        struct error error = {0};
        struct kit_setup setup = usual();
        setup.batch_size = k == 0 ? RECORDS - 1 : RECORDS;
        setup.noise_multiplier = k == 0 ? 1 : 0;
        kit_spec(&kit, "dpgd");
        assert_int_equal(kit_start(&kit, &setup, &error), ST_INVALID);
        assert_int_equal(kit.spec.algorithm->plan(&m, &kit.inputs, &error), ST_INVALID);
        assert_string_equal(error.pointer, k == 0 ? "/batch_size" : "");
        kit_close(&kit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_moves_as_dpsgd_with_a_batch_of_all),
        cmocka_unit_test(next_to_no_noise_is_gradient_descent),
        cmocka_unit_test(each_step_is_charged_as_a_gaussian),
        cmocka_unit_test(what_it_cannot_run_is_refused),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
