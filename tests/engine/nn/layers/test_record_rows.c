/* Goal: a record is the same, bit for bit, in every row of a micro-batch of any length,
 * with each kernel of gemm.h and each kernel family of the BLAS (noise.md 2.5), because
 * no code compares rows before a run. Method: records among others and by themselves,
 * and one record in all rows, through the passes of a job at one point and at two, with
 * every kind of layer, form of a gradient and loss. */
#include "engine/nn/initial_values.h"
#include "engine/nn/workspace.h"

#include <string.h>

#include "engine/nn/layers/registry.h"
#include "tests/expect.h"
#include "tests/engine/gemm_fixture.h"
#include "tests/engine/small_network_fixture.h"
#include "tests/engine/nn/random_batch_fixture.h"
#include "tests/engine/nn/point_pair_fixture.h"
#include "tests/engine/nn/record_claims_fixture.h"

static struct network *network_of(const uint32_t shape[4])
{
    struct layer_spec layers[] = {
        {.kind = &layer_dense, .out = shape[1], .bias = true},
        {.kind = &layer_relu},
        {.kind = &layer_dense, .out = shape[2], .bias = true},
        {.kind = &layer_tanh},
        {.kind = &layer_dense, .out = shape[3], .bias = true}};
    struct model_spec model = {
        .layer_count = 5, .layers = layers, .loss = LOSS_SOFTMAX_CROSS_ENTROPY};
    struct network *network;
    assert_int_equal(network_create(&network, &model,
                                    (struct network_shape){shape[0], shape[3]}, NULL),
                     ST_OK);
    return network;
}

