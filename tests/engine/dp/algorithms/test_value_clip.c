/* Goal: the engine's value clipping is the paper's, is enforced, and refuses what has
 * no proof. Method: steps on small data under a fixed key; two runs with the same key
 * have the same noise and so differ only by their sums. Acceptance checks A2, A4, A5,
 * A9, A10, A13, A14 and A16 of papers/valueclip.md; the toys are in
 * test_value_clip_toys.c. */
#include "engine/dp/algorithms/registry.h"

#include "engine/dp/algorithms/value_clip_bound.h"
#include "engine/nn/spectral.h"
#include "engine/nn/layers/registry.h"
#include "tests/engine/dp/line_fixture.h"

enum { RECORDS = 40, FEATURES = 7 };

static float features[RECORDS * FEATURES], values[RECORDS];
static uint32_t classes[RECORDS];
static struct layer_spec layers[8];

static const struct matrix regression = {.records = RECORDS,
                                         .features = FEATURES,
                                         .element = ELEMENT_F32,
                                         .scale = 1,
                                         .rows = features,
                                         .values = values};
static const struct matrix classification = {.records = RECORDS,
                                             .features = FEATURES,
                                             .classes = 4,
                                             .element = ELEMENT_F32,
                                             .scale = 1,
                                             .rows = features,
                                             .targets = classes};

static int make_data(void **state)
{
    (void)state;
    for (size_t i = 0; i < RECORDS; i++) {
        for (size_t j = 0; j < FEATURES; j++)
            features[i * FEATURES + j] = (float)sin(1.7 * (double)(i * FEATURES + j));
        values[i] = (float)(3 * cos(2.3 * (double)i));
        classes[i] = (uint32_t)(i * i % 4);
    }
    return 0;
}

static struct model_spec model_of(const uint32_t *outs, size_t count, bool bias,
                                  enum loss loss)
{
    size_t used = 0;
    for (size_t l = 0; l < count; l++) {
        if (l > 0)
            layers[used++] =
                (struct layer_spec){.kind = l % 2 == 1 ? &layer_relu : &layer_tanh};
        layers[used++] =
            (struct layer_spec){.kind = &layer_dense, .out = outs[l], .bias = bias};
    }
    return (struct model_spec){.layer_count = used, .layers = layers, .loss = loss};
}

static struct kit_setup setup_of(const struct model_spec *model)
{
    struct kit_setup setup =
        line_setup(model->loss == LOSS_SQUARED ? &regression : &classification, 0.25);
    setup.model = model;
    setup.steps = 1000;
    setup.noise_multiplier = 0.1;
    setup.key = 6;
    return setup;
}

static const uint32_t one_output[] = {1}, four_outputs[] = {4};

/* On squared loss the bound is the norm: both algorithms take the same steps, except
 * for the bound's slack of 1e-6. A weight that took part in the gradient would halve
 * them. */
static void linear_regression_is_gradient_clipping(void **state)
{
    (void)state;
    float ends[2][FEATURES + 1];
    static const char *const names[] = {"dpsgd", "value_clip"};
    struct model_spec model = model_of(one_output, 1, true, LOSS_SQUARED);
    struct kit_setup setup = setup_of(&model);
    for (int run = 0; run < 2; run++) {
        struct kit kit;
        kit_spec(&kit, names[run]);
        kit_set(&kit, "clip_norm", 0.4);
        kit_open(&kit, &setup);
        for (int t = 0; t < 5; t++)
            kit_step(&kit);
        memcpy(ends[run], kit.parameters, sizeof ends[run]);
        kit_close(&kit);
    }
    for (size_t j = 0; j <= FEATURES; j++)
        assert_true(fabs((double)ends[0][j] - (double)ends[1][j]) < 5e-6);
}

/* Gives the parameters after one step. */
static void step_once(const struct kit_setup *setup, double clip_norm,
                      float *parameters, size_t count)
{
    struct kit kit;
    kit_spec(&kit, "value_clip");
    kit_set(&kit, "clip_norm", clip_norm);
    kit_open(&kit, setup);
    assert_int_equal(network_parameters(kit.network), count);
    kit_step(&kit);
    memcpy(parameters, kit.parameters, count * sizeof *parameters);
    kit_close(&kit);
}

/* Compares record 5 with one whose gradient overflows and so contributes nothing: the
 * difference is record 5's own scaled gradient. */
