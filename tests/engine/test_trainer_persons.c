/* Goal: a run over persons draws persons, at the rate of their number, and equals the
 * run over records if each person has one row. Method: runs of one key, compared by the
 * digest of their models; runs that cannot be over persons are refused. */
#include "engine/trainer.h"

#include <string.h>
#include <unistd.h>

#include "tests/expect.h"
#include "tests/engine/trainer_fixture.h"

enum { PERSONS = RECORDS / 4 };

/* Makes the world's records the rows of `persons` persons, with equal numbers of
 * rows. */
static void group(struct world *world, uint32_t *starts, uint64_t persons)
{
    for (uint64_t u = 0; u <= persons; u++)
        starts[u] = (uint32_t)(u * RECORDS / persons);
    world->data.starts = starts;
    world->data.units = persons;
    world->spec.unit = PRIVACY_UNIT_PERSON;
    world->spec.unit_rows = 1;
    world->spec.records = persons;
}

static struct world *world_of(const char *algorithm, uint64_t units)
{
    struct world *world = world_create(algorithm);
    if (world->spec.algorithm.algorithm->full_batch)
        world->spec.batch_size = units;
    return world;
}

static void persons_with_a_row_each_train_as_records_do(void **state)
{
    (void)state;
    static const char *const names[] = {"dpsgd",   "dpgd",          "adp",
                                        "dcsgd_e", "quantile_clip", "dicesgd"};
    static uint32_t starts[RECORDS + 1];
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        uint8_t of_records[SHA256_SIZE], of_persons[SHA256_SIZE];
        struct world *world = world_of(names[k], RECORDS);
        digest_of_run(world, 2, of_records);
        group(world, starts, RECORDS);
        digest_of_run(world, 2, of_persons);
        assert_memory_equal(of_records, of_persons, SHA256_SIZE);
        world_destroy(world);
    }
}

/* The sum over threads is an integer sum, and the draw of rows does not depend on
 * threads. */
static void threads_do_not_matter(void **state)
{
    (void)state;
    static uint32_t starts[PERSONS + 1];
    uint8_t one[SHA256_SIZE], three[SHA256_SIZE];
    for (size_t unit_rows = 2; unit_rows <= 8; unit_rows *= 2) {
        struct world *world = world_create("dpsgd");
        group(world, starts, PERSONS);
        world->spec.unit_rows = unit_rows;
        digest_of_run(world, 1, one);
        digest_of_run(world, 3, three);
        assert_memory_equal(one, three, SHA256_SIZE);
        world_destroy(world);
    }
}

static void persons_are_learnt_from(void **state)
{
    (void)state;
    static const char *const names[] = {"dpsgd", "dpgd", "adp", "dcsgd_p", "dicesgd"};
    static uint32_t starts[PERSONS + 1];
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct world *world = world_of(names[k], PERSONS);
        struct evaluation before, after;
        group(world, starts, PERSONS);
        world->spec.unit_rows = 4;
        world->spec.steps = 60;
        struct trainer_options options = options_of(world, 2);
        struct trainer *trainer = trainer_of(&options);
        assert_int_equal(trainer_evaluate(trainer, &before, NULL), ST_OK);
        run_steps(trainer, world->spec.steps);
        assert_int_equal(trainer_evaluate(trainer, &after, NULL), ST_OK);
        assert_true(after.accuracy > before.accuracy + 0.2);
        trainer_destroy(trainer);
        world_destroy(world);
    }
}

static void expect_refused(struct world *world, enum status expected)
{
    struct trainer_options options = options_of(world, 1);
    struct trainer *trainer = NULL;
    assert_int_equal(trainer_create(&trainer, &options, NULL), expected);
    assert_null(trainer);
    train_spec_drop_network(&world->spec);
}

static void what_is_no_run_of_persons_is_refused(void **state)
{
    (void)state;
    static uint32_t starts[PERSONS + 1];
    static const char *const of_records[] = {"value_clip", "diff2_gd",
                                             "diff2_bvr_l_sgd"};
    struct world *world = world_create("dpsgd");
    group(world, starts, PERSONS);
    world->spec.records = RECORDS; /* rows: the rate would be too small */
    expect_refused(world, ST_INVALID);
    world->spec.records = PERSONS;
    world->spec.unit = PRIVACY_UNIT_RECORD;
    expect_refused(world, ST_INVALID);
    world->spec.unit = PRIVACY_UNIT_PERSON;
    world->data.starts = NULL;
    expect_refused(world, ST_INVALID);
    world_destroy(world);
    for (size_t k = 0; k < sizeof of_records / sizeof *of_records; k++) {
        world = world_create(of_records[k]);
        group(world, starts, PERSONS);
        expect_refused(world, ST_UNIT_UNSUPPORTED);
        world_destroy(world);
    }
}

static void the_mechanism_says_that_units_are_persons(void **state)
{
    (void)state;
    static uint32_t starts[PERSONS + 1];
    struct mechanism m;
    struct world *world = world_create("dpsgd");
    group(world, starts, PERSONS);
    assert_int_equal(train_spec_mechanism(&m, &world->spec, NULL), ST_OK);
    assert_int_equal(m.unit, PRIVACY_UNIT_PERSON);
    assert_true(m.runs[0].sampling_rate == 300.0 / PERSONS);
    mechanism_fini(&m);
    world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(persons_with_a_row_each_train_as_records_do),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(persons_are_learnt_from),
        cmocka_unit_test(what_is_no_run_of_persons_is_refused),
        cmocka_unit_test(the_mechanism_says_that_units_are_persons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
