/*
 * bench_estimates - processor time that the most expensive estimates take: the noise
 * for a target, the number, the charge and what would fit. The minimum of some runs,
 * because other work may use the machine. tests/accountant/pricing/test_estimate_work.c
 * limits the operations of the same requests.
 */
#include <stdio.h>
#include <time.h>

#include "accountant/pricing/figures.h"
#include "accountant/pricing/filter.h"
#include "base/check.h"
#include "tests/accountant/worst_estimates_fixture.h"

static double cpu_ms(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

int main(void)
{
    enum { RUNS = 3 };
    printf("%-44s %10s %10s\n", "estimate", "ms", "noise");
    for (size_t i = 0; i < worst_estimate_count; i++) {
        const struct worst_estimate *worst = &worst_estimates[i];
        double least = 0, noise = 0;
        for (int run = 0; run < RUNS; run++) {
            double start = cpu_ms();
            noise = worst_estimate_answer(worst);
            double ms = cpu_ms() - start;
            least = run == 0 || ms < least ? ms : least;
        }
        printf("%-44s %10.2f %10.6g\n", worst->name, least, noise);
    }
    return 0;
}
