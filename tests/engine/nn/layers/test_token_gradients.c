/* Goal: networks on tokens compute every record's gradient, its norm and sums, whatever
 * tokens repeat and wherever a record ends, for records and for persons of several
 * texts. Method: the oracle of loops over single numbers, itself checked by finite
 * differences; every form of a norm forced; each claim with records of no token, of one,
 * of one id that repeats, and of all positions. */
#include "tests/expect.h"

#include <string.h>

#include "engine/difference/difference.h"
#include "engine/nn/layers/registry.h"
#include "tests/engine/nn/random_batch_fixture.h"
#include "tests/engine/nn/record_oracle.h"
#include "tests/engine/nn/record_claims_fixture.h"

enum { FORMS = 4, COUNT = 32 }; /* forms of a norm: as planned, and each forced */

struct family {
    const char *layers;
    enum loss loss;
    size_t features;
};

static const struct family families[] = {
    {"e7,5Hd3", LOSS_SOFTMAX_CROSS_ENTROPY, 9},
    {"e40,17vd3", LOSS_SOFTMAX_CROSS_ENTROPY, 20},
    {"e5,4fd1", LOSS_LOGISTIC, 6},
    {"e7,6i11,2y2,3Hd3", LOSS_SOFTMAX_CROSS_ENTROPY, 9},
    {"e7,6ry1,3ti9hd1", LOSS_HUBER, 9},
    {"e9,8i7d8[d12ud8]lHd5td4", LOSS_SOFTMAX_CROSS_ENTROPY, 7},
    {"e3,4Hd1", LOSS_SQUARED, 1},
    {"e7,5j6vd3", LOSS_SOFTMAX_CROSS_ENTROPY, 9},
    {"e7,5j17j4vd1", LOSS_LOGISTIC, 12},
    {"e7,6i11d5j5ly2,3j7Hd1", LOSS_HUBER, 9},
    {"e7,4j5rfd3", LOSS_SOFTMAX_CROSS_ENTROPY, 5},
    {"e7,4[j4]hd1", LOSS_SQUARED, 1},
    {"e2000,24y2,5vd3", LOSS_SOFTMAX_CROSS_ENTROPY, 12},
    {"e7,6q2d6|d6|d6]Hd3", LOSS_SOFTMAX_CROSS_ENTROPY, 9},
    {"e9,8i9y2,3l[q4d12|D12|d12]d8]l[d12ud8]lhd4td3", LOSS_SOFTMAX_CROSS_ENTROPY, 9},
    {"e7,5q1d20|ld20|j5d20]d5vd1", LOSS_LOGISTIC, 7},
    {"e7,6q3d6|d6|d6]q1d9|d9|d9]Hd1", LOSS_SQUARED, 2},
    {"e7,6[q2d6|d6|d6]d6]l[q3d6|d6|d6]d6]lj4vd1", LOSS_HUBER, 7},
};
enum { FAMILIES = sizeof families / sizeof *families };

static void make(struct batch *batch, const struct family *family, int form,
                 size_t unit_rows)
{
    batch_make(batch, &(struct batch_demand){.layers = family->layers,
                                             .loss = family->loss,
                                             .features = family->features,
                                             .count = COUNT,
                                             .unit_rows = unit_rows,
                                             .form = form - 1});
    assert_int_equal(batch->parameters,
                     oracle_parameters(&batch->model, batch->features));
}

/* Calls claim for every family, in every form. */
static void for_each_family(void (*claim)(struct batch *batch))
{
    for (size_t f = 0; f < FAMILIES; f++)
        for (int form = 0; form < FORMS; form++) {
            struct batch batch;
            make(&batch, &families[f], form, 1);
            claim(&batch);
            batch_fini(&batch);
        }
}

/* The oracle does not know the form of a norm, so one form of each family is enough. */
static void backward_is_the_derivative(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct batch batch;
        make(&batch, &families[f], 0, 1);
        expect_derivatives(&batch, 6, 31);
        batch_fini(&batch);
    }
}

/* Checks the sum and the norm of the unit at some rows against a gradient. */
static void expect_unit(struct batch *batch, struct row_range unit,
                        const double *gradient)
{
    double norm = norm_of(gradient, batch->parameters);
    double *ours = calloc(batch->parameters, sizeof *ours);
    float *sum = calloc(batch->parameters, sizeof *sum);
    batch_sum(batch, unit, sum);
    batch_as_file(batch, ours, sum);
    assert_true(distance(batch, sum, 1.0, gradient) <= 1e-5 * norm + 1e-9);
    double measured = workspace_norms(batch->workspace)[unit.first];
    /* A Gram's norm is a bound, which grows with the rows of a unit (noise.md 2.4). */
    assert_true(measured >= norm * (1.0 - 1e-5) - 1e-6);
    assert_true(measured <= norm * (1.0 + 2e-5) + 1e-6);
    assert_true(measured >= norm_of(ours, batch->parameters) * (1.0 - 0x1p-23));
    assert_true(workspace_spreads(batch->workspace)[unit.first] >=
                measured * (1.0 - 0x1p-20));
    free(sum);
    free(ours);
}

