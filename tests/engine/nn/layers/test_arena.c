/* Goal: values that share memory, as no way back reads them, have the bits that they would have in
 * memory of their own, with each kernel of gemm.h and each kernel family of the BLAS,
 * and take the memory that arena.h says. Method: networks with and without frozen layers, run over
 * the same records in a workspace with an arena and in one that keeps all values; sizes
 * by hand. */
#include "engine/nn/arena.h"

#include <string.h>

#include "engine/nn/workspace.h"
#include "tests/expect.h"
#include "tests/engine/gemm_fixture.h"
#include "tests/engine/nn/random_batch_fixture.h"
#include "tests/engine/nn/record_claims_fixture.h"

/* Three stretches; the second pass has fewer rows than the first, so that the arena
 * holds rows of the first. */
enum { COUNT = 100, FEWER = 37 };

#define IMAGE .features = 72, .input = {6, 6, 2}

#define ENCODER "e9,8i9y2,3l[q4d8|d8|d8]d8]l[d12ud8]lhd4td3"

static const struct batch_demand demands[] = {
    {.layers = "c16,3,1,1n4rm2,1c6,3,1,1lsfd20rd4", .trained = "10.*", IMAGE},
    {.layers = "c16,3,1,1n4rm2,1c6,3,1,1lsfd20rd4", .trained = "8.*", IMAGE},
    {.layers = "c16,3,1,1n4rm2,1c6,3,1,1lsfd20rd4", .trained = "5.*", IMAGE},
    {.layers = "c5,3,1,1pc7,3,1,1sa2,2fd4", .trained = "6.*", IMAGE},
    {.layers = "c8,3,1,1[n2rc8,3,1,1|c8,1]rfd4", .trained = "4.*", IMAGE},
    {.layers = "c8,3,1,1[c8,3,1,1rc8,3,1,1|c8,1]rfd4", .trained = "1.body.2.*", IMAGE},
    {.layers = "c8,3,1,1[[c8,3,1,1]rc8,3,1,1]tc4,1fd4", .trained = "3.*", IMAGE},
    {.layers = "c8,3,1,1o3uc3,1tfd4", .trained = "6.*", IMAGE},
    {.layers = "c8,3,1,1rzm2,2fd4", .trained = "5.*", IMAGE},
    {.layers = "wc12,1rfd4", .trained = "4.*", .features = 512, .input = {16, 16, 2}},
    {.layers = "d9Uo3d16n4[rd16|d16]td4", .trained = "7.*", .features = 33},
    {.layers = "d21sd21sd5", .trained = "4.*", .features = 19},
    /* padding behind 21 numbers, where 45 lay before, is read as part of the row */
    {.layers = "d45ud37ud21ud5", .trained = "6.*", .features = 19},
    /* frozen layers behind a trained one: masks and deviations are read on the way
     * back */
    {.layers = "c5,3,1,1c8,3,1,1o3n4rfd4", .trained = "1.*", IMAGE},
    /* values that the way back does not read: sums, what only biases are trained on,
     * what behind a norm is scaled */
    {.layers = ENCODER, .trained = "*", .features = 9},
    {.layers = ENCODER, .trained = "*.bias", .features = 9},
    {.layers = ENCODER, .trained = "4.*", .features = 9},
    {.layers = ENCODER, .trained = "6.body.2.bias", .features = 9},
    {.layers = "c8,3,1,1n2r[c8,3,1,1rc8,3,1,1|c8,1]sfd4", .trained = "*", IMAGE},
    {.layers = "c8,3,1,1n2r[c8,3,1,1rc8,3,1,1|c8,1]sfd4", .trained = "*.bias", IMAGE},
    {.layers = "d9rd16[td16]Ud4", .trained = "*", .features = 33},
};
enum { DEMANDS = sizeof demands / sizeof *demands };

/* The results of all passes over the first count rows. */
struct results {
    double *outputs, *losses, *norms, *spreads;
    float *sum, *frozen;
};

static size_t predictions(const struct batch *batch)
{
    return network_predictions(batch->network);
}

static void pass(struct batch *batch, size_t count, bool from_features)
{
    if (from_features) /* what the frozen nodes left */
        workspace_forward_rest(batch->workspace, batch->theta, count);
    else
        workspace_forward(batch->workspace, batch->theta, count);
    workspace_loss(batch->workspace);
    workspace_backward(batch->workspace, batch->theta);
    workspace_measure(batch->workspace, NULL);
}

