/* Goal: a record only ever stands in rows that round alike. Method: classes found in
 * the BLAS at hand, each kernel in turn, against products on fresh data; placement
 * under made up classes, as the AVX2 kernels have them. */
#include "engine/rounding/row_class.h"

#include <string.h>

#include "engine/rounding/blas.h"
#include "engine/difference/difference.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/workspace.h"
#include "tests/expect.h"
#include "tests/engine/product_fixture.h"
#include "tests/engine/small_network_fixture.h"

/* Six rows of one kind, six of the other (noise.md 2.5). */
static struct row_classes halves(size_t block)
{
    struct row_classes rows = {.block = block, .count = 2, .safe = true, .period = 12};
    for (size_t r = 0; r < 12; r++)
        rows.of[r] = r >= 6;
    return rows;
}

/* Everything stored of the first count rows, compared with the first row of a class. */
static void check_factors(const struct row_classes *rows,
                          const struct workspace *workspace, size_t count)
{
    for (size_t l = 0; l < workspace_factor_count(workspace); l++) {
        struct factors f = workspace_factors(workspace, l);
        for (size_t r = 0; r < count; r++) {
            size_t first = 0; /* of r's class */
            while (rows->of[first % rows->period] != rows->of[r % rows->period])
                first++;
            assert_memory_equal(f.a + r * f.a_stride, f.a + first * f.a_stride,
                                f.inputs * sizeof(float));
            assert_memory_equal(f.b + r * f.b_stride, f.b + first * f.b_stride,
                                f.outputs * sizeof(float));
        }
    }
}

/* One record, other than those the finder tried, in every row at other weights. */
static void fill_rows(struct workspace *workspace, size_t features, size_t count,
                      int draw)
{
    for (size_t r = 0; r < count; r++) {
        float *row = workspace_input(workspace) + r * workspace_stride(workspace);
        for (size_t j = 0; j < features; j++)
            row[j] = (float)sin((double)(j * j) * 0.7 + draw);
    }
}

static void check_rows(const struct row_classes *rows, const struct network *network,
                       int draw)
{
    struct workspace *workspace;
    size_t count = 3 * rows->block;
    float *parameters = calloc(network_parameters(network), sizeof *parameters);
    assert_int_equal(workspace_create(&workspace, network, count, NULL), ST_OK);
    workspace_set_block(workspace, rows->block);
    network_init(network, parameters, 77 + (uint64_t)draw);
    fill_rows(workspace, network_shape(network).features, count, draw);
    workspace_forward(workspace, parameters, count);
    workspace_loss(workspace);
    workspace_backward(workspace, parameters);
    workspace_measure(workspace, NULL);
    check_factors(rows, workspace, count);
    workspace_destroy(workspace);
    free(parameters);
}

static void check_rows_at_two_points(const struct row_classes *rows,
                                     const struct network *network, int draw)
{
    struct workspace *workspace;
    struct parameter_step *step;
    size_t count = 3 * rows->block, size = network_parameters(network);
    float *parameters = calloc(2 * size, sizeof *parameters);
    assert_int_equal(workspace_create_two_points(&workspace, network, count, NULL),
                     ST_OK);
    assert_int_equal(parameter_step_create(&step, size, NULL), ST_OK);
    workspace_set_block(workspace, rows->block);
    network_init(network, parameters, 77 + (uint64_t)draw);
    for (size_t j = 0; j < size; j++)
        parameters[size + j] = parameters[j] + 1e-3F * (float)sin((double)j);
    parameter_step_set(step, parameters, parameters + size);
    fill_rows(workspace, network_shape(network).features, count, draw);
    workspace_difference(workspace, step, count);
    workspace_measure(workspace, NULL);
    check_factors(rows, workspace, count);
    parameter_step_destroy(step);
    workspace_destroy(workspace);
    free(parameters);
}

static void expect_alike(const struct network *network, size_t block, int draws)
{
    struct row_classes rows;
    assert_int_equal(
        row_classes_find(&rows, network, (struct row_demand){block, false}, NULL),
        ST_OK);
    assert_true(rows.safe);
    assert_true(rows.block >= block && rows.block % 16 == 0);
    for (int draw = 0; draw < draws; draw++)
        check_rows(&rows, network, draw);
}

static void expect_alike_at_two_points(const struct network *network, size_t block)
{
    struct row_classes rows;
    assert_int_equal(
        row_classes_find(&rows, network, (struct row_demand){block, true}, NULL),
        ST_OK);
    assert_true(rows.safe);
    for (int draw = 0; draw < 3; draw++) {
        check_rows(&rows, network, draw);
        check_rows_at_two_points(&rows, network, draw);
    }
}

static void rows_of_a_class_round_alike(void **state)
{
    (void)state;
    static const uint32_t shapes[][3] = {
        {784, 128, 10}, {123, 40, 2}, {64, 33, 10}, {31, 300, 3}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        struct network *network =
            small_network_dense(shapes[k][0], shapes[k][1], shapes[k][2]);
        for (size_t block = 16; block <= 128; block *= 2)
            expect_alike(network, block, 6);
        network_destroy(network);
    }
}