static void expect_gradients(struct batch *batch)
{
    double *gradient = calloc(batch->parameters, sizeof *gradient);
    batch_run(batch);
    for (size_t i = 0; i < batch->count; i++) {
        double loss = record_gradient(batch, batch->theta, i, gradient);
        assert_close(workspace_losses(batch->workspace)[i] + 1.0, loss + 1.0, 1e-5);
        expect_unit(batch, (struct row_range){i, 1}, gradient);
    }
    free(gradient);
}

static void a_record_has_its_gradient_and_norm(void **state)
{
    (void)state;
    for_each_family(expect_gradients);
}

/* A unit's gradient is the sum of those of its rows: tokens that several of its texts
 * have are one row of the table, with one square. */
static void texts_of_one_person_are_one_gradient(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++)
        for (size_t unit = 2; unit <= 16; unit *= 2) {
            struct batch batch;
            make(&batch, &families[f], (int)(f % FORMS), unit);
            double *one = calloc(batch.parameters, sizeof *one);
            batch_run(&batch);
            for (size_t first = 0; first < batch.count; first += unit) {
                double *all = calloc(batch.parameters, sizeof *all);
                for (size_t k = 0; k < unit; k++) {
                    record_gradient(&batch, batch.theta, first + k, one);
                    for (size_t j = 0; j < batch.parameters; j++)
                        all[j] += one[j];
                }
                expect_unit(&batch, (struct row_range){first, unit}, all);
                free(all);
            }
            free(one);
            batch_fini(&batch);
        }
}

static void expect_linear(struct batch *batch)
{
    batch_run(batch);
    expect_linear_sum(batch, workspace_norms(batch->workspace));
}

static void the_sum_is_linear_in_the_weights(void **state)
{
    (void)state;
    for_each_family(expect_linear);
}

static void expect_alone(struct batch *batch)
{
    expect_no_record_reads_another(batch, batch_pass);
}

static void no_record_reads_another(void **state)
{
    (void)state;
    for_each_family(expect_alone);
}

/* The same records with as many positions again, all behind their ends. */
static void padding_adds_nothing(void **state)
{
    static const char *const models[] = {
        "e7,6Hd3",     "e9,8d8[d12ud8]lvd4", "e9,8i40lHd3",
        "e9,8j7j5vd4", "e9,8q2d8|d8|d8]Hd3", "e9,8i40l[q4d8|d8|d8]d8]l[d12ud8]lhd4td3"};
    (void)state;
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        struct batch short_one, long_one;
        make(&short_one, &(struct family){models[k], LOSS_SOFTMAX_CROSS_ENTROPY, 15}, 0,
             1);
        make(&long_one, &(struct family){models[k], LOSS_SOFTMAX_CROSS_ENTROPY, 30}, 0,
             1);
        for (size_t i = 0; i < COUNT; i++)
            for (size_t t = 0; t < 30; t++)
                long_one.x[i * 30 + t] = t < 15 ? short_one.x[i * 15 + t] : -1.0F;
        memcpy(long_one.classes, short_one.classes, COUNT * sizeof(uint32_t));
        memcpy(long_one.theta, short_one.theta, short_one.parameters * sizeof(float));
        batch_run(&short_one);
        batch_run(&long_one);
        for (size_t i = 0; i < COUNT; i++) {
            struct mark a = mark_of(&short_one, i), b = mark_of(&long_one, i);
            assert_true(a.loss == b.loss);
            assert_true(fabs(a.norm - b.norm) <= 1e-5 * a.norm); /* bounds by T rows */
            for (size_t j = 0; j < short_one.parameters; j++)
                assert_true(a.sum[j] == b.sum[j]);
            free(a.sum);
            free(b.sum);
        }
        batch_fini(&short_one);
        batch_fini(&long_one);
    }
}

/* An infinite row of the table is read by some records: they add nothing, and the others
 * are the same to the bit. */
