/* Goal: differences of gradients at two points are bounded and weighted record by
 * record if every layer has a rule for them. Method: exact products in long double of
 * the stored factors; factors made to cancel; refusals and sizes by hand. */
#include "tests/expect.h"

#include <string.h>

#include "tests/engine/nn/random_batch_fixture.h"
#include "tests/engine/nn/point_pair_fixture.h"
#include "tests/engine/nn/record_claims_fixture.h"

/* The exact norm and spread of the stored factors of a record. */
struct exact {
    long double norm, spread;
};

static struct exact exact_of(const struct batch *batch, size_t i)
{
    struct exact exact = {0};
    size_t count = workspace_factor_count(batch->workspace), next;
    for (size_t l = 0; l < count; l = next) {
        struct factors at = workspace_factors(batch->workspace, l), of[2] = {at, at};
        bool two = l + 1 < count &&
                   workspace_factors(batch->workspace, l + 1).weight == at.weight;
        if (two)
            of[1] = workspace_factors(batch->workspace, l + 1);
        next = l + 1 + two;
        long double aa[3] = {0}, bb[3] = {0}; /* squares, and the mixed product */
        for (int k = 0; k < 3; k++) {
            const struct factors *x = &of[k / 2], *y = &of[(k + 1) / 2];
            for (size_t j = 0; j < at.inputs; j++)
                aa[k] +=
                    (long double)x->a[i * x->a_stride + j] * y->a[i * y->a_stride + j];
            for (size_t j = 0; j < at.outputs; j++)
                bb[k] +=
                    (long double)x->b[i * x->b_stride + j] * y->b[i * y->b_stride + j];
        }
        long double bias = at.bias != SIZE_MAX ? bb[0] : 0.0L;
        long double more = two ? aa[2] * bb[2] : 0.0L;
        long double mixed = two ? 2.0L * aa[1] * bb[1] : 0.0L;
        long double spread = sqrtl(aa[0] * bb[0]) + sqrtl(more);
        exact.norm += aa[0] * bb[0] + bias + more + mixed;
        exact.spread += spread * spread + bias;
    }
    return (struct exact){sqrtl(exact.norm), sqrtl(exact.spread)};
}

static void a_norm_is_never_below_that_of_the_stored_factors(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES && families[f].input.height == 0; f++)
        for (int digits = 0; digits <= 6; digits += 3) {
            struct pair pair;
            pair_start(&pair, &families[f], pow(10.0, -digits));
            pair_run(&pair);
            for (size_t i = 0; i < pair.batch.count; i++) {
                struct exact exact = exact_of(&pair.batch, i);
                long double norm = workspace_norms(pair.batch.workspace)[i];
                long double spread = workspace_spreads(pair.batch.workspace)[i];
                long double room = 0x1p-22L * exact.norm + 0x1p-23L * exact.spread;
                assert_true(exact.norm > 0.0L);
                assert_true(norm >= exact.norm && norm <= exact.norm + room);
                assert_true(spread >= exact.spread);
                assert_true(spread <= exact.spread * (1.0L + 0x1p-22L));
            }
            pair_finish(&pair);
        }
}

static float *entry(const float *from, size_t stride, size_t row)
{
    return (float *)(uintptr_t)(from + row * stride);
}

/* Makes the two terms of record i nearly cancel in every layer except the first, which
 * becomes zero: da = a' and b = -db up to last bits. */
static void cancel_terms(const struct batch *batch, size_t i)
{
    struct factors first = workspace_factors(batch->workspace, 0);
    memset(entry(first.b, first.b_stride, i), 0, first.outputs * sizeof(float));
    for (size_t l = 1; l < workspace_factor_count(batch->workspace); l += 2) {
        struct factors one = workspace_factors(batch->workspace, l);
        struct factors two = workspace_factors(batch->workspace, l + 1);
        const float *a = entry(one.a, one.a_stride, i);
        const float *db = entry(one.b, one.b_stride, i);
        float *da = entry(two.a, two.a_stride, i), *b = entry(two.b, two.b_stride, i);
        for (size_t j = 0; j < one.inputs; j++)
            da[j] = nextafterf(a[j], (float)(i % 3) - 1.0F);
        for (size_t j = 0; j < one.outputs; j++)
            b[j] = nextafterf(-db[j], (float)(i % 5) - 2.0F);
    }
}

