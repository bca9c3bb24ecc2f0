/* Goal: cells of one unit are chosen by public numbers, exactly if the rows of a larger
 * cell take more than two gigabytes, and then a micro-batch takes at most one. Method:
 * models on both sides of the limit, whose sizes are known. */
#include "engine/dp/cell_size.h"

#include "engine/dp/micro_batch.h"
#include "engine/nn/layers/preset.h"
#include "engine/nn/layers/registry.h"
#include "engine/nn/workspace.h"
#include "tests/expect.h"

enum { CLASSES = 10, USUAL = 307 /* M of cells of 128 */ };

static struct network *resnet(uint32_t side, enum trainable_kind trainable)
{
    struct model_spec model = {.preset = PRESET_RESNET18_GN,
                               .groups = 32,
                               .input = {side, side, 3},
                               .start.trainable = trainable};
    struct network *network;
    preset_expand(&model, CLASSES);
    assert_int_equal(network_create(&network, &model,
                                    (struct network_shape){side * side * 3, CLASSES},
                                    NULL),
                     ST_OK);
    model_spec_fini(&model);
    return network;
}

static void a_resnet_has_single_cells_on_large_images(void **state)
{
    (void)state;
    struct network *large = resnet(224, TRAINABLE_ALL);
    assert_true(cell_size_is_one(large, USUAL));
    size_t rows = micro_batch_capacity(large, 1);
    size_t before = workspace_size(large, micro_batch_capacity(large, USUAL));
    printf("ResNet18 at 224 x 224: %zu MiB a thread for %zu rows, was %zu MiB\n",
           workspace_size(large, rows) >> 20, rows, before >> 20);
    assert_true(10 * workspace_size(large, rows) < before);
    network_destroy(large);

    struct network *head = resnet(224, TRAINABLE_HEAD); /* frozen layers take little */
    assert_false(cell_size_is_one(head, USUAL));
    network_destroy(head);
}

/* The most rows, of those in steps of 16, whose workspace is within the limit. */
static size_t rows_within(const struct network *network, size_t limit)
{
    size_t rows = 16;
    while (workspace_size(network, rows + 16) <= limit)
        rows += 16;
    return rows;
}

static void the_limit_is_two_gigabytes_of_the_largest_cell(void **state)
{
    (void)state;
    struct network *network = resnet(96, TRAINABLE_ALL);
    size_t rows = rows_within(network, (size_t)2 << 30);
    assert_in_range(rows, 32, 304); /* the limit lies between these cells */
    assert_false(cell_size_is_one(network, rows));
    assert_true(cell_size_is_one(network, rows + 1));
    network_destroy(network);
}

static void a_micro_batch_of_single_cells_takes_a_gigabyte_at_most(void **state)
{
    (void)state;
    struct network *network = resnet(96, TRAINABLE_ALL);
    size_t rows = rows_within(network, (size_t)1 << 30);
    assert_true(rows > 32);
    assert_int_equal(cell_size_rows(network, 624), rows);
    assert_int_equal(cell_size_rows(network, 32), 32);
    assert_int_equal(micro_batch_capacity(network, 1), rows);
    network_destroy(network);
}

/* A persons' cell has fewer persons, and as many rows. */
static void rows_count_and_not_units(void **state)
{
    (void)state;
    const struct layer_spec layers[] = {{.kind = &layer_conv2d,
                                         .out = 32,
                                         .kernel_height = 1,
                                         .kernel_width = 1,
                                         .stride = 1,
                                         .dilation = 1},
                                        {.kind = &layer_global_avg_pool},
                                        {.kind = &layer_dense, .out = CLASSES}};
    struct model_spec model = {.layer_count = 3,
                               .layers = (struct layer_spec *)(uintptr_t)layers,
                               .input = {128, 128, 1}};
    struct network *network;
    assert_int_equal(network_create_of_units(&network, &model,
                                             (struct network_shape){128 * 128, CLASSES},
                                             4, NULL),
                     ST_OK);
    size_t units = 1;
    while (workspace_size(network, (4 * units + 15) / 16 * 16) <= CELL_MEMORY_MAX)
        units++;
    assert_false(cell_size_is_one(network, units - 1));
    assert_true(cell_size_is_one(network, units));
    network_destroy(network);
}

/* A micro-batch of at least 16 rows, however much they take. */
static void the_smallest_micro_batch_has_one_step_of_rows(void **state)
{
    (void)state;
    const struct layer_spec layers[] = {{.kind = &layer_conv2d,
                                         .out = 512,
                                         .kernel_height = 1,
                                         .kernel_width = 1,
                                         .stride = 1,
                                         .dilation = 1},
                                        {.kind = &layer_global_avg_pool},
                                        {.kind = &layer_dense, .out = CLASSES}};
    struct model_spec model = {.layer_count = 3,
                               .layers = (struct layer_spec *)(uintptr_t)layers,
                               .input = {128, 128, 1}};
    struct network *network;
    assert_int_equal(network_create(&network, &model,
                                    (struct network_shape){128 * 128, CLASSES}, NULL),
                     ST_OK);
    assert_true(workspace_size(network, 16) > SINGLE_MEMORY_MAX / 2);
    assert_int_equal(cell_size_rows(network, 624), 16);
    network_destroy(network);
}

/* A dense layer of records would take a product of its own for each record. */
static void dense_layers_of_records_keep_their_cells(void **state)
{
    (void)state;
    struct layer_spec layer = {.kind = &layer_dense, .out = CLASSES};
    struct model_spec model = {.layer_count = 1, .layers = &layer};
    struct network *network;
    assert_int_equal(network_create(&network, &model,
                                    (struct network_shape){2000000, CLASSES}, NULL),
                     ST_OK);
    assert_true(workspace_size(network, USUAL / 16 * 16) > CELL_MEMORY_MAX);
    assert_false(cell_size_is_one(network, USUAL));
    network_destroy(network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_resnet_has_single_cells_on_large_images),
        cmocka_unit_test(the_limit_is_two_gigabytes_of_the_largest_cell),
        cmocka_unit_test(a_micro_batch_of_single_cells_takes_a_gigabyte_at_most),
        cmocka_unit_test(rows_count_and_not_units),
        cmocka_unit_test(the_smallest_micro_batch_has_one_step_of_rows),
        cmocka_unit_test(dense_layers_of_records_keep_their_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