static void a_record_that_is_not_finite_is_refused(void **state)
{
    (void)state;
    struct batch batch;
    make(&batch, &(struct family){"e40,17vd3", LOSS_SOFTMAX_CROSS_ENTROPY, 6}, 0, 1);
    batch_run(&batch);
    struct mark before[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        before[i] = mark_of(&batch, i);
    batch.theta[network_tensor(batch.network, 0)->offset + 39 * 17 + 3] = INFINITY;
    batch_run(&batch);
    size_t refused = 0;
    for (size_t i = 0; i < COUNT; i++) {
        size_t last = 6;
        while (last > 0 && batch.x[i * 6 + last - 1] < 0.0F)
            last--;
        struct mark after = mark_of(&batch, i);
        if (last == 0 || batch.x[i * 6 + last - 1] != 39.0F) {
            expect_alike(&batch, before[i], after);
            continue;
        }
        refused++;
        assert_true(after.norm == 0.0);
        assert_true(workspace_spreads(batch.workspace)[i] == 0.0);
        for (size_t j = 0; j < batch.parameters; j++)
            assert_true(after.sum[j] == 0.0F);
        free(after.sum);
        free(before[i].sum);
    }
    assert_true(refused > 0);
    batch_fini(&batch);
}

/* Of a list of layers, only some are trained: the others form nothing, and those that are
 * trained get the same gradients. */
static void layers_are_trained_above_frozen_ones_and_below(void **state)
{
    static const struct {
        const char *layers, *trained;
    } cases[] = {
        {"e7,6i11,2y2,3d8Hd3", "0.*"},
        {"e7,6i11,2y2,3d8Hd3", "1.*"},
        {"e7,6i11,2y2,3d8Hd3", "2.*"},
        {"e7,6i11,2y2,3d8Hd3", "3.*"},
        {"e7,6i11,2y2,3d8Hd3", "5.*"},
        {"e7,6j5j4vd3", "0.*"},
        {"e7,6j5j4vd3", "1.*_ih_l0"},
        {"e7,6j5j4vd3", "1.*_hh_l0"},
        {"e7,6j5j4vd3", "2.*_hh_l0"},
        {"e7,6j5j4vd3", "4.*"},
        {"e7,6[q2d6|d6|d6]d6]lHd3", "0.*"},
        {"e7,6[q2d6|d6|d6]d6]lHd3", "1.body.0.query.*"},
        {"e7,6[q2d6|d6|d6]d6]lHd3", "1.body.0.key.*"},
        {"e7,6[q2d6|d6|d6]d6]lHd3", "1.body.0.value.*"},
        {"e7,6[q2d6|d6|d6]d6]lHd3", "1.*"},
        {"e7,6[q2d6|d6|d6]d6]lHd3", "2.*"},
        {"e7,6[q2d6|d6|d6]d6]lHd3", "*.bias"},
        {"e7,6[q2d6|d6|d6]d6]lHd3", "1.body.0.key.0.bias"},
        {"e7,6j5j4vd3", "*.bias_?h_l0"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct batch whole, part;
        const struct batch_demand demand = {.layers = cases[k].layers,
                                            .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
                                            .features = 9,
                                            .count = COUNT,
                                            .form = -1};
        struct batch_demand some = demand;
        some.trained = cases[k].trained;
        batch_make(&whole, &demand);
        batch_make(&part, &some);
        for (size_t t = 0; t < network_tensor_count(part.network); t++) {
            const struct tensor *to = network_tensor(part.network, t);
            memcpy(part.theta + to->offset,
                   whole.theta + network_tensor(whole.network, t)->offset,
                   to->count * sizeof(float));
        }
        memcpy(part.x, whole.x, COUNT * 9 * sizeof *part.x);
        memcpy(part.classes, whole.classes, COUNT * sizeof *part.classes);
        batch_run(&whole);
        batch_run(&part);
        float *all = calloc(whole.parameters, sizeof *all);
        float *own = calloc(part.parameters, sizeof *own);
        batch_sum(&whole, (struct row_range){0, COUNT}, all);
        batch_sum(&part, (struct row_range){0, COUNT}, own);
        for (size_t t = 0; t < network_tensor_count(part.network); t++) {
            const struct tensor *to = network_tensor(part.network, t);
            if (to->offset < part.parameters)
                assert_memory_equal(own + to->offset,
                                    all + network_tensor(whole.network, t)->offset,
                                    to->count * sizeof(float));
        }
        assert_true(part.parameters < whole.parameters);
        free(own);
        free(all);
        batch_fini(&part);
        batch_fini(&whole);
    }
}

/* No node of a token model has a rule: DIFF2 refuses the first, by its name. */
static void differences_are_refused_by_name(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct batch batch;
        struct error error = {0};
        make(&batch, &families[f], 0, 1);
        assert_int_equal(network_check_differences(batch.network, &error), ST_INVALID);
        assert_string_equal(error.pointer, "/model");
        assert_non_null(strstr(error.text, "of embedding"));
        batch_fini(&batch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backward_is_the_derivative),
        cmocka_unit_test(a_record_has_its_gradient_and_norm),
        cmocka_unit_test(texts_of_one_person_are_one_gradient),
        cmocka_unit_test(the_sum_is_linear_in_the_weights),
        cmocka_unit_test(no_record_reads_another),
        cmocka_unit_test(padding_adds_nothing),
        cmocka_unit_test(a_record_that_is_not_finite_is_refused),
        cmocka_unit_test(layers_are_trained_above_frozen_ones_and_below),
        cmocka_unit_test(differences_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
