/* Goal: external work is priced for the neighbours that its dataset has, and refused if
 * no proof says what it costs. Method: values at 50 digits from the definitions
 * (tests/vectors/declared.py), and the formulas of accounting.md by hand. */
#include "accountant/mechanisms/outside.h"

#include <string.h>

#include "accountant/pricing/cost.h"
#include "accountant/mechanisms/laplace.h"
#include "accountant/mechanisms/randomised_response.h"
#include "tests/expect.h"

static struct outside_work work_of(enum mechanism_kind kind, double value)
{
    return (struct outside_work){.kind = kind,
                                 .neighbour = NEIGHBOUR_ADD_REMOVE,
                                 .sampling_rate = 1,
                                 .value = value,
                                 .steps = 3};
}

static struct mechanism made_of(const struct outside_work *works, size_t count,
                                enum relation relation)
{
    size_t at;
    struct error error = {0};
    struct mechanism m = {0};
    if (outside_mechanism(&m, works, count, relation, &at, &error) != ST_OK)
        fail_msg("%s", error.text);
    assert_int_equal(cost_supports(&m, NULL), ST_OK);
    return m;
}

/* Returns the work's price at the order, under the relation. */
static double price_of(const struct outside_work *work, enum relation relation,
                       double order)
{
    struct proof_scratch scratch = {0};
    struct mechanism m = made_of(work, 1, relation);
    double price = cost_of(&scratch, &m, mechanism_steps(&m), order);
    mechanism_fini(&m);
    return price;
}