/* Rounding w b and w db increases the difference, but not beyond C. */
static void the_clip_holds_where_terms_cancel(void **state)
{
    static const struct family family = {
        "D20rD20rD3", LOSS_SOFTMAX_CROSS_ENTROPY, 9, 16, {0}};
    struct pair pair;
    (void)state;
    pair_start(&pair, &family, 1e-2);
    pair_run(&pair);
    for (size_t i = 0; i < pair.batch.count; i++)
        cancel_terms(&pair.batch, i);
    workspace_measure(pair.batch.workspace, NULL);
    float weights[16];
    double norms[16];
    for (size_t i = 0; i < pair.batch.count; i++) {
        norms[i] = workspace_norms(pair.batch.workspace)[i];
        assert_true(norms[i] >= (double)exact_of(&pair.batch, i).norm);
        weights[i] = (float)(0.3 + 0.01 * (double)i);
    }
    workspace_scale(pair.batch.workspace, weights);
    for (size_t i = 0; i < pair.batch.count; i++) {
        struct exact exact = exact_of(&pair.batch, i);
        double clip = (double)weights[i] / (1.0 - 0x1p-22) * norms[i];
        assert_true((double)exact.norm <= clip);
    }
    pair_finish(&pair);
}

static void the_sum_is_linear_in_the_weights(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct pair pair;
        pair_start(&pair, &families[f], 1e-3);
        pair_run(&pair);
        expect_linear_sum(&pair.batch, workspace_spreads(pair.batch.workspace));
        pair_finish(&pair);
    }
}

static void a_layer_without_a_rule_is_refused(void **state)
{
    static const struct {
        const char *layers, *word;
    } models[] = {{"c64,3c64,3fd3", "convolution"},
                  {"c4,3n2rfd3", "group_norm"},
                  {"c4,3lrfd3", "layer_norm"},
                  {"c4,3[c4,3,1,1o1]fd3", NULL},
                  {"c4,3rm2,2fd3", NULL},
                  {"td5rfd3", NULL}, /* dense at every pixel */
                  {"d5rd3", NULL},
                  {"fd5td3", NULL}};
    (void)state;
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        struct batch batch;
        struct error error = {0};
        batch_make(&batch, &(struct batch_demand){.layers = models[k].layers,
                                                  .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
                                                  .features = 36,
                                                  .count = 16,
                                                  .input = {6, 6, 1},
                                                  .form = -1});
        bool refused = network_check_differences(batch.network, &error) != ST_OK;
        assert_int_equal(refused, models[k].word != NULL);
        if (refused) {
            assert_int_equal(error.status, ST_INVALID);
            assert_true(strstr(error.text, models[k].word) != NULL);
            assert_string_equal(error.pointer, "/model");
        }
        batch_fini(&batch);
    }
}

static void stacked_layers_have_two_terms(void **state)
{
    static const char *const layers[] = {"d3", "rd3", "d5rd3"};
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct batch batch;
        batch_init(&batch, layers[k], LOSS_SOFTMAX_CROSS_ENTROPY, 7, 16);
        assert_int_equal(network_difference_terms(batch.network), k == 2 ? 2 : 1);
        assert_true(network_difference_spread(batch.network) == (k == 2 ? 2.0 : 1.0));
        batch_fini(&batch);
    }
}

/* Values with a gradient take four rows instead of two; nothing else grows. */
static void only_two_points_pay_for_two(void **state)
{
    struct batch batch;
    (void)state;
    batch_init(&batch, "d128rd10", LOSS_SOFTMAX_CROSS_ENTROPY, 784, 16);
    size_t one = workspace_size(batch.network, 256);
    size_t two = workspace_two_points_size(batch.network, 256);
    assert_int_equal(two - one, 256 * 2 * (128 + 16) * sizeof(float));
    batch_fini(&batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_norm_is_never_below_that_of_the_stored_factors),
        cmocka_unit_test(the_clip_holds_where_terms_cancel),
        cmocka_unit_test(the_sum_is_linear_in_the_weights),
        cmocka_unit_test(a_layer_without_a_rule_is_refused),
        cmocka_unit_test(stacked_layers_have_two_terms),
        cmocka_unit_test(only_two_points_pay_for_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
