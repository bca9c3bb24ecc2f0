/* The kind pure: nothing is known of a step except its epsilon, at delta 0. It is
 * charged the cost of randomised response of that epsilon. */
#include <float.h>
#include <math.h>

#include "accountant/mechanisms/outside.h"
#include "accountant/mechanisms/pure_steps.h"
#include "accountant/mechanisms/randomised_response.h"
#include "accountant/mechanisms/round_up.h"
#include "base/check.h"

/* There are some ten operations within 2 ulp of sums of positive terms. */
static const double rounding = 64 * DBL_EPSILON;

static const double steep_max = 600; /* from here e^x has no room for its square */

/* With b = a - 1 the moment less 1 is (cosh(b epsilon) - 1) + tanh(epsilon / 2) sinh(b
 * epsilon): neither term is negative, so nothing cancels. */
double randomised_response_rdp(double epsilon, double order)
{
    CHECK(order > 1 && epsilon > 0);
    double beta = order - 1, steep = beta * epsilon;
    if (isinf(order) || steep > steep_max)
        return epsilon;
    double half = sinh(steep / 2);
    double above = 2 * half * half + tanh(epsilon / 2) * sinh(steep);
    double divergence = log1p(above) / beta;
    return fmin(epsilon, round_up_error(divergence, rounding) + DBL_MIN);
}

static double run_rdp(struct proof_scratch *scratch, const struct mechanism *m,
                      size_t run, uint64_t count, double order)
{
    (void)scratch;
    double epsilon =
        round_up_next(proof_distance(m, run) / m->runs[run].noise_multiplier);
    return round_up_mul(round_up_count(count), randomised_response_rdp(epsilon, order));
}

/* The noise multiplier of an epsilon that is at least the declared one: 1 / epsilon,
 * rounded down. */
static double noise_of(double epsilon)
{
    return nextafter(1 / epsilon, 0);
}

static const struct outside outside = {.parameter = "epsilon", .noise_of = noise_of};

const struct proof pure = {
    .takes_every_record = true,
    .run_rdp = run_rdp,
    .pure_epsilon = pure_steps_epsilon,
    .outside = &outside,
};
