/* Goal: how many rows a product takes changes no bit of a row. Method: the rule's own
 * arithmetic; what it says of each kernel at hand against what is known of them; records
 * in micro-batches of many lengths, each bit for bit what it is alone. */
#include "engine/rounding/height_agreement.h"

#include <string.h>

#include "engine/rounding/blas.h"
#include "engine/nn/workspace.h"
#include "engine/nn/layers/preset.h"
#include "engine/nn/layers/registry.h"
#include "tests/expect.h"
#include "tests/engine/kernels_fixture.h"
#include "tests/engine/small_network_fixture.h"
#include "tests/engine/nn/random_batch_fixture.h"
#include "tests/engine/nn/point_pair_fixture.h"
#include "tests/engine/nn/record_claims_fixture.h"

static const uint8_t one_class[1],
    two_classes[12] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
static const struct row_pattern alike = {1, one_class}, halves = {12, two_classes};

static struct row_layer layer_of(size_t inputs, size_t outputs)
{
    return (struct row_layer){.inputs = inputs, .outputs = outputs};
}

static void products_take_all_rows_in_few_alike_steps(void **state)
{
    (void)state;
    const struct heights heights = {16, 576};
    const struct row_layer wide = layer_of(1024, 1024);
    for (size_t rows = 16; rows <= 1600; rows += 16) {
        size_t products = 0, done = 0, least = SIZE_MAX, most = 0;
        while (done < rows) {
            size_t height = heights_forward(heights, &wide, rows - done);
            assert_true(height > 0 && height % 16 == 0 && height <= 576);
            least = height < least ? height : least;
            most = height > most ? height : most;
            done += height;
            products++;
        }
        assert_int_equal(done, rows);
        assert_int_equal(products, (rows + 575) / 576);
        assert_true(most - least <= 32);
    }
    assert_int_equal(heights_forward((struct heights){96, 96}, &wide, 480), 96);
}

/* The kernels that pack nothing take 127 rows of a layer 784-10 by volume and 120 by
 * outputs; 12 rows of 300-100 forward, fewer than a block, and 33 backward. */
static void a_layers_products_stay_on_one_side_of_the_small_kernels(void **state)
{
    (void)state;
    const struct heights heights = {16, 576};
    const struct row_layer last = layer_of(784, 10), middle = layer_of(300, 100);
    size_t forward = 0, backward = 0;
    for (size_t left = 16; left <= 576; left += 16) {
        assert_true(heights_forward(heights, &last, left) <= 112);
        assert_int_equal(heights_forward(heights, &middle, left), left);
        assert_true(heights_backward(heights, &middle, left) <= 32);
        size_t height = heights_forward(heights, &last, left);
        forward = height > forward ? height : forward;
        height = heights_backward(heights, &middle, left);
        backward = height > backward ? height : backward;
    }
    assert_int_equal(forward, 112);
    assert_int_equal(backward, 32);
}

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

static bool agrees(const struct network *network, struct heights heights,
                   struct row_pattern pattern)
{
    bool agree = false;
    assert_int_equal(heights_agree(&agree, network, heights, pattern, NULL), ST_OK);
    return agree;
}

