/*
 * figure_fixture.h - shared by the tests of figures: a mechanism of one run, its
 * epsilon, and a budget of the size that ledger.md 3 opens. Include after expect.h.
 */
#ifndef TESTS_ACCOUNTANT_FIGURE_FIXTURE_H
#define TESTS_ACCOUNTANT_FIGURE_FIXTURE_H

#include "accountant/pricing/figures.h"

static inline struct mechanism one(struct mechanism_run *run)
{
    return (struct mechanism){.kind = MECHANISM_SAMPLED_GAUSSIAN,
                              .relation = RELATION_ZERO_OUT,
                              .prefixes_priced = true,
                              .run_count = 1,
                              .runs = run};
}

static inline double epsilon_of(const struct mechanism *m, double delta)
{
    struct figure figure;
    struct error error = {0};
    assert_int_equal(figure_epsilon(&figure, m, mechanism_steps(m), delta, &error),
                     ST_OK);
    assert_true(figure.epsilon >= 0);
    return figure.epsilon;
}

static inline struct balance opened(void)
{
    /* epsilon 2, delta 1e-5: the orders of ledger.md 3; capacities of that size. */
    return (struct balance){.epsilon = 2,
                            .delta = 1e-5,
                            .weighted = {curve_order_index(10), curve_order_index(7)},
                            .weights = {0.75, 0.25},
                            .capacity = {1.0497, 0.5385}};
}

#endif