static struct results results_of(struct batch *batch, size_t count)
{
    size_t width = network_frozen_width(batch->network);
    struct results results = {.outputs =
                                  calloc(count * predictions(batch), sizeof(double)),
                              .losses = calloc(count, sizeof(double)),
                              .norms = calloc(count, sizeof(double)),
                              .spreads = calloc(count, sizeof(double)),
                              .sum = calloc(batch->parameters, sizeof(float)),
                              .frozen = calloc(count * width + 1, sizeof(float))};
    workspace_predict(batch->workspace, results.outputs);
    memcpy(results.losses, workspace_losses(batch->workspace), count * sizeof(double));
    memcpy(results.norms, workspace_norms(batch->workspace), count * sizeof(double));
    memcpy(results.spreads, workspace_spreads(batch->workspace),
           count * sizeof(double));
    batch_sum(batch, (struct row_range){0, count}, results.sum);
    for (size_t i = 0; width > 0 && i < count; i++) {
        struct rows rows = workspace_frozen_rows(batch->workspace);
        memcpy(results.frozen + i * width, rows.data + i * rows.stride,
               width * sizeof(float));
    }
    return results;
}

static void expect_equal(const struct batch *batch, size_t count, struct results a,
                         struct results b)
{
    size_t width = network_frozen_width(batch->network);
    assert_memory_equal(a.outputs, b.outputs,
                        count * predictions(batch) * sizeof(double));
    assert_memory_equal(a.losses, b.losses, count * sizeof(double));
    assert_memory_equal(a.norms, b.norms, count * sizeof(double));
    assert_memory_equal(a.spreads, b.spreads, count * sizeof(double));
    assert_memory_equal(a.sum, b.sum, batch->parameters * sizeof(float));
    assert_memory_equal(a.frozen, b.frozen, count * width * sizeof(float));
    assert_true(a.norms[0] > 0);
    struct results both[] = {a, b};
    for (size_t k = 0; k < 2; k++) {
        free(both[k].outputs);
        free(both[k].losses);
        free(both[k].norms);
        free(both[k].spreads);
        free(both[k].sum);
        free(both[k].frozen);
    }
}

static struct batch made(const struct batch_demand *demand, bool keeps)
{
    struct batch batch;
    struct batch_demand whole = *demand;
    whole.count = COUNT;
    whole.form = -1;
    whole.loss = LOSS_SOFTMAX_CROSS_ENTROPY;
    batch_make(&batch, &whole);
    if (!keeps)
        return batch;
    workspace_destroy(batch.workspace);
    assert_int_equal(
        workspace_create_keeping(&batch.workspace, batch.network, batch.rows, NULL),
        ST_OK);
    workspace_drop(batch.workspace, (struct drop){batch.drop_key, batch.indices});
    return batch;
}

static void compare(const struct batch_demand *demand)
{
    static const size_t counts[] = {COUNT, FEWER, COUNT};
    struct batch own = made(demand, true), shared = made(demand, false);
    workspace_drop(own.workspace, (struct drop){own.drop_key, own.indices});
    workspace_drop(shared.workspace, (struct drop){shared.drop_key, shared.indices});
    for (size_t k = 0; k < 3; k++) {
        batch_place_all(&own);
        batch_place_all(&shared);
        pass(&own, counts[k], false);
        pass(&shared, counts[k], false);
        expect_equal(&own, counts[k], results_of(&own, counts[k]),
                     results_of(&shared, counts[k]));
    }
    if (network_frozen_width(own.network) > 0) {
        pass(&own, COUNT, true);
        pass(&shared, COUNT, true);
        expect_equal(&own, COUNT, results_of(&own, COUNT), results_of(&shared, COUNT));
    }
    batch_fini(&own);
    batch_fini(&shared);
}

static void an_arena_changes_no_bit(void **state)
{
    (void)state;
    for (size_t k = 0; gemm_choice_at(k) != NULL; k++) {
        product_chosen = gemm_choice_at(k);
        if (!gemm_choice_at(k)->available())
            continue;
        for (size_t d = 0; d < DEMANDS; d++)
            compare(&demands[d]);
    }
    product_chosen = NULL;
}

/* A refused record is erased where it has floats of its own: its row of an input that
 * shares memory may be another record's. */
static void a_refused_record_adds_nothing(void **state)
{
    (void)state;
    for (size_t d = 0; d < DEMANDS; d++) {
        struct batch batch = made(&demands[d], false);
        if (batch.model.layers[0].kind != &layer_embedding)
            expect_bad_record_alone(&batch, NAN, batch_pass);
        batch_fini(&batch);
    }
}

