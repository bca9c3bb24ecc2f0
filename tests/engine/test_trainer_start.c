/* Goal: a training begins with the weights that it is given, and the frozen ones keep
 * their bits, get no noise and are in no plan. Method: short runs under a fixed key,
 * from files that an earlier run has written; models read back tensor by tensor. */
#include "tests/expect.h"

#include "tests/engine/trainer_fixture.h"

enum { HIDDEN = 16, TENSORS = 4 };

/* A saved model, tensor by tensor in the order of their names: 0.bias 0.weight 2.bias
 * 2.weight. */
struct saved {
    char path[64];
    struct file_checksum seal;
    float values[TENSORS][HIDDEN * FEATURES];
    size_t counts[TENSORS];
};

static void save(struct saved *saved, struct trainer *trainer)
{
    struct safetensors *file;
    snprintf(saved->path, sizeof saved->path, "/tmp/epsilond-start-XXXXXX");
    close(mkstemp(saved->path));
    assert_int_equal(trainer_save(trainer, saved->path, (struct metadata_list){0},
                                  &saved->seal, NULL),
                     ST_OK);
    assert_int_equal(safetensors_open(&file, saved->path, NULL), ST_OK);
    assert_int_equal(safetensors_tensor_count(file), TENSORS);
    for (size_t k = 0; k < TENSORS; k++) {
        const struct tensor *tensor = safetensors_tensor(file, k);
        saved->counts[k] = tensor->count;
        assert_int_equal(safetensors_read(file, tensor, saved->values[k], NULL), ST_OK);
    }
    safetensors_close(file);
}

/* Gives the model after `steps` steps from a file, or from init_seed. */
static void run_from(struct world *world, const struct saved *from, uint64_t steps,
                     struct saved *to)
{
    struct weights_source source = {0};
    if (from != NULL)
        source = (struct weights_source){.path = from->path, .seal = from->seal};
    struct trainer_options options = options_of(world, 2);
    options.weights = from != NULL ? &source : NULL;
    struct trainer *trainer = trainer_of(&options);
    run_steps(trainer, steps);
    save(to, trainer);
    trainer_destroy(trainer);
}

static bool same(const struct saved *a, const struct saved *b, size_t tensor)
{
    return memcmp(a->values[tensor], b->values[tensor],
                  a->counts[tensor] * sizeof(float)) == 0;
}

static void recompile(struct world *world, enum trainable_kind kind, uint64_t seed)
{
    train_spec_drop_network(&world->spec);
    world->spec.model.start.trainable = kind;
    world->spec.model.init_seed = seed;
}

static void a_training_begins_with_the_weights_it_is_given(void **state)
{
    (void)state;
    static struct saved first, again;
    struct world *world = world_create("dpsgd");
    run_from(world, NULL, 5, &first);
    recompile(world, TRAINABLE_ALL, 77);
    run_from(world, &first, 0, &again);
    for (size_t k = 0; k < TENSORS; k++)
        assert_true(same(&first, &again, k));
    unlink(first.path);
    unlink(again.path);
    world_destroy(world);
}

static void frozen_parts_keep_their_bits(void **state)
{
    (void)state;
    static const char *const names[] = {"dpsgd", "dicesgd", "adp",
                                        "dpgd",  "dcsgd_e", "value_clip"};
    static struct saved first, before, after;
    for (size_t a = 0; a < sizeof names / sizeof *names; a++) {
        struct world *world = world_create("dpsgd");
        run_from(world, NULL, 3, &first);
        algorithm_spec_init(&world->spec.algorithm, algorithm_find(names[a]));
        if (world->spec.algorithm.algorithm->full_batch)
            world->spec.batch_size = RECORDS;
        world->spec.noise_multiplier = 2;
        world->spec.averaging = (struct averaging_spec){AVERAGING_EMA, 0, 0.5};
        recompile(world, TRAINABLE_HEAD, 5);
        run_from(world, &first, 0, &before);
        run_from(world, &first, 4, &after);
        for (size_t k = 0; k < 2; k++) { /* 0.bias, 0.weight */
            assert_true(same(&first, &before, k));
            assert_true(same(&first, &after, k));
        }
        for (size_t k = 2; k < TENSORS; k++)
            assert_false(same(&before, &after, k));
        unlink(first.path);
        unlink(before.path);
        unlink(after.path);
        world_destroy(world);
    }
}

