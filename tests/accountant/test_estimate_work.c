/* Goal: one estimate takes little work, whatever its steps and noise levels. Method: the
 * program counts how many Renyi orders are priced, and how many energies are computed for
 * them, by functions that stand in front of the real ones. Time would depend on the machine;
 * tests/bench/bench_estimates.c shows it. */
#include "tests/expect.h"
#include "tests/accountant/worst_estimates_fixture.h"

#include "accountant/cost.h"

/* What one estimate may take: the noise for a target, the figure, and the charge, which alone
 * is priced at CURVE_ORDERS orders. An order counts once for each noise level. A sampling rate so
 * low that epsilon jumps when the noise grows takes longer to search. */
enum {
    ORDERS_MAX = 150 * WORST_LEVELS,
    ORDERS_JUMP_MAX = 350 * WORST_LEVELS,
    ENERGIES_MAX = 600000
};

static double orders, energies;

double __real_cost_of(struct proof_scratch *scratch, const struct mechanism *m,
                      uint64_t steps, double order);
double __wrap_cost_of(struct proof_scratch *scratch, const struct mechanism *m,
                      uint64_t steps, double order);
double __real_cost_of_run(struct proof_scratch *scratch, const struct mechanism *m,
                          size_t run, uint64_t count, double order);
double __wrap_cost_of_run(struct proof_scratch *scratch, const struct mechanism *m,
                          size_t run, uint64_t count, double order);
double __real_pow(double x, double y);
double __wrap_pow(double x, double y);

double __wrap_cost_of(struct proof_scratch *scratch, const struct mechanism *m,
                      uint64_t steps, double order)
{
    orders += (double)m->run_count;
    return __real_cost_of(scratch, m, steps, order);
}

double __wrap_cost_of_run(struct proof_scratch *scratch, const struct mechanism *m,
                          size_t run, uint64_t count, double order)
{
    orders++;
    return __real_cost_of_run(scratch, m, run, count, order);
}

/* Each energy of an error feedback takes one power. */
double __wrap_pow(double x, double y)
{
    energies++;
    return __real_pow(x, y);
}

static void the_worst_estimates_take_little_work(void **state)
{
    (void)state;
    for (size_t i = 0; i < worst_estimate_count; i++) {
        const struct worst_estimate *worst = &worst_estimates[i];
        orders = energies = 0;
        assert_true(worst_estimate_answer(worst) > 0);
        double orders_max = worst->rate < 1e-7 ? ORDERS_JUMP_MAX : ORDERS_MAX;
        if (orders > orders_max || energies > ENERGIES_MAX)
            fail_msg("%s: %g orders, %g energies", worst->name, orders, energies);
        print_message("%s: %g orders, %g energies\n", worst->name, orders, energies);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worst_estimates_take_little_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
