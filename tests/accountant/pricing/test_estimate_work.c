/* Goal: one estimate takes little work, for any number of steps and noise levels.
 * Method: wrappers count the calls of mathematical functions, which do nearly all of
 * the work. Time would depend on the machine; tests/bench/bench_estimates.c shows
 * it. */
#include "tests/expect.h"
#include "tests/accountant/worst_estimates_fixture.h"

/* The limit for one estimate: the noise for a target, the figure, and the charge. A
 * call with its surrounding code takes about 15 ns of a core. */
static const double calls_max = 3.2e6;

static double calls;

#define COUNT(name)                                                                    \
    double __real_##name(double x);                                                    \
    double __wrap_##name(double x);                                                    \
    double __wrap_##name(double x)                                                     \
    {                                                                                  \
        calls++;                                                                       \
        return __real_##name(x);                                                       \
    }
COUNT(exp)
COUNT(expm1)
COUNT(log)
COUNT(log1p)
COUNT(erfc)
#undef COUNT

double __real_pow(double x, double y);
double __wrap_pow(double x, double y);
double __wrap_pow(double x, double y)
{
    calls++;
    return __real_pow(x, y);
}

void __real_sincos(double x, double *sine, double *cosine);
void __wrap_sincos(double x, double *sine, double *cosine);
void __wrap_sincos(double x, double *sine, double *cosine)
{
    calls++;
    __real_sincos(x, sine, cosine);
}

static void the_worst_estimates_take_little_work(void **state)
{
    (void)state;
    for (size_t i = 0; i < worst_estimate_count; i++) {
        const struct worst_estimate *worst = &worst_estimates[i];
        calls = 0;
        assert_true(worst_estimate_answer(worst) > 0);
        if (calls > calls_max)
            fail_msg("%s: %g calls", worst->name, calls);
        print_message("%s: %g calls\n", worst->name, calls);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worst_estimates_take_little_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