static void one_record_moves_the_sum_by_the_clip_norm_at_most(void **state)
{
    (void)state;
    enum { COUNT = FEATURES * 6 + 6 + 6 * 4 + 4 };
    static const uint32_t outs[] = {6, 4};
    struct model_spec model = model_of(outs, 2, true, LOSS_SOFTMAX_CROSS_ENTROPY);
    struct kit_setup setup = setup_of(&model);
    static const double clip_norms[] = {0.05, 0.4, 3};
    for (size_t k = 0; k < 3; k++) {
        float with[COUNT], without[COUNT], kept = features[5 * FEATURES];
        double square = 0;
        step_once(&setup, clip_norms[k], with, COUNT);
        features[5 * FEATURES] = 3e38F;
        step_once(&setup, clip_norms[k], without, COUNT);
        features[5 * FEATURES] = kept;
        for (size_t j = 0; j < COUNT; j++) {
            double moved = ((double)with[j] - (double)without[j]) * RECORDS / 0.25;
            assert_true(isfinite(without[j]));
            square += moved * moved;
        }
        assert_true(sqrt(square) <= clip_norms[k] * 1.001);
        assert_true(sqrt(square) > 0.02 * clip_norms[k]);
    }
}

/* The paper's bound is at least sqrt(2) times the norm of a softmax gradient, so the
 * bound scales a gradient to at most the clip norm / sqrt(2). */
static void the_weight_comes_from_the_bound(void **state)
{
    (void)state;
    enum { COUNT = FEATURES * 4 };
    struct model_spec model =
        model_of(four_outputs, 1, false, LOSS_SOFTMAX_CROSS_ENTROPY);
    struct kit_setup setup = setup_of(&model);
    double lengths[3];
    for (int bound = BOUND_PAPER; bound <= BOUND_FORWARD; bound++) {
        float ends[2][COUNT], kept = features[5 * FEATURES];
        double square = 0;
        for (int run = 0; run < 2; run++) {
            struct kit kit;
            features[5 * FEATURES] = run == 0 ? kept : 3e38F;
            kit_spec(&kit, "value_clip");
            kit_set(&kit, "clip_norm", 0.05);
            kit_set(&kit, "bound", bound);
            kit_open(&kit, &setup);
            kit_step(&kit);
            memcpy(ends[run], kit.parameters, sizeof ends[run]);
            kit_close(&kit);
        }
        features[5 * FEATURES] = kept;
        for (size_t j = 0; j < COUNT; j++) {
            double moved = ((double)ends[0][j] - (double)ends[1][j]) * RECORDS / 0.25;
            square += moved * moved;
        }
        lengths[bound] = sqrt(square) / 0.05;
    }
    assert_true(lengths[BOUND_PAPER] < 0.7072 && lengths[BOUND_PAPER] > 0.3);
    assert_true(lengths[BOUND_TIGHT] < 1 && lengths[BOUND_TIGHT] > 0.8);
    assert_close(lengths[BOUND_TIGHT], lengths[BOUND_FORWARD], 1e-3);
}

/* If a mean loss replaced each record's own loss, the last of the residuals 0, 0, 0, 8
 * would pass with norm 2. */
static void a_record_is_weighed_by_its_own_loss(void **state)
{
    (void)state;
    float ones[4] = {1, 1, 1, 1}, labels[4] = {0, 0, 0, 8}, moved[2];
    const struct matrix data = line_data(4, 1, ones, labels);
    struct model_spec model = model_of(one_output, 1, false, LOSS_SQUARED);
    struct kit_setup setup = setup_of(&model);
    setup.data = &data;
    setup.batch_size = 4;
    for (int run = 0; run < 2; run++) {
        struct kit kit;
        labels[3] = run == 0 ? 8 : 0;
        kit_spec(&kit, "value_clip");
        kit_open(&kit, &setup);
        kit.parameters[0] = 0;
        kit_step(&kit);
        moved[run] = kit.parameters[0];
        kit_close(&kit);
    }
    assert_close(((double)moved[0] - (double)moved[1]) * 4 / 0.25, 1, 1e-4);
}

static void a_record_of_zeros_is_bounded_through_its_biases(void **state)
{
    (void)state;
    enum { COUNT = FEATURES * 6 + 6 + 6 * 4 + 4 };
    static const uint32_t outs[] = {6, 4};
    struct model_spec model = model_of(outs, 2, true, LOSS_SOFTMAX_CROSS_ENTROPY);
    struct kit_setup setup = setup_of(&model);
    float kept[FEATURES], with[COUNT], without[COUNT];
    double square = 0;
    memcpy(kept, features, sizeof kept);
    memset(features, 0, sizeof kept);
    step_once(&setup, 0.1, with, COUNT);
    features[0] = 3e38F;
    step_once(&setup, 0.1, without, COUNT);
    memcpy(features, kept, sizeof kept);
    for (size_t j = 0; j < COUNT; j++) {
        double moved = ((double)with[j] - (double)without[j]) * RECORDS / 0.25;
        square += moved * moved;
    }
    assert_true(sqrt(square) <= 0.1 * 1.001 && sqrt(square) > 0.01);
}