static void rows_of_a_class_round_alike_at_two_points(void **state)
{
    (void)state;
    static const uint32_t shapes[][3] = {{784, 128, 10}, {123, 40, 2}, {31, 300, 3}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        struct network *network =
            small_network_dense(shapes[k][0], shapes[k][1], shapes[k][2]);
        for (size_t block = 16; block <= 128; block *= 2)
            expect_alike_at_two_points(network, block);
        network_destroy(network);
    }
}

/* Convolutions that store per-example gradients, and both pools. */
static struct network *image_network(void)
{
    struct layer_spec conv = small_network_conv(6, true);
    struct layer_spec pool = {
        .kind = &layer_max_pool2d, .kernel_height = 2, .kernel_width = 2, .stride = 2};
    struct layer_spec layers[] = {conv,
                                  {.kind = &layer_relu},
                                  pool,
                                  conv,
                                  {.kind = &layer_tanh},
                                  pool,
                                  {.kind = &layer_flatten},
                                  {.kind = &layer_dense, .out = 16, .bias = true},
                                  {.kind = &layer_relu},
                                  {.kind = &layer_dense, .out = 10, .bias = true}};
    layers[5].kind = &layer_avg_pool2d;
    struct model_spec model = {.layer_count = sizeof layers / sizeof *layers,
                               .layers = layers,
                               .input = {9, 9, 1},
                               .loss = LOSS_SOFTMAX_CROSS_ENTROPY};
    struct network *network;
    assert_int_equal(
        network_create(&network, &model, (struct network_shape){81, 10}, NULL), ST_OK);
    assert_int_equal(network_check_differences(network, NULL), ST_OK);
    return network;
}

static void rows_of_images_round_alike_at_two_points(void **state)
{
    (void)state;
    struct network *network = image_network();
    for (size_t block = 16; block <= 64; block *= 2)
        expect_alike_at_two_points(network, block);
    network_destroy(network);
}

static void rows_of_a_residual_network_round_alike(void **state)
{
    (void)state;
    const struct small_residual sizes = {9, 24, 4, false, 0.25, &layer_global_avg_pool};
    struct network *network = small_network_residual(&sizes);
    for (size_t block = 16; block <= 64; block *= 2)
        expect_alike(network, block, 3);
    network_destroy(network);
}

static void rows_of_layer_norms_round_alike(void **state)
{
    struct layer_spec norm = {.kind = &layer_layer_norm, .epsilon = 1e-5};
    struct layer_spec layers[] = {{.kind = &layer_dense, .out = 40, .bias = true},
                                  norm,
                                  {.kind = &layer_gelu},
                                  {.kind = &layer_residual, .body = 2},
                                  norm,
                                  {.kind = &layer_dense, .out = 40, .bias = true},
                                  {.kind = &layer_dense, .out = 10, .bias = true}};
    struct model_spec model = {.layer_count = sizeof layers / sizeof *layers,
                               .layers = layers,
                               .loss = LOSS_SOFTMAX_CROSS_ENTROPY};
    struct network *network;
    (void)state;
    assert_int_equal(
        network_create(&network, &model, (struct network_shape){37, 10}, NULL), ST_OK);
    for (size_t block = 16; block <= 64; block *= 2)
        expect_alike(network, block, 3);
    network_destroy(network);
}

/* A convolution over whole images: as many channels as a dense layer has outputs, but
 * multiplied by the BLAS. */
static struct network *whole_image_network(void)
{
    struct layer_spec conv = {.kind = &layer_conv2d,
                              .out = 128,
                              .bias = true,
                              .kernel_height = 28,
                              .kernel_width = 28,
                              .stride = 1,
                              .dilation = 1};
    struct layer_spec layers[] = {conv,
                                  {.kind = &layer_relu},
                                  {.kind = &layer_flatten},
                                  {.kind = &layer_dense, .out = 10, .bias = true}};
    struct model_spec model = {.layer_count = sizeof layers / sizeof *layers,
                               .layers = layers,
                               .input = {28, 28, 1},
                               .loss = LOSS_SOFTMAX_CROSS_ENTROPY};
    struct network *network;
    assert_int_equal(
        network_create(&network, &model, (struct network_shape){784, 10}, NULL), ST_OK);
    return network;
}

static void each_kernel_has_the_classes_known_of_it(void **state)
{
    (void)state;
    const struct row_demand demand = {128, false};
    struct network *image = whole_image_network(),
                   *dense = small_network_dense(784, 128, 10);
    struct row_classes rows;
    assert_int_equal(row_classes_find(&rows, dense, demand, NULL), ST_OK);
    assert_true(rows.safe && rows.count == 1 && rows.block == 128);
    assert_int_equal(row_classes_find(&rows, image, demand, NULL), ST_OK);
    if (strcmp(blas_kernel(), "SkylakeX") == 0) {
        assert_int_equal(rows.count, 1);
        assert_int_equal(rows.block, 128);
    } else if (strcmp(blas_kernel(), "Haswell") == 0) {
        assert_int_equal(rows.count, 2);
        assert_int_equal(rows.block, 144);
        assert_int_equal(rows.period, 12);
        assert_memory_equal(rows.of, halves(144).of, 12);
    }
    network_destroy(dense);
    network_destroy(image);
}

