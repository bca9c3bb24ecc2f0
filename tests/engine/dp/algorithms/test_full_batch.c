/* Goal: full-batch algorithms take all records as their batch, and the paper's
 * multipliers are those of the paper. Method: its table for 16,510 records
 * (papers/diff2.md 2.3). */
#include "engine/dp/algorithms/registry.h"
#include "engine/dp/algorithms/full_batch.h"

#include "tests/engine/dp/algorithm_fixture.h"

static void only_a_batch_of_all_records_is_taken(void **state)
{
    (void)state;
    struct algorithm_spec spec;
    algorithm_spec_init(&spec, algorithm_find("dpgd"));
    struct algorithm_inputs inputs = {.spec = &spec, .records = 97, .batch_size = 97};
    struct error error = {0};
    assert_int_equal(full_batch_check(&inputs, &error), ST_OK);
    inputs.batch_size = 96;
    assert_int_equal(full_batch_check(&inputs, &error), ST_INVALID);
    assert_string_equal(error.pointer, "/batch_size");
    assert_non_null(strstr(error.text, "97"));
    assert_non_null(strstr(error.text, "dpsgd"));
}

/* R = 2000 rounds at delta 1e-5; the paper adds its noise to the mean. */
static void the_claim_is_the_papers_table(void **state)
{
    (void)state;
    static const struct {
        double epsilon, releases, share, sigma;
    } cases[] = {
        {3, 2000, 1, 9.383364e-3},
        {3, 334, 0.8, 4.287181e-3},
        {3, 2000 - 334, 0.2, 1.914988e-2},
        {3, 100, 0.8, 2.345840912e-3},
        {3, 2000 - 100, 0.2, 2.045056698e-2},
        {5, 2000, 1, 5.934560e-3},
        {5, 10, 0.8, 4.691682e-4},
        {5, 2000 - 10, 0.2, 1.323686e-2},
    };
    const double records = 16510;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_close(full_batch_claim(cases[k].epsilon, 1e-5, cases[k].releases,
                                      cases[k].share) /
                         records,
                     cases[k].sigma, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_batch_of_all_records_is_taken),
        cmocka_unit_test(the_claim_is_the_papers_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
