/* Goal: a layer norm normalises every position of a record separately, and its result
 * for a record depends only on that record. Method: the formulas in double on the input
 * of the next layer; comparison with a group norm of one group, which it equals on
 * vectors; records made constant, or not finite. test_gradients.c checks its gradients
 * and norms with the oracle. */
#include "engine/nn/initial_values.h"
#include "tests/expect.h"

#include <string.h>

#include "engine/nn/layers/registry.h"
#include "tests/engine/nn/random_batch_fixture.h"
#include "tests/engine/nn/record_oracle.h"
#include "tests/engine/nn/record_claims_fixture.h"

enum { HEIGHT = 3, WIDTH = 4, CHANNELS = 5, COUNT = 17 };
enum { POSITIONS = HEIGHT * WIDTH };

static void make(struct batch *batch, const char *layers, struct model_input input)
{
    size_t floats = (size_t)input.height * input.width * input.channels;
    batch_make(batch, &(struct batch_demand){.layers = layers,
                                             .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
                                             .features = floats > 0 ? floats : 24,
                                             .count = COUNT,
                                             .input = input,
                                             .form = -1});
}

/* Returns the input of the dense layer after a norm for record i, (POSITIONS,
 * CHANNELS): the output of the norm at its initial weights, one and zero. */
static const float *normalised(struct batch *batch, size_t i)
{
    struct factors factors = workspace_factors(batch->workspace, 1);
    assert_int_equal(factors.inputs, POSITIONS * CHANNELS);
    return factors.a + i * factors.a_stride;
}

static void every_position_has_mean_zero_and_deviation_one(void **state)
{
    static const float shifts[] = {0, 300, -3000};
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct batch batch;
        make(&batch, "ld4gd3", (struct model_input){HEIGHT, WIDTH, CHANNELS});
        network_init(batch.network, batch.theta, 1);
        for (size_t j = 0; j < batch.count * batch.features; j++)
            batch.x[j] += shifts[k];
        batch_run(&batch);
        for (size_t i = 0; i < COUNT; i++)
            for (size_t t = 0; t < POSITIONS; t++) {
                const float *xh = normalised(&batch, i) + t * CHANNELS;
                const float *x = batch.x + i * batch.features + t;
                double mean = 0, variance = 0;
                for (size_t c = 0; c < CHANNELS; c++)
                    mean += (double)x[c * POSITIONS] / CHANNELS;
                for (size_t c = 0; c < CHANNELS; c++)
                    variance += pow((double)x[c * POSITIONS] - mean, 2) / CHANNELS;
                /* The error of x - mean if the mean is rounded to a float. */
                double unit = 0x1p-20 + 0x1p-22 * fabs(mean) / sqrt(variance);
                for (size_t c = 0; c < CHANNELS; c++)
                    assert_true(fabs((double)xh[c] - ((double)x[c * POSITIONS] - mean) /
                                                         sqrt(variance + 1e-5)) <=
                                4 * unit);
            }
        batch_fini(&batch);
    }
}

/* Bit for bit: losses, norms, and the sum of all gradients. */
static void on_a_vector_it_is_a_group_norm_of_one_group(void **state)
{
    static const char *const models[][2] = {{"d12lrd9ld4", "d12n1rd9n1d4"},
                                            {"ld6[ltd6]d3", "n1d6[n1td6]d3"}};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct batch one, other;
        make(&one, models[k][0], (struct model_input){0});
        make(&other, models[k][1], (struct model_input){0});
        batch_run(&one);
        batch_run(&other);
        for (size_t i = 0; i < COUNT; i++)
            expect_alike(&one, mark_of(&one, i), mark_of(&other, i));
        batch_fini(&other);
        batch_fini(&one);
    }
}

/* A group norm of one group mixes the positions of an image; a layer norm does not. */
static void on_an_image_it_is_not(void **state)
{
    struct batch one, other;
    (void)state;
    make(&one, "lc4,1gd3", (struct model_input){HEIGHT, WIDTH, CHANNELS});
    make(&other, "n1c4,1gd3", (struct model_input){HEIGHT, WIDTH, CHANNELS});
    batch_run(&one);
    batch_run(&other);
    assert_true(workspace_norms(one.workspace)[0] !=
                workspace_norms(other.workspace)[0]);
    batch_fini(&other);
    batch_fini(&one);
}

static void its_tensors_start_at_one_and_zero(void **state)
{
    struct batch batch;
    (void)state;
    make(&batch, "c5,1ld4gd3", (struct model_input){HEIGHT, WIDTH, CHANNELS});
    const struct tensor *weight = network_tensor(batch.network, 2);
    const struct tensor *bias = network_tensor(batch.network, 3);
    assert_string_equal(weight->name, "1.weight");
    assert_string_equal(bias->name, "1.bias");
    assert_true(weight->rank == 1 && weight->count == 5 && bias->count == 5);
    network_init(batch.network, batch.theta, 7);
    for (size_t j = 0; j < 5; j++) {
        assert_true(batch.theta[weight->offset + j] == 1.0F);
        assert_true(batch.theta[bias->offset + j] == 0.0F);
    }
    batch_fini(&batch);
}

