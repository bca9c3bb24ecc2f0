/* Goal: what a run has found of a model's rows is given to the next run of such a model,
 * and to no other. Method: findings that no comparison would make, so that they are told
 * apart; models that differ in one thing each. */
#include "service/float_safety.h"

#include "tests/expect.h"
#include "tests/engine/trainer_fixture.h"

static struct world *compiled(const char *algorithm, size_t hidden, uint64_t batch)
{
    struct world *world = world_create(algorithm);
    set_model(&world->spec.model, hidden, LOSS_SOFTMAX_CROSS_ENTROPY, CLASSES);
    world->spec.batch_size = batch;
    compile_model(world);
    return world;
}

static struct row_classes recalled(struct float_safety *safety,
                                   const struct world *world)
{
    struct row_classes rows = {.block = 99};
    float_safety_recall(safety, &world->spec, &rows);
    return rows;
}

static void findings_are_of_one_model_batch_and_kind_of_run(void **state)
{
    (void)state;
    struct float_safety *safety = float_safety_create();
    struct world *worlds[] = {compiled("dpsgd", 8, 64), compiled("dpsgd", 9, 64),
                              compiled("dpsgd", 8, 65), compiled("sgd", 8, 64),
                              compiled("diff2_gd", 8, 64)};
    enum { COUNT = sizeof worlds / sizeof *worlds };
    for (size_t k = 0; k < COUNT; k++) {
        assert_int_equal(recalled(safety, worlds[k]).block, 0);
        struct row_classes rows = {.block = 16 * (k + 1), .count = 1, .safe = true};
        float_safety_remember(safety, &worlds[k]->spec, &rows);
    }
    for (size_t k = 0; k < COUNT; k++)
        assert_int_equal(recalled(safety, worlds[k]).block, 16 * (k + 1));
    for (size_t k = 0; k < COUNT; k++)
        world_destroy(worlds[k]);
    float_safety_destroy(safety);
    float_safety_destroy(NULL);
}

static void all_algorithms_that_compare_alike_share_a_finding(void **state)
{
    (void)state;
    struct float_safety *safety = float_safety_create();
    struct world *a = compiled("dpsgd", 8, 64), *b = compiled("dicesgd", 8, 64);
    struct row_classes rows = {.block = 48, .count = 1, .safe = true};
    float_safety_remember(safety, &a->spec, &rows);
    assert_int_equal(recalled(safety, b).block, 48);
    /* A check neither loses what a run has found nor makes it up. */
    assert_int_equal(float_safety_check(safety, &a->spec, NULL), ST_OK);
    assert_int_equal(recalled(safety, a).block, 48);
    struct world *c = compiled("dpsgd", 7, 64);
    assert_int_equal(float_safety_check(safety, &c->spec, NULL), ST_OK);
    assert_int_equal(recalled(safety, c).block, 0);
    world_destroy(c);
    world_destroy(b);
    world_destroy(a);
    float_safety_destroy(safety);
}

/* Where units are persons classes are of whole persons: those of single rows would put
 * them where they round unlike. */
static void what_is_known_of_rows_says_nothing_of_persons(void **state)
{
    (void)state;
    struct float_safety *safety = float_safety_create();
    struct world *records = compiled("dpsgd", 8, 64),
                 *persons = compiled("dpsgd", 8, 64);
    const struct data_shape shape = {persons->data.features, persons->data.classes};
    train_spec_drop_network(&persons->spec);
    persons->spec.unit = UNIT_PERSON;
    persons->spec.unit_rows = 4;
    assert_int_equal(train_spec_compile(&persons->spec, shape, NULL), ST_OK);
    struct row_classes rows = {.block = 48};
    float_safety_remember(safety, &records->spec, &rows);
    assert_int_equal(recalled(safety, records).block, 48);
    assert_int_equal(recalled(safety, persons).block, 0);
    world_destroy(persons);
    world_destroy(records);
    float_safety_destroy(safety);
}

static void the_oldest_finding_goes_first(void **state)
{
    (void)state;
    struct float_safety *safety = float_safety_create();
    struct world *worlds[FLOAT_SAFETY_KEPT + 1];
    for (size_t k = 0; k <= FLOAT_SAFETY_KEPT; k++) {
        struct row_classes rows = {.block = 16 * (k + 1)};
        worlds[k] = compiled("dpsgd", 2 + k, 64);
        float_safety_remember(safety, &worlds[k]->spec, &rows);
    }
    assert_int_equal(recalled(safety, worlds[0]).block, 0);
    for (size_t k = 1; k <= FLOAT_SAFETY_KEPT; k++)
        assert_int_equal(recalled(safety, worlds[k]).block, 16 * (k + 1));
    for (size_t k = 0; k <= FLOAT_SAFETY_KEPT; k++)
        world_destroy(worlds[k]);
    float_safety_destroy(safety);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findings_are_of_one_model_batch_and_kind_of_run),
        cmocka_unit_test(all_algorithms_that_compare_alike_share_a_finding),
        cmocka_unit_test(what_is_known_of_rows_says_nothing_of_persons),
        cmocka_unit_test(the_oldest_finding_goes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
