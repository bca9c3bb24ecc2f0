/* Goal: rows, blocks and layers of a workspace do not influence each other; sums are
 * over the right rows, with any number of threads; and a workspace takes the memory
 * that workspace_size returns. Method: bits before and after; sizes by hand; limits on
 * memory. */
#include "tests/expect.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/engine/nn/random_batch_fixture.h"
#include "tests/engine/nn/dense_families_fixture.h"

static void a_weight_of_one_leaves_every_bit(void **state)
{
    struct batch batch;
    float weights[50];
    (void)state;

    dense_start(&batch, 2);
    batch_run(&batch);
    for (size_t i = 0; i < 50; i++)
        weights[i] = i == 7 ? 0.3F : 1.0F;
    struct factors of = workspace_factors(batch.workspace, 0);
    float *before = calloc(batch.rows * of.b_stride, sizeof *before);
    memcpy(before, of.b, batch.rows * of.b_stride * sizeof *before);
    workspace_scale(batch.workspace, weights);
    for (size_t i = 0; i < batch.rows; i++)
        for (size_t j = 0; j < of.b_stride; j++) {
            float was = before[i * of.b_stride + j], is = of.b[i * of.b_stride + j];
            float expected = i == 7 ? was * 0.3F : was;
            assert_memory_equal(&is, &expected, sizeof is);
        }
    free(before);
    batch_fini(&batch);
}

/* A record gives bit for bit the same results in a workspace of 64 rows, wherever the
 * last record is, as in one of 16 rows. */
static void records_are_the_same_in_a_smaller_workspace(void **state)
{
    (void)state;
    enum { BLOCK = 16, COUNT = 4 * BLOCK };
    struct batch whole, part;
    batch_init(&whole, "d48rD16rd2", LOSS_SOFTMAX_CROSS_ENTROPY, 33, COUNT);
    batch_init(&part, "d48rD16rd2", LOSS_SOFTMAX_CROSS_ENTROPY, 33, BLOCK);
    memcpy(part.theta, whole.theta, whole.parameters * sizeof *whole.theta);
    for (size_t count = 1; count <= COUNT; count += 7) {
        for (size_t i = 0; i < count; i++)
            batch_place(&whole, i, i);
        batch_pass(&whole, count);
        for (size_t first = 0; first < count; first += BLOCK) {
            size_t here = count - first < BLOCK ? count - first : BLOCK;
            memcpy(part.x, whole.x + first * whole.features,
                   BLOCK * part.features * sizeof *part.x);
            memcpy(part.classes, whole.classes + first, BLOCK * sizeof *part.classes);
            for (size_t i = 0; i < here; i++)
                batch_place(&part, i, i);
            batch_pass(&part, here);
            assert_memory_equal(workspace_norms(whole.workspace) + first,
                                workspace_norms(part.workspace),
                                BLOCK * sizeof(double));
            assert_memory_equal(workspace_losses(whole.workspace) + first,
                                workspace_losses(part.workspace),
                                BLOCK * sizeof(double));
            for (size_t l = 0; l < workspace_factor_count(part.workspace); l++) {
                struct factors a = workspace_factors(whole.workspace, l);
                struct factors b = workspace_factors(part.workspace, l);
                assert_memory_equal(a.a + first * a.a_stride, b.a,
                                    BLOCK * a.a_stride * sizeof(float));
                assert_memory_equal(a.b + first * a.b_stride, b.b,
                                    BLOCK * a.b_stride * sizeof(float));
            }
        }
    }
    batch_fini(&whole);
    batch_fini(&part);
}

static void rows_beyond_the_records_contribute_nothing(void **state)
{
    struct batch batch;
    (void)state;
    dense_start(&batch, 3);
    batch_run(&batch);
    for (size_t l = 0; l < workspace_factor_count(batch.workspace); l++) {
        struct factors of = workspace_factors(batch.workspace, l);
        for (size_t i = batch.count; i < batch.rows; i++)
            for (size_t j = 0; j < of.b_stride; j++)
                assert_true(of.b[i * of.b_stride + j] == 0.0F);
    }
    for (size_t i = batch.count; i < batch.rows; i++)
        assert_true(workspace_norms(batch.workspace)[i] == 0.0);
    batch_fini(&batch);
}