static const uint32_t shapes[][4] = {
    {784, 128, 33, 10}, {784, 10, 10, 10}, {300, 100, 250, 7}, {123, 40, 300, 2}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void put(struct workspace *workspace, size_t features, size_t row, int record)
{
    float *x = workspace_input(workspace) + row * workspace_stride(workspace);
    for (size_t j = 0; j < features; j++)
        x[j] = (float)sin((double)(record * 37 + 1) * (double)(j + 1) * 0.01);
    workspace_classes(workspace)[row] = 1;
}

static void pass(struct workspace *workspace, const float *parameters, size_t count)
{
    workspace_forward(workspace, parameters, count);
    workspace_loss(workspace);
    workspace_backward(workspace, parameters);
    workspace_measure(workspace, NULL);
}

static void assert_same_record(const struct workspace *a, size_t row,
                               const struct workspace *b, size_t other)
{
    assert_true(workspace_norms(a)[row] == workspace_norms(b)[other]);
    assert_true(workspace_losses(a)[row] == workspace_losses(b)[other]);
    for (size_t l = 0; l < workspace_factor_count(a); l++) {
        struct factors f = workspace_factors(a, l), g = workspace_factors(b, l);
        assert_memory_equal(f.a + row * f.a_stride, g.a + other * g.a_stride,
                            f.inputs * sizeof(float));
        assert_memory_equal(f.b + row * f.b_stride, g.b + other * g.b_stride,
                            f.outputs * sizeof(float));
    }
}

/* A record in any row gives the results that it gives by itself. */
static void a_record_is_the_same_in_micro_batches_of_any_length(void **state)
{
    (void)state;
    enum { ROWS = 624 };
    for (size_t k = 0; k < SHAPES; k++) {
        struct network *network = network_of(shapes[k]);
        float *parameters = calloc(network_parameters(network), sizeof *parameters);
        struct workspace *many, *one;
        assert_int_equal(workspace_create(&many, network, ROWS, NULL), ST_OK);
        assert_int_equal(workspace_create(&one, network, 16, NULL), ST_OK);
        network_init(network, parameters, 9);
        for (size_t count = 5; count <= ROWS; count += 103) {
            for (size_t row = 0; row < count; row++)
                put(many, shapes[k][0], row, (int)row);
            pass(many, parameters, count);
            for (size_t row = 0; row < count; row += 41) {
                put(one, shapes[k][0], 0, (int)row);
                pass(one, parameters, 1);
                assert_same_record(many, row, one, 0);
            }
        }
        workspace_destroy(one);
        workspace_destroy(many);
        free(parameters);
        network_destroy(network);
    }
}

static const struct batch_demand demands[] = {
    {.layers = "d24rd10", .loss = LOSS_SOFTMAX_CROSS_ENTROPY, .features = 37},
    {.layers = "D17td33sD7", .loss = LOSS_SOFTMAX_CROSS_ENTROPY, .features = 20},
    {.layers = "d20pd12ud5", .loss = LOSS_SOFTMAX_CROSS_ENTROPY, .features = 19},
    {.layers = "d9Uo3d16[rd16|d16]d4",
     .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
     .features = 33},
    {.layers = "m3,1,1a2,2fd20rd4",
     .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
     .features = 98,
     .input = {7, 7, 2}},
    {.layers = "wfd9rd4",
     .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
     .features = 512,
     .input = {16, 16, 2}},
    {.layers = "c16,3,1,1rc16,2x3fd5",
     .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
     .features = 64,
     .input = {8, 8, 1}},
    {.layers = "c16,5,2,2tm2,1c24,3,1,1,2sa2,2fd20rd4",
     .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
     .features = 432,
     .input = {12, 12, 3}},
    {.layers =
         "c24,3,1,1n4u[c24,3,1,1n3rc24,3,1,1n2o2]r[C40,3,2,1lrC40,3,1,1|C40,1,2]gd3",
     .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
     .features = 162,
     .input = {9, 9, 2}},
    {.layers = "k6C20,3p[c20,1|l]d7Ufd4",
     .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
     .features = 64,
     .input = {8, 8, 1}},
    {.layers = "d40ln4rd40ld10", .loss = LOSS_SOFTMAX_CROSS_ENTROPY, .features = 37},
    {.layers = "d30rd1", .loss = LOSS_LOGISTIC, .features = 70},
    {.layers = "d30td1", .loss = LOSS_SQUARED, .features = 15},
    {.layers = "d30sd1", .loss = LOSS_HUBER, .features = 16},
    {.layers = "e9,8i40,2y2,1[q2d8|d8|d8]]lHd4",
     .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
     .features = 21,
     .trained = "6.*"},
    {.layers = "e9,20i40y2,1j17j8vd4",
     .loss = LOSS_SOFTMAX_CROSS_ENTROPY,
     .features = 21},
};

/* Products, losses, activations, masks, pools and norms must not depend on the row. */
static void one_record_is_the_same_in_every_row(void **state)
{
    (void)state;
    enum { COUNT = 67, RECORD = 3 };
    static const int forms[] = {-1, NORM_GRAM, NORM_EXPLICIT, NORM_PER_EXAMPLE};
    for (size_t d = 0; d < 4 * sizeof demands / sizeof *demands; d++) {
        struct batch_demand demand = demands[d / 4];
        struct batch batch;
        demand.count = COUNT;
        demand.form = forms[d % 4];
        if (demand.form >= 0 && strpbrk(demand.layers, "cj") == NULL)
            continue;
        batch_make(&batch, &demand);
        for (size_t i = 0; i < COUNT; i++)
            batch_place(&batch, i, RECORD);
        batch_pass(&batch, COUNT);
        assert_true(workspace_norms(batch.workspace)[0] > 0);
        for (size_t i = 1; i < COUNT; i++)
            assert_same_record(batch.workspace, i, batch.workspace, 0);
        batch_fini(&batch);
    }
}

/* At two points a record among others gives the results that it gives by itself. */
static void no_other_record_changes_a_bit_of_a_difference(void **state)
{
    static const struct family wide[] = {
        {"d64td40rd10", LOSS_SOFTMAX_CROSS_ENTROPY, 200, 288, {0}},
        {"c16,3,1,1rc16,2x3fd5", LOSS_SOFTMAX_CROSS_ENTROPY, 64, 100, {8, 8, 1}}};
    (void)state;
    for (size_t f = 0; f < 2; f++) {
        struct pair pair;
        pair_start(&pair, &wide[f], 1e-3);
        struct batch *batch = &pair.batch;
        for (size_t i = 0; i < batch->count; i += 41) {
            pair_run(&pair);
            struct mark among_all = mark_of(batch, i);
            batch_place(batch, 0, i);
            pair_pass(batch, 1);
            expect_alike(batch, among_all, mark_of(batch, 0));
        }
        pair_finish(&pair);
    }
}

int main(int argc, char **argv)
{
    int result;
    (void)argc;
    if (!kernels_chosen(argv, &result))
        return result;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_the_same_in_micro_batches_of_any_length),
        cmocka_unit_test(one_record_is_the_same_in_every_row),
        cmocka_unit_test(no_other_record_changes_a_bit_of_a_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