static void records_stand_in_rows_of_their_class(void **state)
{
    (void)state;
    const struct row_classes rows = halves(48);
    uint32_t indices[200], places[200];
    bool taken[600] = {false};
    for (uint32_t k = 0; k < 200; k++)
        indices[k] = 17 * k + 3;
    struct cell_rows cell = row_classes_place(&rows, 25, indices, 200, places);
    assert_int_equal(cell.first, 36); /* the next multiple of the period */
    assert_true(cell.end - cell.first <= row_classes_reach(&rows, 200));
    for (uint32_t k = 0; k < 200; k++) {
        assert_in_range(places[k], cell.first, cell.end - 1);
        assert_false(taken[places[k]]);
        taken[places[k]] = true;
        assert_int_equal(rows.of[places[k] % 12],
                         row_classes_of_record(&rows, indices[k]));
    }
}

static void a_cells_arrangement_is_its_own(void **state)
{
    (void)state;
    const struct row_classes rows = halves(48);
    uint32_t indices[90], here[90], there[90];
    for (uint32_t k = 0; k < 90; k++)
        indices[k] = 1000 + 7 * k;
    struct cell_rows a = row_classes_place(&rows, 1, indices, 90, here);
    struct cell_rows b = row_classes_place(&rows, 131, indices, 90, there);
    assert_int_equal(a.end - a.first, b.end - b.first);
    for (int k = 0; k < 90; k++)
        assert_int_equal(here[k] - a.first, there[k] - b.first);
}

static void alike_rows_are_filled_one_after_the_other(void **state)
{
    (void)state;
    const struct row_classes rows = row_classes_alike(16);
    const uint32_t indices[] = {4, 9, 11};
    uint32_t places[3];
    struct cell_rows cell = row_classes_place(&rows, 5, indices, 3, places);
    assert_int_equal(cell.first, 5);
    assert_int_equal(cell.end, 8);
    for (uint32_t k = 0; k < 3; k++)
        assert_int_equal(places[k], 5 + k);
    assert_int_equal(row_classes_reach(&rows, 307), 307);
    cell = row_classes_place(&rows, 5, indices, 0, places);
    assert_int_equal(cell.end, cell.first);
}

static void records_fall_into_classes_by_their_size(void **state)
{
    (void)state;
    enum { RECORDS = 100000 };
    struct row_classes rows = halves(48);
    double first = 0;
    rows.of[5] = 1; /* five rows of twelve */
    for (uint64_t i = 0; i < RECORDS; i++)
        first += row_classes_of_record(&rows, i) == 0;
    double p = 5.0 / 12;
    assert_true(fabs(first - RECORDS * p) < 4.8916 * sqrt(RECORDS * p * (1 - p)));
}

static void the_reach_holds_when_all_fall_into_one_class(void **state)
{
    (void)state;
    struct row_classes rows = halves(48);
    uint32_t indices[100], places[100], count = 0;
    for (uint32_t i = 0; count < 100; i++)
        if (row_classes_of_record(&rows, i) == 1)
            indices[count++] = i;
    struct cell_rows cell = row_classes_place(&rows, 0, indices, 100, places);
    assert_int_equal(cell.end, 100 / 6 * 12 + 6 + 4);
    assert_true(cell.end <= row_classes_reach(&rows, 100));
    struct network *image = image_network(), *dense = small_network_dense(31, 8, 3);
    struct row_classes most = row_classes_most(image, 128);
    assert_int_equal(most.block, 144);
    assert_true(row_classes_reach(&most, 307) >= row_classes_reach(&rows, 307));
    most = row_classes_most(dense, 16);
    assert_true(most.block == 16 && row_classes_reach(&most, 307) == 307);
    network_destroy(image);
    network_destroy(dense);
}

int main(int argc, char **argv)
{
    int result;
    (void)argc;
    if (!kernels_chosen(argv, &result))
        return result;
    blas_use_one_thread();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_a_class_round_alike),
        cmocka_unit_test(rows_of_a_class_round_alike_at_two_points),
        cmocka_unit_test(rows_of_images_round_alike_at_two_points),
        cmocka_unit_test(rows_of_a_residual_network_round_alike),
        cmocka_unit_test(rows_of_layer_norms_round_alike),
        cmocka_unit_test(each_kernel_has_the_classes_known_of_it),
        cmocka_unit_test(records_stand_in_rows_of_their_class),
        cmocka_unit_test(a_cells_arrangement_is_its_own),
        cmocka_unit_test(alike_rows_are_filled_one_after_the_other),
        cmocka_unit_test(records_fall_into_classes_by_their_size),
        cmocka_unit_test(the_reach_holds_when_all_fall_into_one_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