/* Values of earlier records in these rows are erased. */
static void rows_beyond_the_records_are_zeros(void **state)
{
    (void)state;
    enum { COUNT = 5, ROWS = 16 };
    struct batch batch;
    batch_init(&batch, "d48D16d2", LOSS_SOFTMAX_CROSS_ENTROPY, 33, ROWS);
    for (size_t i = 0; i < ROWS; i++)
        batch_place(&batch, i, i);
    batch_pass(&batch, ROWS);
    for (size_t i = 0; i < COUNT; i++)
        batch_place(&batch, i, i);
    batch_pass(&batch, COUNT);
    for (size_t l = 0; l < workspace_factor_count(batch.workspace); l++) {
        struct factors of = workspace_factors(batch.workspace, l);
        for (size_t j = COUNT * of.a_stride; j < ROWS * of.a_stride; j++)
            assert_true(of.a[j] == 0);
        for (size_t j = COUNT * of.b_stride; j < ROWS * of.b_stride; j++)
            assert_true(of.b[j] == 0);
    }
    batch_fini(&batch);
}

static void an_empty_range_sums_to_zero(void **state)
{
    struct batch batch;
    (void)state;
    dense_start(&batch, 2);
    float *sum = calloc(batch.parameters, sizeof *sum);
    batch_run(&batch);
    batch_sum(&batch, (struct row_range){7, 0}, sum);
    for (size_t j = 0; j < batch.parameters; j++)
        assert_true(sum[j] == 0.0F);
    batch_pass(&batch, 0);
    batch_sum(&batch, (struct row_range){0, 0}, sum);
    free(sum);
    batch_fini(&batch);
}

struct half { /* the tiles of a sum with even or odd index */
    struct batch *batch;
    size_t first;
    float *out;
};

static void *sum_half(void *argument)
{
    struct half *half = argument;
    const struct network *network = half->batch->network;
    struct row_range range = {0, half->batch->count};
    float *block = aligned_alloc(
        64, (network_tile_floats_max(network) * sizeof *block + 63) / 64 * 64);
    for (size_t t = half->first; t < network_tile_count(network); t += 2) {
        struct tile tile = network_tile(network, t);
        workspace_sum(half->batch->workspace, t, range, block);
        memcpy(half->out + tile.offset, block, tile.count * sizeof *block);
    }
    free(block);
    return NULL;
}

static void threads_do_not_matter(void **state)
{
    struct batch batch;
    pthread_t other;
    (void)state;
    batch_init(&batch, "d512rd700rd10", LOSS_SOFTMAX_CROSS_ENTROPY, 784, 48);
    batch_run(&batch);
    float *one = calloc(batch.parameters, sizeof *one);
    float *two = calloc(batch.parameters, sizeof *two);
    struct half halves[] = {{&batch, 0, two}, {&batch, 1, two}};
    batch_sum(&batch, (struct row_range){0, batch.count}, one);
    assert_true(network_tile_count(batch.network) > 6);
    assert_int_equal(pthread_create(&other, NULL, sum_half, &halves[1]), 0);
    sum_half(&halves[0]);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_memory_equal(one, two, batch.parameters * sizeof *one);
    free(one);
    free(two);
    batch_fini(&batch);
}

static void a_layer_is_scaled_by_itself(void **state)
{
    struct batch batch;
    (void)state;
    batch_init(&batch, "d17rd9td4", LOSS_SOFTMAX_CROSS_ENTROPY, 23, 40);
    batch_run(&batch);
    workspace_measure(batch.workspace, NULL);
    float weights[48];
    double before[3];
    for (size_t i = 0; i < 48; i++)
        weights[i] = 0.5F;
    for (size_t l = 0; l < 3; l++)
        before[l] = workspace_layer_norms(batch.workspace, l)[7];
    workspace_scale_layer(batch.workspace, 1, weights);
    workspace_measure(batch.workspace, NULL);
    for (size_t l = 0; l < 3; l++)
        assert_true(workspace_layer_norms(batch.workspace, l)[7] ==
                    before[l] * (l == 1 ? 0.5 : 1));
    batch_fini(&batch);
}