/* CE1 of 3.3: (w - a)^2 / 2 at a = -3, -3, 9 and C = 1 ends at -2.5, not at 1. The least
 * noise leaves a standard deviation of .06 at this rate, .006 over the last 2,000 steps'
 * mean, which are correlated over 1 / (rate 2/3) = 150. */
static void the_engine_has_the_published_bias(void **state)
{
    (void)state;
    float ones[3] = {1, 1, 1}, labels[3] = {-3, -3, 9};
    const struct matrix data = line_data(3, 1, ones, labels);
    struct model_spec model = model_of(one_output, 1, false, LOSS_SQUARED);
    struct kit_setup setup = setup_of(&model);
    struct kit kit;
    double mean = 0;
    setup.data = &data;
    setup.batch_size = 3;
    setup.steps = 5000;
    setup.optimizer.learning_rate = setup.optimizer.learning_rate_final = 0.01;
    kit_spec(&kit, "value_clip");
    kit_open(&kit, &setup);
    kit.parameters[0] = 5;
    for (int t = 0; t < 5000; t++) {
        kit_step(&kit);
        if (t >= 3000)
            mean += (double)kit.parameters[0] / 2000;
    }
    kit_close(&kit);
    assert_true(fabs(mean + 2.5) < 0.02);
}

/* The paper's T-B for one coordinate: if each x_i is a unit vector, each of d
 * coordinates is (w_j - a)^2 / 2 of n / d records. After t steps at rate eta' = eta / d
 * its variance is (C sigma eta / n)^2 (1 - (1 - eta')^2t) / (1 - (1 - eta')^2). 400
 * coordinates: a standard error of 7 %. */
static void noise_and_divisor_are_those_of_the_closed_form(void **state)
{
    (void)state;
    enum { D = 400, STEPS = 40 };
    static float units[D * D], labels[D];
    const struct matrix data = line_data(D, D, units, labels);
    struct model_spec model = model_of(one_output, 1, false, LOSS_SQUARED);
    struct kit_setup setup = setup_of(&model);
    struct kit kit;
    double eta = 0.1 * D, square = 0;
    for (size_t j = 0; j < D; j++)
        units[j * D + j] = 1;
    setup.data = &data;
    setup.batch_size = D;
    setup.optimizer.learning_rate = setup.optimizer.learning_rate_final = eta;
    kit_spec(&kit, "value_clip");
    kit_set(&kit, "clip_norm", 4000); /* 40 deviations: never active */
    kit_open(&kit, &setup);
    memset(kit.parameters, 0, D * sizeof *kit.parameters);
    double inflation = algorithm_noise(kit.spec.algorithm, kit.state)->grid.inflation;
    for (int t = 0; t < STEPS; t++)
        kit_step(&kit);
    for (size_t j = 0; j < D; j++)
        square += (double)kit.parameters[j] * (double)kit.parameters[j] / D;
    kit_close(&kit);
    double tau = 4000 * 0.1 * (1 + inflation) / D;
    double variance = pow(tau * eta, 2) * (1 - pow(0.9, 2 * STEPS)) / (1 - 0.81);
    assert_close(square, variance, 5 * 0.0707);
}

/* Compares the norms that the engine measures with the bounds, and counts how often the
 * exact norm is above its bound, which must never happen. On private data a test may
 * count this; a release may not. */
struct watch {
    struct value_clip_bound bound;
    size_t above, records;
    double tightest;
};

static void watch(float *weights, const struct measures *measures, const void *context)
{
    struct watch *watch = (struct watch *)(uintptr_t)context;
    for (size_t i = 0; i < measures->count; i++) {
        double squares[VALUE_CLIP_LAYERS_MAX] = {0};
        for (size_t l = 0; l < watch->bound.layers; l++) {
            struct factors layer = workspace_factors(measures->workspace, l);
            for (size_t j = 0; j < layer.inputs; j++) {
                double a = (double)layer.a[i * layer.a_stride + j];
                squares[l] += a * a;
            }
        }
        double b = value_clip_bound_of(&watch->bound, measures->losses[i], squares);
        watch->above += measures->norms[i] > b * (1 + 1e-6);
        watch->tightest = fmax(watch->tightest, measures->norms[i] / b);
        watch->records++;
        weights[i] = 1;
    }
}