static void what_the_constant_layer_reads_is_kept(void **state)
{
    (void)state;
    const struct batch_demand demand = {
        .layers = "c8,3,1,1rzm2,2fd4", .trained = "5.*", IMAGE};
    struct batch own = made(&demand, true), shared = made(&demand, false);
    batch_place_all(&own);
    batch_place_all(&shared);
    workspace_forward_scaled(own.workspace, own.theta, COUNT);
    workspace_forward_scaled(shared.workspace, shared.theta, COUNT);
    struct rows a = workspace_scaled_rows(own.workspace),
                b = workspace_scaled_rows(shared.workspace);
    assert_memory_equal(a.data, b.data, COUNT * a.stride * sizeof(float));
    batch_fini(&own);
    batch_fini(&shared);
}

/* Two values that are needed at the same time overlap nowhere, and each demand has
 * values in the arena. */
static void values_of_one_time_have_places_of_their_own(void **state)
{
    (void)state;
    for (size_t d = 0; d < DEMANDS; d++) {
        struct batch batch = made(&demands[d], false);
        const struct network *network = batch.network;
        assert_true(network->arena_stride > 0);
        if (network_has_positions(network)) /* its passes run over 48 rows at a time */
            assert_true(workspace_size(network, batch.rows) <
                        workspace_keeping_size(network, batch.rows));
        for (size_t i = 0; i < network->node_count; i++) {
            const struct node *node = &network->nodes[i];
            const struct value *from = &network->values[node->from],
                               *to = &network->values[node->to];
            if (!from->passing || !to->passing || node->from == node->to ||
                to->shares == node->from)
                continue;
            assert_true(from->place + from->stride <= to->place ||
                        to->place + to->stride <= from->place);
        }
        batch_fini(&batch);
    }
}

/* A whole network without frozen layers has no arena, and every value keeps its
 * rows. */
static void without_frozen_layers_nothing_changes(void **state)
{
    struct batch batch;
    (void)state;
    batch_make(&batch, &(struct batch_demand){.layers = "c16,3,1,1n4rm2,1fd20rd4",
                                              .count = COUNT,
                                              .form = -1,
                                              IMAGE});
    size_t channels_last = 72 + 8; /* the record, turned */
    assert_int_equal(batch.network->arena_stride, 0 * channels_last);
    assert_int_equal(workspace_size(batch.network, 624),
                     workspace_keeping_size(batch.network, 624));
    batch_fini(&batch);
}

/* A ResNet18 at 224 x 224 whose head is trained keeps of each record 150,528 numbers and
 * 512 features in front of the head. At most two values of 112 x 112 x 64 are needed at
 * a time: behind the first convolution, what the norm normalises and what its scale
 * writes. */
static void a_frozen_resnet_takes_a_tenth_of_the_memory(void **state)
{
    enum { ROWS = 320, SIDE = 224, WIDEST = 112 * 112 * 64, CLASSES = 10 };
    struct model_spec model = {.preset = PRESET_RESNET18_GN,
                               .groups = 32,
                               .input = {SIDE, SIDE, 3},
                               .start.trainable = TRAINABLE_HEAD};
    struct network *network;
    (void)state;
    preset_expand(&model, CLASSES);
    assert_int_equal(network_create(&network, &model,
                                    (struct network_shape){SIDE * SIDE * 3, CLASSES},
                                    NULL),
                     ST_OK);
    assert_int_equal(network->arena_stride, 2 * WIDEST);
    size_t shared = workspace_size(network, ROWS),
           own = workspace_keeping_size(network, ROWS);
    /* the records, and the arena of 48 rows with its taps (56 x 56 x 64); scratch,
     * targets and norms take less than a hundredth */
    size_t floats = ROWS * (size_t)(SIDE * SIDE * 3 + 512 + 2 * 16) +
                    48 * (size_t)(2 * WIDEST + WIDEST / 4);
    printf("a frozen ResNet18 at 224 x 224, %d rows: %zu MiB, was %zu MiB\n", ROWS,
           shared >> 20, own >> 20);
    assert_in_range(shared, floats * 4, floats * 4 + floats / 25);
    assert_true(10 * shared < own);
    network_destroy(network);
    model_spec_fini(&model);
}

int main(int argc, char **argv)
{
    int result;
    (void)argc;
    if (!kernels_chosen(argv, &result))
        return result;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arena_changes_no_bit),
        cmocka_unit_test(a_refused_record_adds_nothing),
        cmocka_unit_test(what_the_constant_layer_reads_is_kept),
        cmocka_unit_test(values_of_one_time_have_places_of_their_own),
        cmocka_unit_test(without_frozen_layers_nothing_changes),
        cmocka_unit_test(a_frozen_resnet_takes_a_tenth_of_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