static void a_constant_position_becomes_zeros(void **state)
{
    struct batch batch;
    (void)state;
    make(&batch, "ld4gd3", (struct model_input){HEIGHT, WIDTH, CHANNELS});
    network_init(batch.network, batch.theta, 1);
    for (size_t c = 0; c < CHANNELS; c++)
        batch.x[c * POSITIONS + 2] = 0.125F;
    batch_run(&batch);
    for (size_t c = 0; c < CHANNELS; c++) {
        assert_true(normalised(&batch, 0)[2 * CHANNELS + c] == 0.0F);
        assert_true(normalised(&batch, 0)[3 * CHANNELS + c] != 0.0F);
    }
    assert_true(isfinite(workspace_norms(batch.workspace)[0]));
    batch_fini(&batch);
}

static const char *const claimed[] = {"ld4gd3", "c6,2ltc4,1lgd3", "lfd3"};
enum { CLAIMED = sizeof claimed / sizeof *claimed };
static const struct model_input image = {HEIGHT, WIDTH, CHANNELS};

static void a_bad_record_changes_nothing_else(void **state)
{
    (void)state;
    for (size_t k = 0; k < CLAIMED; k++) {
        struct batch batch;
        make(&batch, claimed[k], image);
        expect_bad_record_alone(&batch, NAN, batch_pass);
        batch_fini(&batch);
    }
}

static void no_record_reads_another(void **state)
{
    (void)state;
    for (size_t k = 0; k < CLAIMED; k++) {
        struct batch batch;
        make(&batch, claimed[k], image);
        expect_no_record_reads_another(&batch, batch_pass);
        batch_fini(&batch);
    }
}

/* A clip factor scales the gradients of scale and shift like all others. */
static void a_clipped_record_is_no_longer_than_the_clip_norm(void **state)
{
    const double clip_norm = 1e-2;
    (void)state;
    for (size_t k = 0; k < CLAIMED; k++) {
        struct batch batch;
        float factors[COUNT];
        make(&batch, claimed[k], image);
        batch_run(&batch);
        for (size_t i = 0; i < COUNT; i++) {
            double norm = workspace_norms(batch.workspace)[i];
            assert_true(norm > clip_norm);
            factors[i] = (float)((1 - 0x1p-22) * clip_norm / norm);
        }
        workspace_scale(batch.workspace, factors);
        double *gradient = calloc(batch.parameters, sizeof *gradient);
        float *sum = calloc(batch.parameters, sizeof *sum);
        for (size_t i = 0; i < COUNT; i++) {
            batch_sum(&batch, (struct row_range){i, 1}, sum);
            batch_as_file(&batch, gradient, sum);
            assert_true(norm_of(gradient, batch.parameters) <= clip_norm);
        }
        free(sum);
        free(gradient);
        batch_fini(&batch);
    }
}

static void a_sum_is_that_of_its_records(void **state)
{
    (void)state;
    for (size_t k = 0; k < CLAIMED; k++) {
        struct batch batch;
        make(&batch, claimed[k], image);
        batch_run(&batch);
        expect_linear_sum(&batch, workspace_norms(batch.workspace));
        batch_fini(&batch);
    }
}

static void an_epsilon_out_of_range_is_refused(void **state)
{
    static const double epsilons[] = {0, 0.9e-12, 1.1, NAN};
    struct network_shape shape = {4, 2};
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        struct layer_spec layers[] = {
            {.kind = &layer_layer_norm, .epsilon = epsilons[k]},
            {.kind = &layer_dense, .out = 2}};
        struct model_spec model = {.layer_count = 2, .layers = layers};
        struct network *network;
        struct error error = {0};
        assert_int_equal(network_create(&network, &model, shape, &error), ST_INVALID);
        assert_string_equal(error.pointer, "/model/layers/0/eps");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_position_has_mean_zero_and_deviation_one),
        cmocka_unit_test(on_a_vector_it_is_a_group_norm_of_one_group),
        cmocka_unit_test(on_an_image_it_is_not),
        cmocka_unit_test(its_tensors_start_at_one_and_zero),
        cmocka_unit_test(a_constant_position_becomes_zeros),
        cmocka_unit_test(a_bad_record_changes_nothing_else),
        cmocka_unit_test(no_record_reads_another),
        cmocka_unit_test(a_clipped_record_is_no_longer_than_the_clip_norm),
        cmocka_unit_test(a_sum_is_that_of_its_records),
        cmocka_unit_test(an_epsilon_out_of_range_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
