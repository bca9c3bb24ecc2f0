/* Goal: what a request has to confirm follows from all epochs of a budget together, and
 * from n if it is known. Method: a service whose threads do nothing, with budgets in a
 * real ledger; tables of units and of further epochs. */
#include "service/ingest/confirmation.h"

#include "tests/expect.h"
#include "tests/service/service_fixture.h"

static struct scene scene;

static int begin(void **state)
{
    (void)state;
    scene_open(&scene);
    return 0;
}

static int end(void **state)
{
    (void)state;
    scene_close(&scene);
    return 0;
}

static void expect_of_units(const struct dataset *dataset, uint64_t units,
                            enum acknowledged expected)
{
    enum acknowledged needed = ACKNOWLEDGED_EPSILON;
    assert_int_equal(confirmation_of_units(&scene.context, &dataset_spec(dataset)->id,
                                           units, &needed, NULL),
                     ST_OK);
    assert_int_equal(needed, expected);
}

/* Epsilon was confirmed with the budget. */
static void units_are_compared_with_delta_only(void **state)
{
    (void)state;
    const struct dataset *dataset =
        scene_declare(&scene, "weak", "{\"epsilon\":9.5,\"delta\":0.001}");
    expect_of_units(dataset, 0, ACKNOWLEDGED_NOTHING);
    expect_of_units(dataset, 999, ACKNOWLEDGED_NOTHING);
    expect_of_units(dataset, 1000, ACKNOWLEDGED_NOTHING);
    expect_of_units(dataset, 1001, ACKNOWLEDGED_DELTA);
}

static enum status of_epoch(const struct dataset *dataset, double epsilon, double delta,
                            enum acknowledged *needed)
{
    struct grant further = dataset_spec(dataset)->grant;
    further.epsilon = epsilon;
    further.delta = delta;
    return confirmation_of_epoch(&scene.context, &dataset_spec(dataset)->id, &further,
                                 needed, NULL);
}

struct epoch_case {
    double epsilon, delta;
    unsigned needed;
};

static void expect_of_epochs(const struct dataset *dataset,
                             const struct epoch_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        enum acknowledged needed = ACKNOWLEDGED_NOTHING;
        assert_int_equal(of_epoch(dataset, cases[i].epsilon, cases[i].delta, &needed),
                         ST_OK);
        assert_int_equal(needed, cases[i].needed);
    }
}

/* People are exposed to all epochs, so a small one may be too much. */
static void a_further_epoch_counts_with_those_before(void **state)
{
    (void)state;
    enum { BOTH = ACKNOWLEDGED_EPSILON | ACKNOWLEDGED_DELTA };
    static const struct epoch_case unknown_n[] = {
        {1.5, 1e-5, ACKNOWLEDGED_NOTHING},
        {2.5, 1e-5, ACKNOWLEDGED_EPSILON},
        {1.5, 0.25, ACKNOWLEDGED_NOTHING}, /* nothing is imported */
    };
    /* SCENE_RECORDS are 500. */
    static const struct epoch_case known_n[] = {
        {1.5, 0.0005, ACKNOWLEDGED_NOTHING},
        {1.5, 0.0015, ACKNOWLEDGED_DELTA},
        {2.5, 0.0005, ACKNOWLEDGED_EPSILON},
        {2.5, 0.0015, BOTH},
    };
    struct dataset *dataset =
        scene_declare(&scene, "points", "{\"epsilon\":8,\"delta\":0.001}");
    expect_of_epochs(dataset, unknown_n, sizeof unknown_n / sizeof *unknown_n);
    assert_int_equal(scene_import(&scene, dataset, "0.385").state, DATASET_READY);
    expect_of_epochs(dataset, known_n, sizeof known_n / sizeof *known_n);
}

static void what_has_no_budget_or_makes_none_is_refused(void **state)
{
    (void)state;
    const struct dataset_id nowhere = {"nowhere"};
    const struct grant further = {.epsilon = 1, .delta = 1e-5};
    enum acknowledged needed = ACKNOWLEDGED_EPSILON;
    assert_int_equal(
        confirmation_of_units(&scene.context, &nowhere, 300, &needed, NULL),
        ST_NOT_FOUND);
    assert_int_equal(
        confirmation_of_epoch(&scene.context, &nowhere, &further, &needed, NULL),
        ST_NOT_FOUND);
    const struct dataset *dataset =
        scene_declare(&scene, "kept", "{\"epsilon\":8,\"delta\":0.001}");
    assert_int_equal(of_epoch(dataset, 1e-9, 1e-300, &needed), ST_INVALID);
    assert_int_equal(needed, ACKNOWLEDGED_EPSILON); /* it is as it was */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_compared_with_delta_only),
        cmocka_unit_test(a_further_epoch_counts_with_those_before),
        cmocka_unit_test(what_has_no_budget_or_makes_none_is_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
