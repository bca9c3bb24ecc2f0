/* The kind laplace: sums over all records with Laplace noise, for single queries. */
#include "accountant/mechanisms/laplace.h"

#include <float.h>
#include <math.h>

#include "accountant/mechanisms/outside.h"
#include "accountant/mechanisms/pure_steps.h"
#include "accountant/mechanisms/round_up.h"
#include "base/check.h"

/* There are some ten operations within 2 ulp, and e^x - 1 - x is taken by its series or
 * within 1e-15. */
static const double rounding = 64 * DBL_EPSILON;

/* e^x - 1 - x >= 0 */
static double beyond_line(double x)
{
    enum { TERMS = 16 };
    if (fabs(x) > 0.5)
        return expm1(x) - x;
    double sum = 0;
    for (int k = TERMS; k >= 2; k--)
        sum = (sum + 1) * x / k;
    return sum * x;
}

/* The sum below is the moment less 1, over a - 1. There the linear terms of both
 * exponentials cancel. */
double laplace_rdp(double scale, double order)
{
    CHECK(order > 1 && scale > 0);
    double beta = order - 1, pure = round_up_error(1 / scale, 2 * DBL_EPSILON);
    double steep = beta / scale;
    if (isinf(order) || steep > 600)
        return pure;
    double mean = order * (beyond_line(steep) / beta) + beyond_line(-order / scale);
    mean /= 2 * order - 1;
    double divergence = log1p(beta * mean) / beta;
    return fmin(pure, round_up_error(divergence, rounding) + DBL_MIN);
}

static double run_rdp(struct proof_scratch *scratch, const struct mechanism *m,
                      size_t run, uint64_t count, double order)
{
    (void)scratch;
    /* Scales up to 1e6 halve exactly. */
    double scale = m->runs[run].noise_multiplier / proof_distance(m, run);
    return round_up_mul(round_up_count(count), laplace_rdp(scale, order));
}

static const struct outside outside = {.parameter = "noise_scale"};

const struct proof laplace = {
    .takes_every_record = true,
    .run_rdp = run_rdp,
    .pure_epsilon = pure_steps_epsilon,
    .outside = &outside,
};
