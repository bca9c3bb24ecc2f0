/* Goal: a run that uses views of its records equals the run without views if each view
 * equals its record, has the same charge, draws its views by a key of each step's own,
 * and is refused if no proof covers it. Method: runs of one key, compared by the digest
 * of their models; the linker's --wrap shows the keys that draw views. */
#include "engine/trainer.h"

#include <string.h>
#include <unistd.h>

#include "engine/dp/step_seeds.h"
#include "engine/dp/views.h"
#include "tests/expect.h"
#include "tests/engine/trainer_fixture.h"

enum { STEPS = 4 };

/* The keys that drew views while is_watched, each once; one thread only. */
static bool is_watched;
static uint8_t drawn[STEPS + 1][STREAM_KEY_SIZE];
static size_t drawn_count;

void __real_views_draw(struct image_view *views, const struct view_spec *spec,
                       uint32_t unit, struct views_draw draw, struct stream *stream);
void __wrap_views_draw(struct image_view *views, const struct view_spec *spec,
                       uint32_t unit, struct views_draw draw, struct stream *stream);
void __wrap_views_draw(struct image_view *views, const struct view_spec *spec,
                       uint32_t unit, struct views_draw draw, struct stream *stream)
{
    bool is_new =
        is_watched && (drawn_count == 0 ||
                       memcmp(drawn[drawn_count - 1], draw.key, STREAM_KEY_SIZE) != 0);
    if (is_new && drawn_count <= STEPS)
        memcpy(drawn[drawn_count++], draw.key, STREAM_KEY_SIZE);
    __real_views_draw(views, spec, unit, draw, stream);
}

/* A record is an image of one line. */
static struct world *world_with(const char *algorithm, size_t views)
{
    struct world *world = world_create(algorithm);
    world->spec.views = (struct view_spec){.count = views,
                                           .flips = true,
                                           .shift = 2,
                                           .planes = 1,
                                           .height = 1,
                                           .width = FEATURES};
    world->spec.steps = STEPS;
    if (world->spec.algorithm.algorithm->full_batch)
        world->spec.batch_size = RECORDS;
    return world;
}

static void one_view_that_is_the_record_trains_the_same_model(void **state)
{
    (void)state;
    static const char *const names[] = {"dpsgd",   "dpgd",          "adp",
                                        "dcsgd_e", "quantile_clip", "dicesgd"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        uint8_t plain[SHA256_SIZE], seen[SHA256_SIZE];
        struct world *world = world_with(names[k], 1);
        world->spec.views.flips = false;
        world->spec.views.shift = 0;
        digest_of_run(world, 1, seen);
        world->spec.views = (struct view_spec){0};
        digest_of_run(world, 1, plain);
        assert_memory_equal(plain, seen, SHA256_SIZE);
        world_destroy(world);
    }
}

static void a_key_gives_the_same_views_at_any_number_of_threads(void **state)
{
    (void)state;
    for (size_t views = 1; views <= 4; views *= 4) {
        uint8_t one[SHA256_SIZE], again[SHA256_SIZE], plain[SHA256_SIZE];
        struct world *world = world_with("dpsgd", views);
        digest_of_run(world, 1, one);
        digest_of_run(world, 3, again);
        assert_memory_equal(one, again, SHA256_SIZE);
        train_spec_drop_network(&world->spec);
        world->spec.views.count = 0;
        digest_of_run(world, 1, plain);
        assert_memory_not_equal(one, plain, SHA256_SIZE);
        world_destroy(world);
    }
}

/* The key is neither the noise's nor the batch's, and differs in each step. */
static void views_are_drawn_by_a_key_of_their_own(void **state)
{
    (void)state;
    uint8_t digest[SHA256_SIZE];
    struct noise_key seed;
    struct step_seeds keys;
    struct world *world = world_with("dpsgd", 2);
    memcpy(seed.bytes, key, sizeof seed.bytes);
    is_watched = true;
    digest_of_run(world, 1, digest);
    is_watched = false;
    assert_int_equal(drawn_count, STEPS);
    step_seeds_open(&keys, &seed);
    for (size_t k = 0; k < STEPS; k++) {
        step_seeds_next(&keys);
        assert_memory_equal(drawn[k], keys.views.bytes, STREAM_KEY_SIZE);
        assert_memory_not_equal(drawn[k], keys.noise.bytes, STREAM_KEY_SIZE);
        assert_memory_not_equal(drawn[k], keys.sampling.bytes, STREAM_KEY_SIZE);
    }
    step_seeds_close(&keys);
    world_destroy(world);
}

static void views_are_no_part_of_the_price(void **state)
{
    (void)state;
    struct mechanism seen, plain;
    struct world *world = world_with("dpsgd", 16);
    assert_int_equal(train_spec_mechanism(&seen, &world->spec, NULL), ST_OK);
    world->spec.views.count = 0;
    assert_int_equal(train_spec_mechanism(&plain, &world->spec, NULL), ST_OK);
    assert_int_equal(seen.kind, plain.kind);
    assert_int_equal(seen.unit, PRIVACY_UNIT_RECORD);
    assert_int_equal(seen.run_count, plain.run_count);
    assert_true(seen.runs[0].sampling_rate == plain.runs[0].sampling_rate);
    assert_true(seen.runs[0].noise_multiplier == plain.runs[0].noise_multiplier);
    assert_int_equal(seen.runs[0].steps, plain.runs[0].steps);
    mechanism_fini(&seen);
    mechanism_fini(&plain);
    world_destroy(world);
}

static void expect_refused(struct world *world, const char *pointer)
{
    struct error error = {0};
    struct trainer_options options = options_of(world, 1);
    struct trainer *trainer = NULL;
    assert_int_equal(trainer_create(&trainer, &options, &error), ST_INVALID);
    assert_string_equal(error.pointer, pointer);
    assert_null(trainer);
    world_destroy(world);
}

static void what_is_not_proved_of_views_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"value_clip", "diff2_gd", "diff2_bvr_l_sgd"};
    struct trainer_cost cost;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        expect_refused(world_with(names[k], 1), "/augmentation");
        expect_refused(world_with(names[k], 4), "/augmentation");
    }
    struct world *world = world_with("sgd", 4);
    compile_model(world);
    struct error error = {0};
    assert_int_equal(trainer_cost(&cost, &world->spec, 1, &error), ST_INVALID);
    assert_string_equal(error.pointer, "/augmentation");
    world_destroy(world);
    world = world_with("dpsgd", 2);
    world->spec.features = FEATURES_CACHED; /* of records without views */
    expect_refused(world, "/features");
    world = world_with("dpsgd", 2);
    world->spec.views.width = FEATURES - 1;
    expect_refused(world, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_view_that_is_the_record_trains_the_same_model),
        cmocka_unit_test(a_key_gives_the_same_views_at_any_number_of_threads),
        cmocka_unit_test(views_are_drawn_by_a_key_of_their_own),
        cmocka_unit_test(views_are_no_part_of_the_price),
        cmocka_unit_test(what_is_not_proved_of_views_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
