/* Goal: a record adds exactly its own gradient to a sum, and its norm is bounded from
 * above. Method: every model of dense layers against a three-loop double oracle, which
 * is itself checked by finite differences; then one record at a time among different
 * other records. */
#include "tests/expect.h"
#include "engine/nn/layers/registry.h"

#include <string.h>

#include "tests/engine/nn/random_batch_fixture.h"
#include "tests/engine/nn/dense_families_fixture.h"
#include "tests/engine/nn/record_oracle.h"
#include "tests/engine/nn/record_claims_fixture.h"

static void backward_is_the_derivative(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct batch batch;
        dense_start(&batch, f);
        expect_derivatives(&batch, 3, 97);
        batch_fini(&batch);
    }
}

static void gradients_and_losses_are_the_oracles(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct batch batch;
        dense_start(&batch, f);
        double *gradient = calloc(batch.parameters, sizeof *gradient);
        float *sum = calloc(batch.parameters, sizeof *sum);
        batch_run(&batch);
        for (size_t i = 0; i < batch.count; i++) {
            double loss = record_gradient(&batch, batch.theta, i, gradient);
            double norm = norm_of(gradient, batch.parameters);
            assert_close(workspace_losses(batch.workspace)[i] + 1.0, loss + 1.0, 1e-5);
            batch_sum(&batch, (struct row_range){i, 1}, sum);
            assert_true(distance(&batch, sum, 1.0, gradient) <= 1e-5 * norm);
        }
        free(sum);
        free(gradient);
        batch_fini(&batch);
    }
}

static void a_norm_is_the_norm_of_the_record_alone(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct batch batch;
        dense_start(&batch, f);
        float *sum = calloc(batch.parameters, sizeof *sum);
        double *norms = calloc(batch.count, sizeof *norms);
        double *exact = calloc(batch.parameters, sizeof *exact);
        batch_run(&batch);
        memcpy(norms, workspace_norms(batch.workspace), batch.count * sizeof *norms);
        for (size_t i = 0; i < batch.count; i++) {
            batch_place(&batch, 0, i);
            batch_pass(&batch, 1);
            batch_sum(&batch, (struct row_range){0, 1}, sum);
            batch_as_file(&batch, exact, sum);
            assert_close(norms[i], norm_of(exact, batch.parameters), 1e-5);
            assert_true(norms[i] > 0.0);
        }
        free(exact);
        free(norms);
        free(sum);
        batch_fini(&batch);
    }
}

/* noise.md 2.4: nu_up bounds the exact product of the stored factors, and M_up bounds
 * their spread. */
static void a_norm_is_never_below_that_of_the_stored_factors(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct batch batch;
        dense_start(&batch, f);
        batch_run(&batch);
        for (size_t i = 0; i < batch.count; i++) {
            long double square = 0.0L;
            for (size_t l = 0; l < workspace_factor_count(batch.workspace); l++) {
                struct factors of = workspace_factors(batch.workspace, l);
                long double a = 0.0L, b = 0.0L;
                for (size_t j = 0; j < of.inputs; j++)
                    a += (long double)of.a[i * of.a_stride + j] *
                         of.a[i * of.a_stride + j];
                for (size_t j = 0; j < of.outputs; j++)
                    b += (long double)of.b[i * of.b_stride + j] *
                         of.b[i * of.b_stride + j];
                square += b * (a + (of.bias != SIZE_MAX ? 1.0L : 0.0L));
            }
            assert_true((long double)workspace_norms(batch.workspace)[i] >=
                        sqrtl(square));
            assert_true((long double)workspace_norms(batch.workspace)[i] <=
                        sqrtl(square) * (1.0L + 0x1p-22L));
            assert_true(workspace_spreads(batch.workspace)[i] >=
                        workspace_norms(batch.workspace)[i]);
        }
        batch_fini(&batch);
    }
}

static void the_sum_is_linear_in_the_weights(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct batch batch;
        dense_start(&batch, f);
        batch_run(&batch);
        expect_linear_sum(&batch, workspace_norms(batch.workspace));
        batch_fini(&batch);
    }
}

static void a_bad_record_changes_nothing_else(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++)
        for (size_t k = 0; k < BAD_VALUES; k++) {
            struct batch batch;
            dense_start(&batch, f);
            /* Relu and tanh turn large values into ordinary numbers. */
            if (k == 0 || batch.model.layers[0].kind == &layer_dense)
                expect_bad_record_alone(&batch, bad_values[k], batch_pass);
            batch_fini(&batch);
        }
}

/* A weight for which the output of the record's own class is minus infinity: every
 * factor is finite, but the loss is not. */
