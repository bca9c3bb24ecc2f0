/* Goal: features that are computed once give the same model, bit for bit, as features
 * that are computed again in each step, and leave nothing behind. Method: runs under a
 * fixed key with and without them, of models that are cut in several places. */
#include "tests/expect.h"

#include <dirent.h>
#include <sys/stat.h>

#include "tests/engine/gemm_fixture.h"
#include "tests/engine/trainer_fixture.h"

static char folder[] = "/tmp/epsilond-features-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* fails if something was left */
}

static size_t files_in(const char *path)
{
    size_t count = 0;
    DIR *entries = opendir(path);
    assert_non_null(entries);
    while (readdir(entries) != NULL)
        count++;
    closedir(entries);
    return count - 2; /* . and .. */
}

static void freeze(struct world *world, enum trainable_kind kind,
                   char patterns[][TENSOR_NAME_SIZE], size_t count)
{
    train_spec_drop_network(&world->spec);
    model_start_copy(
        &world->spec.model.start,
        &(struct model_start){.trainable = kind, .named = {count, patterns}});
}

/* Returns whether the run had features; digest = the digest of its model. */
static bool run_in(struct world *world, const char *where, uint8_t digest[SHA256_SIZE])
{
    struct trainer_options options = options_of(world, 3);
    options.features.folder = where;
    struct trainer *trainer = trainer_of(&options);
    bool has = trainer_has_features(trainer);
    run_steps(trainer, 6);
    assert_int_equal(files_in(folder), 0);
    digest_of(trainer, digest);
    trainer_destroy(trainer);
    if (where != NULL)
        assert_int_equal(has, world->spec.algorithm.algorithm->is_private);
    return has;
}

static void compare(struct world *world)
{
    uint8_t cached[SHA256_SIZE], streamed[SHA256_SIZE];
    run_in(world, folder, cached);
    assert_false(run_in(world, NULL, streamed));
    assert_memory_equal(cached, streamed, SHA256_SIZE);
    world_destroy(world);
}

static void cached_features_are_streamed_features(void **state)
{
    (void)state;
    static const char *const names[] = {"dpsgd", "dicesgd", "adp", "sgd", "dpgd"};
    char first[1][TENSOR_NAME_SIZE] = {"0.*"};
    char two[2][TENSOR_NAME_SIZE] = {"0.*", "1.*"};
    for (size_t a = 0; a < sizeof names / sizeof *names; a++) {
        struct world *world = world_create(names[a]);
        world->spec.noise_multiplier = strcmp(names[a], "sgd") == 0 ? 0 : 2;
        if (world->spec.algorithm.algorithm->full_batch)
            world->spec.batch_size = RECORDS;
        freeze(world, TRAINABLE_HEAD, NULL, 0);
        compare(world);
    }
    struct world *world = world_create("dpsgd");
    set_image_model(world);
    freeze(world, TRAINABLE_EXCEPT, first, 1);
    compare(world);
    world = world_create("dpsgd");
    set_dropping_model(world, 0.4); /* dropout is above the cut */
    freeze(world, TRAINABLE_EXCEPT, two, 2);
    compare(world);
}

/* Makes a run that can get features only from the cache, as its folder does not exist;
 * returns whether it found some. */
static bool finds(struct world *world, struct feature_cache *cache, const char *dataset,
                  uint8_t digest[SHA256_SIZE])
{
    struct trainer_options options = options_of(world, 2);
    options.features = (struct feature_place){"/nonexistent", cache, dataset};
    options.evaluation = NULL;
    struct trainer *trainer = trainer_of(&options);
    bool has = trainer_has_features(trainer);
    run_steps(trainer, 6);
    digest_of(trainer, digest);
    trainer_destroy(trainer);
    return has;
}

/* Keeps the features of a run, if rows round equally in every position. */
static bool leave(struct world *world, struct feature_cache *cache)
{
    struct trainer_options options = options_of(world, 2);
    options.features = (struct feature_place){folder, cache, "people"};
    options.evaluation = NULL;
    struct trainer *trainer = trainer_of(&options);
    bool has = trainer_has_features(trainer);
    trainer_destroy(trainer);
    return has;
}

static const struct feature_cache_limits limits = {1 << 24, 60};