/* Below the normal range 2.6 units are rounded to 2 and not to 3: for a gradient of any
 * norm, applying two factors leaves at most what their product leaves. */
static void two_factors_are_at_most_their_product(void **state)
{
    (void)state;
    enum { FIRST, SECOND, BOTH, FACTORS };
    static const float factors[FACTORS] = {0x1.8p-75F, 0x1.cp-74F, 0x1p-148F};
    for (int form = NORM_GRAM; form <= NORM_PER_EXAMPLE; form++) {
        struct batch batch;
        float weights[FACTORS][16], *sums[2];
        batch_make(&batch, &(struct batch_demand){.layers = "c3,3,1,1fd1",
                                                  .loss = LOSS_SQUARED,
                                                  .features = 64,
                                                  .count = 16,
                                                  .input = {8, 8, 1},
                                                  .form = form});
        for (size_t f = 0; f < FACTORS; f++)
            for (size_t i = 0; i < 16; i++)
                weights[f][i] = factors[f];
        for (size_t k = 0; k < 2; k++) {
            sums[k] = calloc(batch.parameters, sizeof *sums[k]);
            batch_run(&batch);
            workspace_scale_layer(batch.workspace, 0, weights[k == 0 ? FIRST : BOTH]);
            if (k == 0)
                workspace_scale_layer(batch.workspace, 0, weights[SECOND]);
            batch_sum(&batch, (struct row_range){0, 16}, sums[k]);
        }
        struct tile first = network_tile(batch.network, 0);
        float most = 0;
        for (size_t j = 0; j < first.count; j++)
            most = fmaxf(most, fabsf(sums[0][j]));
        assert_true(most > 0x1p-147F);
        assert_memory_equal(sums[0], sums[1], first.count * sizeof *sums[0]);
        free(sums[0]);
        free(sums[1]);
        batch_fini(&batch);
    }
}

static double *input_squares(struct batch *batch)
{
    size_t stride = workspace_stride(batch->workspace);
    double *squares = calloc(batch->rows, sizeof *squares);
    for (size_t i = 0; i < batch->count; i++)
        squares[i] =
            floats_square(workspace_input(batch->workspace) + i * stride, stride);
    return squares;
}

/* Norms from squares computed before forward equal those computed after it. A layer
 * that reads the records uses the given squares; a layer that reads the output of an
 * activation, a dropout or a fork does not. */
static void squares_of_records_may_be_known(void **state)
{
    static const char *const models[] = {"d17rd9td4", "d4",           "td9rd4",  "pd5",
                                         "o4d9rd4",   "[d23|d23]td4", "[td23]d4"};
    (void)state;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        struct batch batch;
        batch_init(&batch, models[m], LOSS_SOFTMAX_CROSS_ENTROPY, 23, 40);
        batch_place_all(&batch);
        double *squares = input_squares(&batch), norms[48];
        batch_pass(&batch, batch.count);
        memcpy(norms, workspace_norms(batch.workspace), batch.count * sizeof *norms);
        workspace_measure(batch.workspace, squares);
        for (size_t i = 0; i < batch.count; i++)
            assert_close(workspace_norms(batch.workspace)[i], norms[i], 1e-14);
        free(squares);
        batch_fini(&batch);
    }
}

static void a_known_square_is_not_taken_again(void **state)
{
    struct batch batch;
    (void)state;
    batch_init(&batch, "D4", LOSS_SOFTMAX_CROSS_ENTROPY, 23, 40);
    batch_place_all(&batch);
    double *squares = input_squares(&batch);
    batch_pass(&batch, batch.count);
    double before = workspace_norms(batch.workspace)[7];
    squares[7] *= 4;
    squares[8] = (double)INFINITY;
    workspace_measure(batch.workspace, squares);
    assert_close(workspace_norms(batch.workspace)[7], 2 * before, 1e-14);
    assert_true(workspace_norms(batch.workspace)[8] == 0); /* refused */
    free(squares);
    batch_fini(&batch);
}

