/* Goal: what no noise would cover is not run. Method: a small convolution that the AVX2
 * kernels round by place (two convolutions of 16 channels: 23 positions a record share
 * their blocks of 12 rows) and those of AVX-512 do not, each kernel in turn; and the
 * quick comparison against the one that a run insists on. */
#include "tests/expect.h"

#include "engine/rounding/row_class.h"
#include "engine/nn/layers/registry.h"
#include "engine/rounding/blas.h"
#include "tests/engine/product_fixture.h"
#include "tests/engine/small_network_fixture.h"
#include "tests/engine/trainer_fixture.h"

static void set_two_convolutions(struct world *world)
{
    const struct layer_spec conv = small_network_conv(16, true);
    const struct layer_spec layers[] = {conv,
                                        {.kind = &layer_relu},
                                        conv,
                                        {.kind = &layer_flatten},
                                        {.kind = &layer_dense, .out = CLASSES}};
    set_layers(world, layers, sizeof layers / sizeof *layers,
               (struct model_input){FEATURES, 1, 1});
}

static bool rounds_by_place(void)
{
    return strcmp(blas_kernel(), "Haswell") == 0;
}

static void expect(struct world *world, bool refused)
{
    struct trainer_options options = options_of(world, 1);
    struct trainer *trainer = NULL;
    struct error tried = {0}, error = {0};
    enum status wanted = refused ? ST_NOT_FLOAT_SAFE : ST_OK;
    enum status quickly = trainer_check_rounding(&world->spec, &tried);
    enum status whole = trainer_create(&trainer, &options, &error);
    if (quickly != wanted || whole != wanted)
        fail_msg("%s: %s, %s", world->spec.algorithm.algorithm->name, tried.text,
                 error.text);
    if (refused) {
        assert_null(trainer);
        assert_string_equal(error.pointer, "/model");
        assert_non_null(strstr(error.text, blas_kernel()));
        assert_string_equal(tried.pointer, "/model");
        return;
    }
    struct noise_certificate noise;
    if (trainer_noise_certificate(trainer, &noise))
        assert_true(noise.float_safe);
    trainer_destroy(trainer);
}

static void a_run_that_no_noise_would_cover_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"dpsgd", "dicesgd", "dcsgd_e", "diff2_gd"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct world *world = world_create(names[k]);
        set_two_convolutions(world);
        world->spec.noise_multiplier = 8;
        if (strcmp(names[k], "diff2_gd") == 0)
            world->spec.batch_size = RECORDS;
        expect(world, rounds_by_place());
        world_destroy(world);
    }
}

static void what_rounds_alike_or_adds_no_noise_is_run(void **state)
{
    (void)state;
    struct world *dense = world_create("dpsgd"), *open = world_create("sgd");
    set_two_convolutions(open);
    expect(dense, false);
    expect(open, false);
    world_destroy(dense);
    world_destroy(open);
}

/* On networks that are safe, that are not, and that have classes. */
static void trying_finds_what_comparing_finds(void **state)
{
    (void)state;
    static const size_t blocks[] = {16, 48};
    const struct small_residual sizes[] = {
        {5, 16, 4, false, 0, &layer_flatten},
        {8, 24, 4, true, 0, &layer_global_avg_pool},
        {9, 24, 4, false, 0.25, &layer_global_avg_pool}};
    for (size_t k = 0; k < 6; k++) {
        struct network *network = k < 3 ? small_network_residual(&sizes[k])
                                        : small_network_dense(17 << k, 33, 10);
        for (size_t b = 0; b < 2; b++) {
            struct row_classes found, tried;
            const struct row_demand demand = {blocks[b], false};
            assert_int_equal(row_classes_find(&found, network, demand, NULL), ST_OK);
            assert_int_equal(row_classes_try(&tried, network, demand, NULL), ST_OK);
            assert_int_equal(tried.safe, found.safe);
            assert_int_equal(tried.count, found.count);
            assert_int_equal(tried.period, found.period);
        }
        network_destroy(network);
    }
}

/* That it is believed is seen by a lie about the number of classes. */
static void a_run_believes_what_one_before_it_has_found(void **state)
{
    (void)state;
    struct world *world = world_create("dpsgd");
    struct trainer_options options = options_of(world, 1);
    struct row_classes rows = {0};
    struct noise_certificate noise;
    uint8_t first[SHA256_SIZE], again[SHA256_SIZE];
    options.rows = &rows;
    for (int run = 0; run < 2; run++) {
        struct trainer *trainer = trainer_of(&options);
        assert_true(rows.block > 0);
        assert_true(rows.safe);
        run_steps(trainer, 3);
        digest_of(trainer, run == 0 ? first : again);
        trainer_destroy(trainer);
    }
    assert_memory_equal(again, first, sizeof first);
    rows.count = 4;
    rows.period = 4;
    for (uint8_t r = 0; r < 4; r++)
        rows.of[r] = r;
    struct trainer *trainer = trainer_of(&options);
    assert_true(trainer_noise_certificate(trainer, &noise));
    assert_int_equal(noise.position_classes, 4);
    trainer_destroy(trainer);
    world_destroy(world);
}

int main(int argc, char **argv)
{
    int result;
    (void)argc;
    if (!kernels_chosen(argv, &result))
        return result;
    blas_use_one_thread();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_no_noise_would_cover_is_refused),
        cmocka_unit_test(what_rounds_alike_or_adds_no_noise_is_run),
        cmocka_unit_test(a_run_believes_what_one_before_it_has_found),
        cmocka_unit_test(trying_finds_what_comparing_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