static void a_later_run_finds_them_and_no_bit_changes(void **state)
{
    uint8_t found[SHA256_SIZE], made[SHA256_SIZE];
    struct feature_cache *cache = feature_cache_create(&limits);
    struct world *world = world_create("dpsgd");
    (void)state;
    freeze(world, TRAINABLE_HEAD, NULL, 0);
    bool alike = leave(world, cache);
    world->spec.noise_multiplier = 1.5; /* another job; the features are the same */
    run_in(world, NULL, made);
    assert_int_equal(finds(world, cache, "people", found), alike);
    assert_memory_equal(found, made, SHA256_SIZE);
    assert_int_equal(files_in(folder), 0);
    feature_cache_destroy(cache);
    world_destroy(world);
}

static void a_head_of_another_kind_finds_them_too(void **state)
{
    uint8_t digest[SHA256_SIZE];
    char first[1][TENSOR_NAME_SIZE] = {"0.*"};
    const struct layer_spec tanh = {.kind = &layer_tanh};
    const struct layer_spec body = {.kind = &layer_dense, .out = 9, .bias = true},
                            head = {.kind = &layer_dense, .out = CLASSES};
    const struct layer_spec small[] = {body, tanh, head};
    const struct layer_spec large[] = {body, tanh, body, tanh, head};
    struct feature_cache *cache = feature_cache_create(&limits);
    struct world *world = world_create("dpsgd");
    (void)state;
    set_layers(world, small, 3, (struct model_input){0});
    freeze(world, TRAINABLE_EXCEPT, first, 1);
    bool alike = leave(world, cache);
    set_layers(world, large, 5, (struct model_input){0});
    freeze(world, TRAINABLE_EXCEPT, first, 1);
    assert_int_equal(finds(world, cache, "people", digest), alike);
    feature_cache_destroy(cache);
    world_destroy(world);
}

/* Another dataset, other weights, another layer, other rows. */
static void nothing_else_is_found(void **state)
{
    uint8_t digest[SHA256_SIZE];
    struct feature_cache *cache = feature_cache_create(&limits);
    (void)state;
    for (int k = 0; k < 4; k++) {
        struct world *world = world_create("dpsgd");
        freeze(world, TRAINABLE_HEAD, NULL, 0);
        leave(world, cache);
        train_spec_drop_network(&world->spec);
        if (k == 1)
            world->spec.model.init_seed++;
        if (k == 2)
            world->spec.model.layers[1].kind = &layer_relu;
        if (k == 3)
            world->spec.records = world->data.records = RECORDS - 1;
        assert_false(finds(world, cache, k == 0 ? "others" : "people", digest));
        world_destroy(world);
    }
    feature_cache_destroy(cache);
}

/* Ways to read the same records. */
enum manner {
    AS_STORED,
    OVER_ITS_OWN_RANGES, /* clipped, otherwise the same */
    OVER_WIDER_RANGES,
    OVER_MOVED_RANGES,
    AS_BYTES,
    AS_LARGER_BYTES,
    TRAINED_ON,
    HELD_OUT,
    TRAINED_ON_OF_A_SMALLER_HOLDOUT,
    TRAINED_ON_OF_ANOTHER_SEED,
    MANNERS
};

static void read_bytes(struct matrix *data, float scale)
{
    data->element = ELEMENT_U8;
    data->scale = scale;
}

static void read_part(struct world *world, double holdout, uint64_t seed,
                      enum part part)
{
    matrix_select(&world->data, &(struct division){holdout, seed}, part);
    world->spec.records = matrix_units(&world->data);
}

static void read_over(struct matrix *data, struct rescaling *ranges, float gain,
                      float offset)
{
    rescaling_init(ranges, FEATURES);
    ranges->gain[FEATURES - 1] = gain;
    ranges->offset[0] = offset;
    data->rescaling = ranges;
}

/* Makes a world that reads the records in this manner; *ranges holds the ranges, if
 * any. */