static void memory_is_what_was_said(void **state)
{
    struct batch batch;
    (void)state;
    batch_init(&batch, "d128rd10", LOSS_SOFTMAX_CROSS_ENTROPY, 784, 256);
    /* floats: input, hidden twice, outputs twice */
    size_t floats = 256 * (784 + 2 * 128 + 2 * 16);
    size_t size = workspace_size(batch.network, 256);
    /* targets, loss, norms and scratch per row; two norms per row and layer */
    assert_in_range(size, floats * 4, floats * 4 + 256 * (64 + 2 * 16) + 1024);
    assert_int_equal(workspace_rows(batch.workspace), 256);
    assert_int_equal((uintptr_t)workspace_input(batch.workspace) % 64, 0);
    for (size_t l = 0; l < 2; l++) {
        struct factors of = workspace_factors(batch.workspace, l);
        assert_int_equal((uintptr_t)of.a % 64 + (uintptr_t)of.b % 64, 0);
        assert_int_equal(of.a_stride % 16 + of.b_stride % 16, 0);
    }
    batch_fini(&batch);
}

/* A norm takes its normalised values in place, its deviations and its per-example
 * gradients; a dropout takes its mask; the two outputs of a fork take only
 * gradients. */
static void memory_of_blocks_is_what_was_said(void **state)
{
    static const struct {
        const char *layers;
        size_t floats; /* per row */
    } cases[] = {
        {"d32d16", 784 + 2 * 32 + 2 * 16},
        {"d32n4d16", 784 + 2 * 32 + 16 + 2 * 32 + 64 + 1 + 2 * 16},
        {"d32n4rd16", 784 + 2 * 32 + 16 + 2 * 32 + 64 + 1 + 2 * 16},
        {"d32ud16", 784 + 2 * 32 + 2 * 32 + 2 * 16},
        {"d32o2d16", 784 + 2 * 32 + 2 * 32 + 32 + 2 * 16},
        {"d32[d32]d16", 784 + 2 * 32 + 32 + 32 + 2 * 32 + 2 * 32 + 2 * 16},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct batch batch;
        batch_init(&batch, cases[k].layers, LOSS_SOFTMAX_CROSS_ENTROPY, 784, 256);
        size_t floats = 256 * cases[k].floats;
        size_t layers = network_layers(batch.network);
        size_t size = workspace_size(batch.network, 256);
        assert_in_range(size, floats * 4, floats * 4 + 256 * (48 + 16 * layers) + 3072);
        batch_fini(&batch);
    }
}

static void buffers_that_cannot_be_had_are_refused(void **state)
{
    struct model_spec model = {.loss = LOSS_SQUARED};
    struct network_shape shape = {60000000, 1};
    struct network *network = NULL;
    struct workspace *workspace = NULL;
    struct error error = {0};
    struct rlimit before, small;
    (void)state;
    if (SANITIZED)
        skip_because("a sanitizer's allocator aborts");
    batch_layers(&model, "d1");
    assert_int_equal(network_create(&network, &model, shape, NULL), ST_OK);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    small = before;
    small.rlim_cur = 1 << 30;
    assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
    enum status status = workspace_create(&workspace, network, 16, &error);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(status, ST_NO_MEMORY);
    assert_int_equal(error.status, ST_NO_MEMORY);
    assert_null(workspace);
    network_destroy(network);
    workspace_destroy(NULL);
    model_spec_fini(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_weight_of_one_leaves_every_bit),
        cmocka_unit_test(records_are_the_same_in_a_smaller_workspace),
        cmocka_unit_test(rows_beyond_the_records_contribute_nothing),
        cmocka_unit_test(rows_beyond_the_records_are_zeros),
        cmocka_unit_test(an_empty_range_sums_to_zero),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(a_layer_is_scaled_by_itself),
        cmocka_unit_test(two_factors_are_at_most_their_product),
        cmocka_unit_test(squares_of_records_may_be_known),
        cmocka_unit_test(a_known_square_is_not_taken_again),
        cmocka_unit_test(memory_is_what_was_said),
        cmocka_unit_test(memory_of_blocks_is_what_was_said),
        cmocka_unit_test(buffers_that_cannot_be_had_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
