/* Goal: columns of words become rows of a table, and every unit's gradient, norm and sum
 * are those of the table's rows, whatever words its records share. Method: the oracle
 * of loops over single numbers; one record whose words are not a single 1; models that
 * are refused by name. */
#include "tests/expect.h"

#include <string.h>

#include "engine/difference/difference.h"
#include "engine/nn/layers/registry.h"
#include "tests/engine/nn/random_batch_fixture.h"
#include "tests/engine/nn/record_oracle.h"
#include "tests/engine/nn/record_claims_fixture.h"

enum { COUNT = 32 };

struct family {
    const char *layers;
    enum loss loss;
    size_t features;
};

static const struct family families[] = {
    {"b4,2,3,7,5d3", LOSS_SOFTMAX_CROSS_ENTROPY, 14},
    {"b3,0,4d1", LOSS_LOGISTIC, 4}, /* nothing else */
    {"b5,7,5,2,3,5,2td6rd1", LOSS_HUBER,
     12}, /* in any order, side by side, at the end */
    {"b1,0,1,3,1d4", LOSS_SOFTMAX_CROSS_ENTROPY, 4},    /* columns of one word */
    {"b17,1,3000d3", LOSS_SOFTMAX_CROSS_ENTROPY, 3002}, /* several tiles */
};
enum { FAMILIES = sizeof families / sizeof *families };

static void make(struct batch *batch, const struct family *family, size_t unit_rows)
{
    batch_make(batch, &(struct batch_demand){.layers = family->layers,
                                             .loss = family->loss,
                                             .features = family->features,
                                             .count = COUNT,
                                             .unit_rows = unit_rows,
                                             .form = -1});
    assert_int_equal(batch->parameters,
                     oracle_parameters(&batch->model, batch->features));
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
    assert_true(fabs(measured - norm) <= 1e-5 * norm + 1e-6);
    assert_true(measured >= norm_of(ours, batch->parameters) * (1.0 - 0x1p-23));
    free(sum);
    free(ours);
}

/* A person's gradient is the sum of those of their rows: a word that several rows have
 * is one row of the table, with one square. */
static void a_unit_has_its_gradient_and_norm(void **state)
{
    (void)state;
    for (size_t f = 0; f < FAMILIES; f++)
        for (size_t unit = 1; unit <= 16; unit *= 4) {
            struct batch batch;
            make(&batch, &families[f], unit);
            double *one = calloc(batch.parameters, sizeof *one);
            double *all = calloc(batch.parameters, sizeof *all);
            batch_run(&batch);
            for (size_t first = 0; first < batch.count; first += unit) {
                memset(all, 0, batch.parameters * sizeof *all);
                for (size_t k = 0; k < unit; k++) {
                    double loss = record_gradient(&batch, batch.theta, first + k, one);
                    assert_close(workspace_losses(batch.workspace)[first + k] + 1.0,
                                 loss + 1.0, 1e-5);
                    for (size_t j = 0; j < batch.parameters; j++)
                        all[j] += one[j];
                }
                expect_unit(&batch, (struct row_range){first, unit}, all);
            }
            free(all);
            free(one);
            batch_fini(&batch);
        }
}

static void claims_of_all_layers_hold(void **state)
{
    (void)state;
    for (size_t f = 0; f + 1 < FAMILIES; f++) {
        struct batch batch;
        make(&batch, &families[f], 1);
        expect_derivatives(&batch, 6, 31);
        batch_run(&batch);
        expect_linear_sum(&batch, workspace_norms(batch.workspace));
        expect_no_record_reads_another(&batch, batch_pass);
        batch_fini(&batch);
    }
}

/* A frozen table forms no gradient, and the layers above it get the same ones. */
static void a_frozen_table_is_read_and_not_trained(void **state)
{
    (void)state;
    struct batch whole, part;
    struct batch_demand demand = {.layers = "b4,2,3,7,5d3",
                                  .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
                                  .features = 14,
                                  .count = COUNT,
                                  .form = -1};
    batch_make(&whole, &demand);
    demand.trained = "1.*";
    batch_make(&part, &demand);
    size_t table = 8 * 4, head = whole.parameters - table;
    assert_int_equal(part.parameters, head);
    memcpy(part.theta, whole.theta + table, head * sizeof *part.theta);
    memcpy(part.theta + head, whole.theta, table * sizeof *part.theta);
    memcpy(part.x, whole.x, COUNT * 14 * sizeof *part.x);
    memcpy(part.classes, whole.classes, COUNT * sizeof *part.classes);
    batch_run(&whole);
    batch_run(&part);
    float *all = calloc(whole.parameters, sizeof *all);
    float *own = calloc(part.parameters, sizeof *own);
    batch_sum(&whole, (struct row_range){0, COUNT}, all);
    batch_sum(&part, (struct row_range){0, COUNT}, own);
    assert_memory_equal(own, all + table, head * sizeof *own);
    free(own);
    free(all);
    batch_fini(&part);
    batch_fini(&whole);
}

static void expect_refused(const char *layers, size_t features, const char *pointer,
                           const char *text)
{
    struct model_spec model = {.loss = LOSS_SOFTMAX_CROSS_ENTROPY};
    struct network *network;
    struct error error = {0};
    batch_layers(&model, layers);
    assert_int_equal(network_create(&network, &model,
                                    (struct network_shape){(uint32_t)features, 3},
                                    &error),
                     ST_INVALID);
    assert_string_equal(error.pointer, pointer);
    assert_non_null(strstr(error.text, text));
    model_spec_fini(&model);
}

static void what_does_not_fit_is_refused_by_name(void **state)
{
    (void)state;
    expect_refused("d14b4,2,3d3", 14, "/model/layers/1/type", "must be the first");
    expect_refused("[b4,2,3]d3", 14, "/model/layers/0/body/0/type", "the first layer");
    expect_refused("b4d3", 14, "/model/layers/0/columns", "must name columns");
    expect_refused("b60000000,0,2,2,2d3", 14, "/model/layers/0", "larger than 2^26");
    expect_refused("b9000,0,300000d3", 300000, "/model/layers/0/out", "parameters");
}

static void it_may_follow_the_layer_that_standardises(void **state)
{
    (void)state;
    struct batch batch;
    batch_make(&batch, &(struct batch_demand){.layers = "zb4,2,3d3",
                                              .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
                                              .features = 6,
                                              .count = COUNT,
                                              .form = -1});
    assert_int_equal(batch.parameters, 3 * 4 + (3 + 4 + 1) * 3);
    batch_fini(&batch);
}

static void differences_are_refused_by_name(void **state)
{
    (void)state;
    struct batch batch;
    struct error error = {0};
    make(&batch, &families[0], 1);
    assert_int_equal(network_check_differences(batch.network, &error), ST_INVALID);
    assert_non_null(strstr(error.text, "of embed_columns"));
    batch_fini(&batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_has_its_gradient_and_norm),
        cmocka_unit_test(claims_of_all_layers_hold),
        cmocka_unit_test(a_frozen_table_is_read_and_not_trained),
        cmocka_unit_test(what_does_not_fit_is_refused_by_name),
        cmocka_unit_test(it_may_follow_the_layer_that_standardises),
        cmocka_unit_test(differences_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