static struct world *world_of(enum manner manner, struct rescaling *ranges)
{
    struct world *world = world_create("dpsgd");
    freeze(world, TRAINABLE_HEAD, NULL, 0);
    *ranges = (struct rescaling){0};
    switch (manner) {
    case OVER_ITS_OWN_RANGES: read_over(&world->data, ranges, 1, 0); break;
    case OVER_WIDER_RANGES: read_over(&world->data, ranges, 0.5F, 0); break;
    case OVER_MOVED_RANGES: read_over(&world->data, ranges, 1, 0.5F); break;
    case AS_BYTES: read_bytes(&world->data, 127); break;
    case AS_LARGER_BYTES: read_bytes(&world->data, 255); break;
    case TRAINED_ON: read_part(world, 0.5, 1, PART_TRAIN); break;
    case HELD_OUT: read_part(world, 0.5, 1, PART_HOLDOUT); break;
    case TRAINED_ON_OF_A_SMALLER_HOLDOUT:
        read_part(world, 0.499999, 1, PART_TRAIN);
        break;
    case TRAINED_ON_OF_ANOTHER_SEED: read_part(world, 0.5, 2, PART_TRAIN); break;
    case AS_STORED:
    case MANNERS: break;
    }
    return world;
}

/* No job gets features of records that were read in another way, such as over other
 * ranges than it chose. */
static void each_manner_of_reading_records_has_features_of_its_own(void **state)
{
    uint8_t digest[SHA256_SIZE];
    struct rescaling ranges;
    struct feature_cache *cache = feature_cache_create(&limits);
    (void)state;
    for (int k = 0; k < MANNERS; k++) {
        struct world *world = world_of((enum manner)k, &ranges);
        assert_false(finds(world, cache, "people", digest));
        bool alike = leave(world, cache);
        assert_int_equal(finds(world, cache, "people", digest), alike);
        world_destroy(world);
        rescaling_fini(&ranges);
    }
    feature_cache_destroy(cache);
}

/* The normalised values of a norm are frozen features even if its scale is trained. */
static void features_that_end_inside_a_layer_are_others(void **state)
{
    const struct layer_spec dense = {.kind = &layer_dense, .out = 9, .bias = true};
    const struct layer_spec norm = {.kind = &layer_layer_norm, .epsilon = 1e-5};
    const struct layer_spec layers[] = {
        dense, norm, dense, norm, {.kind = &layer_dense, .out = CLASSES}};
    char below[2][TENSOR_NAME_SIZE] = {"0.*", "3.*"};
    char above[2][TENSOR_NAME_SIZE] = {"0.*", "1.*"};
    uint8_t digest[SHA256_SIZE];
    struct feature_cache *cache = feature_cache_create(&limits);
    struct world *world = world_create("dpsgd");
    (void)state;
    set_layers(world, layers, 5, (struct model_input){0});
    freeze(world, TRAINABLE_EXCEPT, below, 2);
    leave(world, cache);
    set_layers(world, layers, 5, (struct model_input){0});
    freeze(world, TRAINABLE_EXCEPT, above, 2);
    assert_false(finds(world, cache, "people", digest));
    feature_cache_destroy(cache);
    world_destroy(world);
}

/* The scattering transform has no weights, but keeping its output still saves time. */
static void maps_of_images_are_features(void **state)
{
    enum { SIDE = 8, COUNT = 200 };
    static float images[COUNT * SIDE * SIDE];
    const struct layer_spec layers[] = {
        {.kind = &layer_scatter, .centre = 0.125},
        {.kind = &layer_group_norm, .groups = 3, .epsilon = 1e-5},
        {.kind = &layer_flatten},
        {.kind = &layer_dense, .out = CLASSES, .bias = true}};
    uint8_t cached[SHA256_SIZE], streamed[SHA256_SIZE];
    (void)state;
    for (size_t j = 0; j < COUNT * SIDE * SIDE; j++)
        images[j] = generic(j / 64, j % 64);
    for (int k = 0; k < 2; k++) {
        struct world *world = world_create("dpsgd");
        world->data.records = world->spec.records = COUNT;
        world->data.features = SIDE * SIDE;
        world->data.rows = images;
        world->spec.batch_size = 50;
        set_layers(world, layers, 4, (struct model_input){SIDE, SIDE, 1});
        if (k == 1)
            freeze(world, TRAINABLE_HEAD, NULL, 0);
        run_in(world, folder, cached);
        run_in(world, NULL, streamed);
        assert_memory_equal(cached, streamed, SHA256_SIZE);
        world_destroy(world);
    }
}