static void bounds_are_above_the_norms_of_a_training(void **state)
{
    (void)state;
    static const enum loss losses[] = {LOSS_SOFTMAX_CROSS_ENTROPY, LOSS_SQUARED};
    for (size_t k = 0; k < 2; k++) {
        uint32_t outs[] = {9, 8, k == 0 ? 4 : 1};
        struct model_spec model = model_of(outs, 3, true, losses[k]);
        struct kit_setup setup = setup_of(&model);
        struct watch seen = {0};
        struct spectral *spectral;
        struct kit kit;
        setup.optimizer.learning_rate = setup.optimizer.learning_rate_final = 0.05;
        setup.noise_multiplier = 1;
        assert_int_equal(spectral_create(&spectral, 9, NULL), ST_OK);
        kit_spec(&kit, "value_clip");
        kit_open(&kit, &setup);
        assert_int_equal(
            value_clip_bound_init(&seen.bound, &model, BOUND_FORWARD, NULL), ST_OK);
        for (int t = 0; t < 50; t++) {
            double norms[3];
            kit_step(&kit);
            for (size_t l = 0; l < 3; l++) {
                struct factors layer =
                    workspace_factors(stepper_workspace(kit.stepper, 0), l);
                norms[l] =
                    spectral_bound(spectral, kit.parameters + layer.weight,
                                   (struct weight_shape){layer.outputs, layer.inputs});
            }
            value_clip_bound_aim(&seen.bound, norms);
            const struct noise_plan *noise =
                algorithm_noise(kit.spec.algorithm, kit.state);
            struct batch_sum sum = {
                .grid = &noise->grid, .clip = watch, .clip_context = &seen};
            stepper_begin_step(kit.stepper, kit.step);
            stepper_sample(kit.stepper, 1);
            assert_int_equal(stepper_sum(kit.stepper, &sum, NULL), ST_OK);
            stepper_release(kit.stepper, &noise->grid, 1);
        }
        assert_true(seen.records >= 50 * RECORDS);
        assert_int_equal(seen.above, 0);
        assert_true(seen.tightest > 0.1);
        spectral_destroy(spectral);
        kit_close(&kit);
    }
}

static void threads_change_nothing(void **state)
{
    (void)state;
    static const uint32_t outs[] = {6, 4};
    enum { COUNT = FEATURES * 6 + 6 + 6 * 4 + 4 };
    struct model_spec model = model_of(outs, 2, true, LOSS_SOFTMAX_CROSS_ENTROPY);
    struct kit_setup setup = setup_of(&model);
    float one[COUNT], three[COUNT];
    setup.batch_size = RECORDS / 2;
    step_once(&setup, 0.3, one, COUNT);
    setup.threads = 3;
    step_once(&setup, 0.3, three, COUNT);
    assert_memory_equal(one, three, sizeof one);
}

static void the_charge_is_that_of_dpsgd_or_a_refusal(void **state)
{
    (void)state;
    static const uint32_t deep[] = {6, 4};
    struct kit kit;
    struct mechanism m = {0}, flat = {0};
    struct model_spec model =
        model_of(four_outputs, 1, true, LOSS_SOFTMAX_CROSS_ENTROPY);
    struct kit_setup setup = setup_of(&model);
    kit_spec(&kit, "value_clip");
    kit_compile(&kit, &setup);
    assert_int_equal(kit.spec.algorithm->plan(&m, &kit.inputs, NULL), ST_OK);
    assert_int_equal(algorithm_find("dpsgd")->plan(&flat, &kit.inputs, NULL), ST_OK);
    char *text = mechanism_render(&m), *expected = mechanism_render(&flat);
    assert_string_equal(text, expected);
    free(text);
    free(expected);
    mechanism_fini(&m);
    mechanism_fini(&flat);
    kit.inputs.noise_multiplier = 0;
    assert_int_equal(kit.spec.algorithm->plan(&m, &kit.inputs, NULL), ST_INVALID);
    kit_close(&kit);

    struct model_spec biased = model_of(deep, 2, true, LOSS_SOFTMAX_CROSS_ENTROPY);
    struct error error = {0};
    setup = setup_of(&biased);
    kit_spec(&kit, "value_clip");
    kit_set(&kit, "bound", BOUND_PAPER);
    assert_int_equal(kit_start(&kit, &setup, &error), ST_INVALID);
    assert_string_equal(error.pointer, "/algorithm/bound");
    error = (struct error){0};
    assert_int_equal(kit.spec.algorithm->plan(&m, &kit.inputs, &error), ST_INVALID);
    assert_string_equal(error.pointer, "/algorithm/bound");
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_regression_is_gradient_clipping),
        cmocka_unit_test(one_record_moves_the_sum_by_the_clip_norm_at_most),
        cmocka_unit_test(the_weight_comes_from_the_bound),
        cmocka_unit_test(a_record_is_weighed_by_its_own_loss),
        cmocka_unit_test(a_record_of_zeros_is_bounded_through_its_biases),
        cmocka_unit_test(the_engine_has_the_published_bias),
        cmocka_unit_test(noise_and_divisor_are_those_of_the_closed_form),
        cmocka_unit_test(bounds_are_above_the_norms_of_a_training),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(the_charge_is_that_of_dpsgd_or_a_refusal),
    };
    return cmocka_run_group_tests(tests, make_data, NULL);
}
