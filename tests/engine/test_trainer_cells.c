/* Goal: a run whose records are summed one by one is the same at any number of threads,
 * for each algorithm that takes such cells, and a model that needs them is trained in
 * little memory. Method: digests of runs under a fixed key, with cells of one unit given
 * to small models; plans and costs of a large model. */
#include "tests/expect.h"

#include "tests/engine/dp/single_cells_fixture.h"
#include "tests/engine/gemm_fixture.h"
#include "tests/engine/ranks_fixture.h"

/* Races are sought in a few of the runs. */
enum { RUNS_STEP = RACES_SOUGHT ? 7 : 1 };

static void threads_do_not_matter_in_single_cells(void **state)
{
    (void)state;
    for (size_t k = 0; k < RANKS_RUNS; k += RUNS_STEP) {
        uint8_t first[SHA256_SIZE], other[SHA256_SIZE];
        if (!algorithm_takes_single_cells(algorithm_find(ranks_runs[k].algorithm)))
            continue;
        struct world *world = ranks_world(&ranks_runs[k]);
        ranks_digest(world, NULL, 2, other);
        single_cells = true;
        ranks_digest(world, NULL, 1, first);
        assert_memory_not_equal(first, other, SHA256_SIZE); /* the noise is smaller */
        for (unsigned threads = 2; threads <= 3; threads++) {
            ranks_digest(world, NULL, threads, other);
            assert_memory_equal(first, other, SHA256_SIZE);
        }
        single_cells = false;
        world_destroy(world);
    }
}

/* The error that is kept has its sums in single cells too; it takes no ranks. */
static void nor_for_the_error_that_is_kept(void **state)
{
    (void)state;
    uint8_t first[SHA256_SIZE], other[SHA256_SIZE];
    struct world *world = world_create("dicesgd");
    world->spec.noise_multiplier = 2;
    single_cells = true;
    digest_of_run(world, 1, first);
    for (unsigned threads = 2; threads <= 3; threads++) {
        digest_of_run(world, threads, other);
        assert_memory_equal(first, other, SHA256_SIZE);
    }
    single_cells = false;
    world_destroy(world);
}

/* Differences and bounds by losses need larger workspaces than the choice counts with,
 * and sums of public data have no cells. */
static void other_algorithms_keep_their_cells(void **state)
{
    (void)state;
    static const struct ranks_run runs[] = {
        {.algorithm = "value_clip"},
        {.algorithm = "diff2_gd", .values = {{"clients", 2}, {"restart_interval", 4}}}};
    for (size_t k = 0; k < 2; k++) {
        uint8_t first[SHA256_SIZE], other[SHA256_SIZE];
        struct world *world = ranks_world(&runs[k]);
        ranks_digest(world, NULL, 2, first);
        single_cells = true;
        ranks_digest(world, NULL, 2, other);
        single_cells = false;
        assert_memory_equal(first, other, SHA256_SIZE);
        world_destroy(world);
    }
}

static void compile_resnet(struct world *world, uint32_t side)
{
    const struct data_shape shape = {side * side * 3, CLASSES};
    struct model_spec *model = &world->spec.model;
    train_spec_drop_network(&world->spec);
    model_spec_fini(model);
    *model = (struct model_spec){.preset = PRESET_RESNET18_GN,
                                 .groups = 32,
                                 .input = {side, side, 3},
                                 .init_seed = 11};
    preset_expand(model, CLASSES);
    world->spec.records = 50000;
    world->spec.batch_size = 1024;
    assert_int_equal(train_spec_compile(&world->spec, shape, NULL), ST_OK);
}

/* Two threads of 1.01 GiB each; the value, sum and gradient of 11 million parameters, and
 * what an algorithm keeps of each. With larger cells it would be forty. */
static void a_resnet_on_large_images_takes_three_gigabytes(void **state)
{
    (void)state;
    static const char *const names[] = {"dpsgd", "adp",           "dcsgd_p",
                                        "dpgd",  "quantile_clip", "dicesgd"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct world *world = world_create(names[k]);
        struct trainer_cost cost;
        struct error error = {0};
        compile_resnet(world, 224);
        world->spec.noise_multiplier = 2;
        if (world->spec.algorithm.algorithm->full_batch)
            world->spec.batch_size = world->spec.records;
        if (trainer_cost(&cost, &world->spec, 2, &error) != ST_OK)
            fail_msg("%s: %s", names[k], error.text);
        assert_in_range(cost.memory, UINT64_C(2) << 30, UINT64_C(3) << 30);
        world_destroy(world);
    }
}

int main(int argc, char **argv)
{
    int result;
    (void)argc;
    if (!kernels_chosen(argv, &result))
        return result;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_matter_in_single_cells),
        cmocka_unit_test(nor_for_the_error_that_is_kept),
        cmocka_unit_test(other_algorithms_keep_their_cells),
        cmocka_unit_test(a_resnet_on_large_images_takes_three_gigabytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