static void a_record_of_infinite_loss_is_refused(void **state)
{
    struct batch batch;
    (void)state;
    dense_start(&batch, 1);
    batch.theta[0] = -3e38F;
    for (size_t i = 0; i < batch.count; i++) {
        batch.x[i * batch.features] = i == 3 ? 10.0F : 0.0F;
        batch.classes[i] = 0;
    }
    batch_run(&batch);
    assert_true(isinf(workspace_losses(batch.workspace)[3]));
    for (size_t i = 0; i < batch.count; i++)
        assert_int_equal(workspace_norms(batch.workspace)[i] == 0.0, i == 3);
    batch_fini(&batch);
}

static void no_record_reads_another(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct batch batch;
        dense_start(&batch, f);
        expect_no_record_reads_another(&batch, batch_pass);
        batch_fini(&batch);
    }
}

static void probabilities_are_the_models(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++) {
        struct batch batch;
        double z[ORACLE_WIDTH_MAX];
        dense_start(&batch, f);
        uint32_t width = network_predictions(batch.network);
        double *theta = calloc(batch.parameters, sizeof *theta);
        batch_as_file(&batch, theta, batch.theta);
        double *out = calloc(batch.count * width, sizeof *out);
        batch_run(&batch);
        workspace_forward(batch.workspace, batch.theta, batch.count);
        workspace_predict(batch.workspace, out);
        for (size_t i = 0; i < batch.count; i++) {
            struct oracle_record record = record_of(&batch, i);
            const double *row = out + i * width;
            oracle_evaluate(&batch.model, theta, &record, NULL, z);
            if (batch.model.loss == LOSS_SQUARED) {
                assert_true(fabs(row[0] - z[0]) <= 1e-5 * (1.0 + fabs(z[0])));
                continue;
            }
            double sum = 0.0, greatest = -1.0;
            double zero_class = batch.model.loss == LOSS_LOGISTIC ? 0.0 : z[0];
            for (uint32_t j = 0; j < width; j++) {
                sum += row[j];
                greatest = fmax(greatest, row[j]);
                double odds =
                    batch.model.loss == LOSS_LOGISTIC ? (j == 1 ? z[0] : 0.0) : z[j];
                assert_close(row[j], row[0] * exp(odds - zero_class), 2e-5);
            }
            assert_close(sum, 1.0, 1e-12);
            assert_true(row[workspace_class(batch.workspace, i)] == greatest);
        }
        free(out);
        free(theta);
        batch_fini(&batch);
    }
}

/* nu of each layer is |b| sqrt(|a|^2 + bias), and the squares add up to the square of
 * the total norm. */
static void norms_of_layers_add_up(void **state)
{
    struct batch batch;
    (void)state;
    batch_init(&batch, "d17rd9td4", LOSS_SOFTMAX_CROSS_ENTROPY, 23, 40);
    batch_run(&batch);
    workspace_measure(batch.workspace, NULL);
    assert_int_equal(network_layers(batch.network), 3);
    for (size_t i = 0; i < batch.count; i++) {
        double sum = 0;
        for (size_t l = 0; l < 3; l++) {
            struct factors of = workspace_factors(batch.workspace, l);
            double a = 0, b = 0;
            for (size_t j = 0; j < of.inputs; j++)
                a += pow((double)of.a[i * of.a_stride + j], 2);
            for (size_t j = 0; j < of.outputs; j++)
                b += pow((double)of.b[i * of.b_stride + j], 2);
            double norm = sqrt(b * (a + (of.bias != SIZE_MAX ? 1 : 0)));
            double found = workspace_layer_norms(batch.workspace, l)[i];
            assert_close(found, norm, 1e-7);
            assert_true(found >= norm);
            assert_true(workspace_layer_spreads(batch.workspace, l)[i] == found);
            sum += found * found;
        }
        assert_close(sqrt(sum), workspace_norms(batch.workspace)[i], 1e-14);
    }
    batch_fini(&batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backward_is_the_derivative),
        cmocka_unit_test(gradients_and_losses_are_the_oracles),
        cmocka_unit_test(a_norm_is_the_norm_of_the_record_alone),
        cmocka_unit_test(a_norm_is_never_below_that_of_the_stored_factors),
        cmocka_unit_test(the_sum_is_linear_in_the_weights),
        cmocka_unit_test(a_bad_record_changes_nothing_else),
        cmocka_unit_test(a_record_of_infinite_loss_is_refused),
        cmocka_unit_test(no_record_reads_another),
        cmocka_unit_test(probabilities_are_the_models),
        cmocka_unit_test(norms_of_layers_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