static void an_evaluation_is_of_the_whole_model(void **state)
{
    (void)state;
    struct evaluation with, without;
    struct world *world = world_create("dpsgd");
    freeze(world, TRAINABLE_HEAD, NULL, 0);
    for (int k = 0; k < 2; k++) {
        struct trainer_options options = options_of(world, 2);
        options.features.folder = k == 0 ? folder : NULL;
        struct trainer *trainer = trainer_of(&options);
        run_steps(trainer, 2);
        assert_int_equal(trainer_evaluate(trainer, k == 0 ? &with : &without, NULL),
                         ST_OK);
        run_steps(trainer, 1);
        trainer_destroy(trainer);
    }
    assert_true(with.loss == without.loss && with.accuracy == without.accuracy);
    world_destroy(world);
}

static void they_are_made_anew_where_there_is_no_room_or_no_wish(void **state)
{
    (void)state;
    uint8_t digest[3][SHA256_SIZE];
    struct world *world = world_create("dpsgd");
    freeze(world, TRAINABLE_HEAD, NULL, 0);
    run_in(world, NULL, digest[0]);
    struct trainer_options options = options_of(world, 2);
    options.features.folder = "/nonexistent";
    struct trainer *trainer = trainer_of(&options);
    assert_false(trainer_has_features(trainer));
    run_steps(trainer, 6);
    digest_of(trainer, digest[1]);
    trainer_destroy(trainer);
    world->spec.features = FEATURES_STREAMED;
    options.features.folder = folder;
    trainer = trainer_of(&options);
    assert_false(trainer_has_features(trainer));
    run_steps(trainer, 6);
    digest_of(trainer, digest[2]);
    trainer_destroy(trainer);
    assert_memory_equal(digest[0], digest[1], SHA256_SIZE);
    assert_memory_equal(digest[0], digest[2], SHA256_SIZE);
    world_destroy(world);
}

static void what_no_run_shares_is_refused_where_it_is_asked_for(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++) {
        struct world *world = world_create(k == 2 ? "value_clip" : "dpsgd");
        struct trainer_cost cost;
        struct error error = {0};
        char patterns[1][TENSOR_NAME_SIZE] = {"0.*"};
        if (k == 0) /* dropout is below the head */
            set_dropping_model(world, 0.4);
        if (k == 3)
            freeze(world, TRAINABLE_ONLY, patterns, 1);
        else if (k != 1)
            freeze(world, TRAINABLE_HEAD, NULL, 0);
        compile_model(world);
        world->spec.ranks = k == 4 ? 2 : 1;
        world->spec.features = FEATURES_STREAMED;
        assert_int_equal(trainer_cost(&cost, &world->spec, 1, &error), ST_OK);
        world->spec.features = FEATURES_CACHED;
        assert_int_equal(trainer_cost(&cost, &world->spec, 1, &error), ST_INVALID);
        assert_string_equal(error.pointer, "/features");
        world_destroy(world);
    }
}

static void a_run_can_be_cancelled_meanwhile(void **state)
{
    (void)state;
    atomic_bool cancel = true;
    struct world *world = world_create("dpsgd");
    freeze(world, TRAINABLE_HEAD, NULL, 0);
    struct trainer_options options = options_of(world, 2);
    struct trainer *trainer;
    options.features.folder = folder;
    options.cancel = &cancel;
    enum status status = trainer_create(&trainer, &options, NULL);
    if (status == ST_OK) { /* rows round by position: nothing was computed */
        assert_false(trainer_has_features(trainer));
        trainer_destroy(trainer);
    } else {
        assert_int_equal(status, ST_CANCELLED);
    }
    assert_int_equal(files_in(folder), 0);
    world_destroy(world);
}

int main(int argc, char **argv)
{
    int result;
    (void)argc;
    if (!kernels_chosen(argv, &result))
        return result;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cached_features_are_streamed_features),
        cmocka_unit_test(a_later_run_finds_them_and_no_bit_changes),
        cmocka_unit_test(a_head_of_another_kind_finds_them_too),
        cmocka_unit_test(nothing_else_is_found),
        cmocka_unit_test(each_manner_of_reading_records_has_features_of_its_own),
        cmocka_unit_test(features_that_end_inside_a_layer_are_others),
        cmocka_unit_test(maps_of_images_are_features),
        cmocka_unit_test(an_evaluation_is_of_the_whole_model),
        cmocka_unit_test(they_are_made_anew_where_there_is_no_room_or_no_wish),
        cmocka_unit_test(what_no_run_shares_is_refused_where_it_is_asked_for),
        cmocka_unit_test(a_run_can_be_cancelled_meanwhile),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