static void a_bound_by_the_loss_reads_frozen_weights(void **state)
{
    (void)state;
    static struct saved before, after;
    char named[1][TENSOR_NAME_SIZE] = {"2.*"};
    struct world *world = world_create("value_clip");
    recompile(world, TRAINABLE_EXCEPT, 5);
    model_start_copy(
        &world->spec.model.start,
        &(struct model_start){.trainable = TRAINABLE_EXCEPT, .named = {1, named}});
    run_from(world, NULL, 0, &before);
    run_from(world, NULL, 3, &after);
    for (size_t k = 0; k < TENSORS; k++)
        assert_int_equal(same(&before, &after, k), k >= 2);
    unlink(before.path);
    unlink(after.path);
    world_destroy(world);
}

static void what_is_planned_is_of_the_trained(void **state)
{
    (void)state;
    struct world *world = world_create("dpsgd");
    struct trainer_cost whole, head;
    uint8_t before[SHA256_SIZE], after[SHA256_SIZE];
    compile_model(world);
    assert_int_equal(trainer_cost(&whole, &world->spec, 1, NULL), ST_OK);
    recompile(world, TRAINABLE_HEAD, 5);
    compile_model(world);
    assert_int_equal(trainer_cost(&head, &world->spec, 1, NULL), ST_OK);
    assert_int_equal(whole.parameters,
                     FEATURES * HIDDEN + HIDDEN + HIDDEN * CLASSES + CLASSES);
    assert_int_equal(head.parameters, HIDDEN * CLASSES + CLASSES);
    assert_true(head.memory < whole.memory);
    struct trainer_options options = options_of(world, 2);
    struct trainer *trainer = trainer_of(&options);
    assert_int_equal(trainer_frozen(trainer, before), FEATURES * HIDDEN + HIDDEN);
    run_steps(trainer, 3);
    assert_int_equal(trainer_frozen(trainer, after), FEATURES * HIDDEN + HIDDEN);
    assert_memory_equal(before, after, SHA256_SIZE);
    trainer_destroy(trainer);
    recompile(world, TRAINABLE_ALL, 5);
    options = options_of(world, 2);
    trainer = trainer_of(&options);
    assert_int_equal(trainer_frozen(trainer, before), 0);
    trainer_destroy(trainer);
    world_destroy(world);
}

static void weights_that_are_not_what_they_were_are_refused(void **state)
{
    (void)state;
    static struct saved first;
    struct world *world = world_create("dpsgd");
    run_from(world, NULL, 1, &first);
    struct weights_source source = {.path = first.path, .seal = first.seal};
    struct trainer_options options = options_of(world, 1);
    struct trainer *trainer;
    struct error error = {0};
    options.weights = &source;
    source.seal.sha256[3] ^= 1;
    assert_int_equal(trainer_create(&trainer, &options, &error), ST_MODEL_CORRUPT);
    assert_string_equal(error.pointer, "/model/weights");
    unlink(first.path);
    source.seal = first.seal;
    assert_int_equal(trainer_create(&trainer, &options, NULL), ST_MODEL_CORRUPT);
    world_destroy(world);
}

static void differences_are_of_whole_models(void **state)
{
    (void)state;
    static const char *const names[] = {"diff2_gd", "diff2_bvr_l_sgd"};
    for (size_t a = 0; a < 2; a++) {
        struct world *world = world_create(names[a]);
        struct trainer_cost cost;
        struct error error = {0};
        world->spec.batch_size = RECORDS;
        recompile(world, TRAINABLE_HEAD, 5);
        compile_model(world);
        assert_int_equal(trainer_cost(&cost, &world->spec, 1, &error), ST_INVALID);
        assert_string_equal(error.pointer, "/model/trainable");
        assert_non_null(strstr(error.text, names[a]));
        world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_training_begins_with_the_weights_it_is_given),
        cmocka_unit_test(frozen_parts_keep_their_bits),
        cmocka_unit_test(a_bound_by_the_loss_reads_frozen_weights),
        cmocka_unit_test(what_is_planned_is_of_the_trained),
        cmocka_unit_test(weights_that_are_not_what_they_were_are_refused),
        cmocka_unit_test(differences_are_of_whole_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