static const uint32_t shapes[][4] = {
    {784, 128, 33, 10}, {784, 10, 10, 10}, {300, 100, 250, 7}, {123, 40, 300, 2}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* On images too, where the convolutions are left out: an mlp behind one that is 16 wide. */
static struct network *dense_behind_images(uint32_t outputs)
{
    struct layer_spec conv = small_network_conv(6, true);
    struct layer_spec layers[] = {conv,
                                  {.kind = &layer_relu},
                                  {.kind = &layer_flatten},
                                  {.kind = &layer_dense, .out = outputs, .bias = true},
                                  {.kind = &layer_tanh},
                                  {.kind = &layer_dense, .out = 4, .bias = true}};
    struct model_spec model = {.input = {12, 12, 1},
                               .layer_count = 6,
                               .layers = layers,
                               .loss = LOSS_SOFTMAX_CROSS_ENTROPY};
    struct network *network;
    assert_int_equal(
        network_create(&network, &model, (struct network_shape){144, 4}, NULL), ST_OK);
    return network;
}

static bool dense_agrees(const struct network *network, struct row_pattern pattern)
{
    bool agree = false;
    assert_int_equal(dense_rows_agree(&agree, network, 48, pattern, NULL), ST_OK);
    return agree;
}

static void dense_layers_are_compared_by_themselves(void **state)
{
    (void)state;
    bool by_place = strcmp(blas_kernel(), "Haswell") == 0;
    struct network *networks[] = {network_of(shapes[0]), dense_behind_images(128),
                                  dense_behind_images(4)};
    for (size_t k = 0; k < 3; k++) {
        bool wide = k < 2; /* four columns round alike everywhere */
        if (by_place || strcmp(blas_kernel(), "SkylakeX") == 0)
            assert_int_equal(dense_agrees(networks[k], alike), !(by_place && wide));
        if (by_place)
            assert_true(dense_agrees(networks[k], halves));
        network_destroy(networks[k]);
    }
}

static void each_kernel_agrees_where_it_is_known_to(void **state)
{
    (void)state;
    for (size_t k = 0; k < SHAPES; k++) {
        struct network *network = network_of(shapes[k]);
        if (strcmp(blas_kernel(), "SkylakeX") == 0) {
            assert_true(agrees(network, (struct heights){16, 288}, alike));
        } else if (strcmp(blas_kernel(), "Haswell") == 0) {
            assert_true(agrees(network, (struct heights){48, 288}, halves));
            /* Ten columns round alike everywhere, wide layers do not. */
            assert_true(k != 0 || !agrees(network, (struct heights){48, 288}, alike));
        }
        network_destroy(network);
    }
}

static void a_network_on_images_keeps_to_its_blocks(void **state)
{
    (void)state;
    struct model_spec model = {.preset = PRESET_CNN_MNIST,
                               .input = {28, 28, 1},
                               .loss = LOSS_SOFTMAX_CROSS_ENTROPY};
    struct network *network;
    preset_expand(&model, 10);
    assert_int_equal(
        network_create(&network, &model, (struct network_shape){784, 10}, NULL), ST_OK);
    assert_false(heights_may_differ(network));
    assert_false(agrees(network, (struct heights){16, 96}, alike));
    network_destroy(network);
    model_spec_fini(&model);
}

/* ---- records among others ---- */

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

/* A record in a row of its class is what it is in a micro-batch of one block. */
static void a_record_is_the_same_in_micro_batches_of_any_length(void **state)
{
    (void)state;
    enum { ROWS = 624 };
    bool apart = strcmp(blas_kernel(), "SkylakeX") != 0;
    const struct heights heights = {apart ? 48 : 16, 576};
    for (size_t k = 0; k < SHAPES; k++) {
        struct network *network = network_of(shapes[k]);
        float *parameters = calloc(network_parameters(network), sizeof *parameters);
        struct workspace *many, *one;
        assert_int_equal(workspace_create(&many, network, ROWS, NULL), ST_OK);
        assert_int_equal(workspace_create(&one, network, 48, NULL), ST_OK);
        workspace_set_heights(many, heights);
        workspace_set_heights(one, (struct heights){heights.block, 48});
        network_init(network, parameters, 9);
        for (size_t count = 5; count <= ROWS; count += 103) {
            for (size_t row = 0; row < count; row++)
                put(many, shapes[k][0], row, (int)row);
            pass(many, parameters, count);
            for (size_t row = 0; row < count; row += 41) {
                size_t alone = apart ? row % 12 : 0;
                put(one, shapes[k][0], alone, (int)row);
                pass(one, parameters, alone + 1);
                assert_same_record(many, row, one, alone);
            }
        }
        workspace_destroy(one);
        workspace_destroy(many);
        free(parameters);
        network_destroy(network);
    }
}

/* Products of 48 to 288 rows over two points, where each row's bits are its own at every
 * height. */
static void no_height_changes_a_bit_of_a_difference(void **state)
{
    static const struct family family = {
        "d64td40rd10", LOSS_SOFTMAX_CROSS_ENTROPY, 200, 288, {0}};
    const struct heights heights = {48, 288};
    uint8_t own[48];
    struct row_pattern pattern = {48, own};
    struct pair pair;
    bool agree;
    (void)state;
    for (size_t r = 0; r < 48; r++)
        own[r] = (uint8_t)r;
    pair_start(&pair, &family, 1e-3);
    struct batch *batch = &pair.batch;
    assert_int_equal(heights_agree(&agree, batch->network, heights, pattern, NULL),
                     ST_OK);
    if (!agree) /* products of this BLAS are taken at one height alone */
        skip();
    workspace_set_heights(batch->workspace, heights);
    for (size_t count = 16; count <= batch->count; count += 68) {
        pair_run(&pair);
        struct mark among_all = mark_of(batch, count - 1);
        for (size_t i = 0; i < count; i++)
            batch_place(batch, i, i);
        pair_pass(batch, count);
        expect_alike(batch, among_all, mark_of(batch, count - 1));
    }
    pair_finish(&pair);
}

int main(int argc, char **argv)
{
    int result;
    (void)argc;
    if (!kernels_chosen(argv, &result))
        return result;
    blas_use_one_thread();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_take_all_rows_in_few_alike_steps),
        cmocka_unit_test(a_layers_products_stay_on_one_side_of_the_small_kernels),
        cmocka_unit_test(each_kernel_agrees_where_it_is_known_to),
        cmocka_unit_test(dense_layers_are_compared_by_themselves),
        cmocka_unit_test(a_network_on_images_keeps_to_its_blocks),
        cmocka_unit_test(a_record_is_the_same_in_micro_batches_of_any_length),
        cmocka_unit_test(no_height_changes_a_bit_of_a_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
