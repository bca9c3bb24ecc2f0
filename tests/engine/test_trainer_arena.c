/* Goal: a model whose first layers are frozen is the same file, bit for bit, whether or
 * not the values of these layers share memory. Method: runs under a fixed key of every
 * algorithm that takes a frozen layer, with workspaces as they are and with workspaces
 * that keep all values. */
#include "tests/expect.h"

#include "engine/nn/workspace.h"
#include "tests/engine/gemm_fixture.h"
#include "tests/engine/trainer_fixture.h"

static bool keeps_all;
static size_t made_with_arena;

enum status __real_workspace_create(struct workspace **out,
                                    const struct network *network, size_t rows,
                                    struct error *error);
enum status __wrap_workspace_create(struct workspace **out,
                                    const struct network *network, size_t rows,
                                    struct error *error);
enum status __wrap_workspace_create(struct workspace **out,
                                    const struct network *network, size_t rows,
                                    struct error *error)
{
    if (keeps_all)
        return workspace_create_keeping(out, network, rows, error);
    made_with_arena +=
        workspace_size(network, rows) != workspace_keeping_size(network, rows);
    return __real_workspace_create(out, network, rows, error);
}

static const struct layer_spec conv = {.kind = &layer_conv2d,
                                       .out = 3,
                                       .bias = true,
                                       .kernel_height = 5,
                                       .kernel_width = 1,
                                       .stride = 1,
                                       .dilation = 1};

/* Images whose convolutions, norms and pool are frozen. */
static void set_images(struct world *world)
{
    const struct layer_spec layers[] = {
        conv,
        {.kind = &layer_group_norm, .groups = 1, .epsilon = 1e-5},
        {.kind = &layer_sigmoid},
        {.kind = &layer_max_pool2d, .kernel_height = 3, .kernel_width = 1, .stride = 2},
        conv,
        {.kind = &layer_tanh},
        {.kind = &layer_flatten},
        {.kind = &layer_dense, .out = CLASSES, .bias = true}};
    set_layers(world, layers, sizeof layers / sizeof *layers,
               (struct model_input){FEATURES, 1, 1});
}

/* Vectors, for algorithms that take dense layers. */
static void set_vectors(struct world *world)
{
    const struct layer_spec dense = {.kind = &layer_dense, .out = 16, .bias = true};
    const struct layer_spec layers[] = {
        dense,
        {.kind = &layer_tanh},
        dense,
        {.kind = &layer_tanh},
        dense,
        {.kind = &layer_tanh},
        {.kind = &layer_dense, .out = CLASSES, .bias = true}};
    set_layers(world, layers, sizeof layers / sizeof *layers, (struct model_input){0});
}

static void compare(const char *algorithm, void (*set)(struct world *world))
{
    uint8_t shared[SHA256_SIZE], own[SHA256_SIZE];
    struct world *world = world_create(algorithm);
    bool is_private = world->spec.algorithm.algorithm->is_private;
    world->spec.noise_multiplier = is_private ? 2 : 0;
    world->spec.steps = 4;
    if (world->spec.algorithm.algorithm->full_batch)
        world->spec.batch_size = RECORDS;
    set(world);
    world->spec.model.start.trainable = TRAINABLE_HEAD;
    keeps_all = false;
    digest_of_run(world, 3, shared);
    keeps_all = true;
    digest_of_run(world, 2, own);
    assert_memory_equal(shared, own, SHA256_SIZE);
    world_destroy(world);
}

static void a_trained_model_is_the_same_file(void **state)
{
    (void)state;
    for (size_t k = 0; algorithms[k] != NULL; k++) {
        const struct algorithm *algorithm = algorithms[k];
        if (algorithm->uses_differences || algorithm->uses_histograms)
            continue; /* these take no frozen layers */
        made_with_arena = 0;
        if (!algorithm->reads_inputs) {
            compare(algorithm->name, set_images);
            assert_true(made_with_arena > 0);
        }
        compare(algorithm->name, set_vectors);
    }
}

int main(int argc, char **argv)
{
    int result;
    (void)argc;
    if (!kernels_chosen(argv, &result))
        return result;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trained_model_is_the_same_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