static void what_is_declared_costs_what_its_definition_says(void **state)
{
    (void)state;
    char kind[32];
    double value, order, rdp;
    size_t rows = 0;
    FILE *file = fopen("tests/vectors/declared.csv", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*[^\n]\n"), 0);
    while (fscanf(file, "%31[^,],%lf,%lf,%lf\n", kind, &value, &order, &rdp) == 4) {
        enum mechanism_kind parsed;
        assert_true(mechanism_kind_parse(&parsed, kind));
        struct outside_work work = work_of(parsed, value);
        double price = price_of(&work, RELATION_ZERO_OUT, order) / 3;
        assert_close(price, rdp, 1e-12);
        assert_true(price >= rdp * (1 - 1e-15));
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, 92);
}

/* Storing a declared figure never makes the price smaller. */
static void no_figure_is_rounded_in_the_data_owners_disfavour(void **state)
{
    (void)state;
    for (double value = 1.0007e-3; value < 18; value *= 1.0913) {
        struct outside_work zcdp = work_of(MECHANISM_ZCDP, value);
        struct outside_work pure = work_of(MECHANISM_PURE, value);
        assert_true(price_of(&zcdp, RELATION_ZERO_OUT, 2) >= 3 * (2 * value));
        assert_true(price_of(&pure, RELATION_ZERO_OUT, INFINITY) >= 3 * value);
        assert_close(price_of(&zcdp, RELATION_ZERO_OUT, 2), 6 * value, 1e-14);
    }
}

static void randomised_response_is_the_worst_of_its_epsilon(void **state)
{
    (void)state;
    for (double epsilon = 1e-3; epsilon < 12; epsilon *= 1.7) {
        for (double order = 1.001; order < 4000; order *= 1.9) {
            double worst = randomised_response_rdp(epsilon, order);
            assert_true(worst >= laplace_rdp(1 / epsilon, order) * (1 - 1e-12));
            assert_true(worst <= epsilon);
            /* Bun and Steinke 2016, Prop. 1.4. */
            assert_true(worst <= epsilon * epsilon * order / 2 * (1 + 1e-12));
        }
    }
    assert_true(randomised_response_rdp(2.385, INFINITY) == 2.385);
}

/* The distance doubles: a Gaussian costs four times as much, a pure epsilon doubles,
 * and Poisson batches have their own pair. Only a subset of fixed size costs the
 * same. */
static void replacing_has_its_own_price(void **state)
{
    (void)state;
    const double order = 6.5;
    struct outside_work gaussian = work_of(MECHANISM_GAUSSIAN, 2.385);
    struct outside_work zcdp = work_of(MECHANISM_ZCDP, 0.31);
    struct outside_work pure = work_of(MECHANISM_PURE, 0.31);
    struct outside_work laplace = work_of(MECHANISM_LAPLACE, 3.1);
    struct outside_work sampled = work_of(MECHANISM_SAMPLED_GAUSSIAN, 1.5);
    struct outside_work subset = work_of(MECHANISM_FIXED_SUBSET, 1.5);
    sampled.sampling_rate = subset.sampling_rate = 0.04;
    assert_close(price_of(&gaussian, RELATION_ZERO_OUT, order),
                 3 * order / (2 * 2.385 * 2.385), 1e-13);
    assert_close(price_of(&gaussian, RELATION_REPLACE_ONE, order),
                 3 * 2 * order / (2.385 * 2.385), 1e-13);
    assert_close(price_of(&zcdp, RELATION_REPLACE_ONE, order), 3 * 4 * 0.31 * order,
                 1e-13);
    assert_close(price_of(&pure, RELATION_REPLACE_ONE, order),
                 3 * randomised_response_rdp(0.62, order), 1e-13);
    assert_close(price_of(&laplace, RELATION_REPLACE_ONE, order),
                 3 * laplace_rdp(1.55, order), 1e-13);
    assert_true(price_of(&sampled, RELATION_REPLACE_ONE, order) >
                1.9 * price_of(&sampled, RELATION_ZERO_OUT, order));
    assert_true(price_of(&subset, RELATION_REPLACE_ONE, order) ==
                price_of(&subset, RELATION_ZERO_OUT, order));
}

/* A sensitivity declared for replacement already includes the whole distance. */
static void a_sensitivity_by_replacing_is_taken_as_it_is(void **state)
{
    (void)state;
    struct outside_work work = work_of(MECHANISM_GAUSSIAN, 2.385);
    work.neighbour = NEIGHBOUR_REPLACE_ONE;
    assert_close(price_of(&work, RELATION_REPLACE_ONE, 6.5),
                 3 * 6.5 / (2 * 2.385 * 2.385), 1e-13);
    work = work_of(MECHANISM_PURE, 0.31);
    work.neighbour = NEIGHBOUR_REPLACE_ONE;
    assert_close(price_of(&work, RELATION_REPLACE_ONE, 6.5),
                 3 * randomised_response_rdp(0.31, 6.5), 1e-13);
    work = work_of(MECHANISM_FIXED_SUBSET, 3);
    work.sampling_rate = 0.04;
    struct outside_work added = work;
    work.neighbour = NEIGHBOUR_REPLACE_ONE;
    added.value = 6;
    assert_true(price_of(&work, RELATION_REPLACE_ONE, 6.5) ==
                price_of(&added, RELATION_REPLACE_ONE, 6.5));
}

static void assert_refused(struct outside_work bad, enum relation relation,
                           const char *pointer)
{
    size_t at = 7;
    struct mechanism m = {0};
    struct error error = {0};
    const struct outside_work works[] = {work_of(MECHANISM_GAUSSIAN, 2), bad};
    assert_int_equal(outside_mechanism(&m, works, 2, relation, &at, &error),
                     ST_INVALID);
    assert_string_equal(error.pointer, pointer);
    assert_int_equal(at, 1);
    assert_null(m.runs);
}

static void what_has_no_proof_under_the_relation_is_refused(void **state)
{
    (void)state;
    struct outside_work work = work_of(MECHANISM_GAUSSIAN, 2);
    work.neighbour = NEIGHBOUR_REPLACE_ONE;
    assert_refused(work, RELATION_ZERO_OUT, "/neighbour");
    work = work_of(MECHANISM_SAMPLED_GAUSSIAN, 2);
    work.neighbour = NEIGHBOUR_REPLACE_ONE;
    work.sampling_rate = 0.1;
    assert_refused(work, RELATION_REPLACE_ONE, "/neighbour");
    assert_refused(work, RELATION_ZERO_OUT, "/neighbour");
    assert_refused(work_of(MECHANISM_ZCDP, 201), RELATION_ZERO_OUT, "/rho");
    assert_refused(work_of(MECHANISM_PURE, 1e-7), RELATION_ZERO_OUT, "/epsilon");
    assert_refused(work_of(MECHANISM_LAPLACE, 0.01), RELATION_ZERO_OUT, "/noise_scale");
    assert_refused(work_of(MECHANISM_GAUSSIAN, 2e6), RELATION_ZERO_OUT,
                   "/noise_multiplier");
}

/* Chua et al. 2024: 1,000 shuffled batches at noise .6 cost at least 8.83 at delta
 * 1e-6, where Poisson says 2.11. A pass is one Gaussian, which at order a costs a / (2
 * s^2). */
static void a_pass_of_shuffled_batches_is_one_gaussian(void **state)
{
    (void)state;
    struct outside_work pass = work_of(MECHANISM_GAUSSIAN, 0.6);
    pass.sampler = "shuffled";
    pass.steps = 1;
    assert_close(price_of(&pass, RELATION_ZERO_OUT, 5), 5 / (2 * 0.36), 1e-13);
}

static void a_list_costs_the_sum_of_its_parts_in_order(void **state)
{
    (void)state;
    struct proof_scratch scratch = {0};
    struct outside_work works[] = {work_of(MECHANISM_SAMPLED_GAUSSIAN, 1.1),
                                   work_of(MECHANISM_LAPLACE, 4),
                                   work_of(MECHANISM_FIXED_SUBSET, 2.5),
                                   work_of(MECHANISM_ZCDP, 0.02),
                                   work_of(MECHANISM_PURE, 0.1),
                                   work_of(MECHANISM_GAUSSIAN, 7)};
    enum { COUNT = sizeof works / sizeof *works };
    works[0].sampling_rate = works[2].sampling_rate = 0.01;
    for (unsigned r = 0; r < 2; r++) {
        enum relation relation = r == 0 ? RELATION_ZERO_OUT : RELATION_REPLACE_ONE;
        double sum = 0;
        struct mechanism m = made_of(works, COUNT, relation);
        assert_int_equal(m.kind, MECHANISM_SEQUENCE);
        for (size_t i = 0; i < COUNT; i++) {
            struct outside_work part = works[i];
            part.steps = 2;
            assert_close(cost_of(&scratch, &m, 3 * i + 2, 4.5),
                         sum + price_of(&part, relation, 4.5), 1e-13);
            sum += price_of(&works[i], relation, 4.5);
        }
        assert_close(cost_of(&scratch, &m, 3 * COUNT, 4.5), sum, 1e-13);
        mechanism_fini(&m);
    }
}

static void a_list_of_one_kind_is_that_kind(void **state)
{
    (void)state;
    const struct outside_work works[] = {work_of(MECHANISM_GAUSSIAN, 2),
                                         work_of(MECHANISM_GAUSSIAN, 3)};
    struct mechanism m = made_of(works, 2, RELATION_ZERO_OUT);
    assert_int_equal(m.kind, MECHANISM_GAUSSIAN);
    assert_int_equal(m.run_count, 2);
    mechanism_fini(&m);
}

/* Kinds that choose their noise, or whose steps depend on each other, cannot be part of
 * a sequence. */
static void a_sequence_has_no_runs_without_a_price(void **state)
{
    (void)state;
    struct mechanism_run runs[] = {{1, 2, 3}, {0.5, 2, 3}};
    enum mechanism_kind kinds[] = {MECHANISM_GAUSSIAN, MECHANISM_SAMPLED_GAUSSIAN};
    struct mechanism m = {.kind = MECHANISM_SEQUENCE,
                          .prefixes_priced = true,
                          .run_count = 2,
                          .runs = runs,
                          .run_kinds = kinds};
    assert_int_equal(cost_supports(&m, NULL), ST_OK);
    static const enum mechanism_kind bad[] = {
        MECHANISM_ERROR_FEEDBACK, MECHANISM_FILTERED_GAUSSIAN, MECHANISM_SEQUENCE,
        MECHANISM_GAUSSIAN /* at rate 1/2 */};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        kinds[1] = bad[i];
        assert_int_equal(cost_supports(&m, NULL), ST_INVALID);
    }
    m.run_kinds = NULL;
    assert_int_equal(cost_supports(&m, NULL), ST_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_declared_costs_what_its_definition_says),
        cmocka_unit_test(no_figure_is_rounded_in_the_data_owners_disfavour),
        cmocka_unit_test(randomised_response_is_the_worst_of_its_epsilon),
        cmocka_unit_test(replacing_has_its_own_price),
        cmocka_unit_test(a_sensitivity_by_replacing_is_taken_as_it_is),
        cmocka_unit_test(what_has_no_proof_under_the_relation_is_refused),
        cmocka_unit_test(a_pass_of_shuffled_batches_is_one_gaussian),
        cmocka_unit_test(a_list_costs_the_sum_of_its_parts_in_order),
        cmocka_unit_test(a_list_of_one_kind_is_that_kind),
        cmocka_unit_test(a_sequence_has_no_runs_without_a_price),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
