/* With a = epsilon/mu - mu/2 delta is phi(a) (R(a) - R(a + mu)), where R = Q / phi is
 * Mills' ratio of the standard normal: no exponential of epsilon is left to overflow.
 * The difference of two ratios is summed as an integral of -R' if mu is small, so
 * that it does not cancel. epsilon at delta is found by bisecting a, in which delta
 * falls. */
#include "accountant/pricing/profile.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "accountant/mechanisms/round_up.h"
#include "base/check.h"

/* The relative error of gap below: exp(-a^2/2) with a up to 38 gives 722 ulp, and the
 * rest is a few dozen. It was checked against 50-digit arithmetic in
 * tests/vectors/profile.csv. */
static const double rounding = 4096 * DBL_EPSILON;

static const double root_two = 1.41421356237309504880;
static const double root_two_pi = 2.50662827463100050242;

/* From here Mills' ratio is taken from Laplace's continued fraction. */
static const double fraction_from = 4;

/* K with R(x) = 1 / (x + K): K = 1/(x + 2/(x + 3/(x + ...))). */
static double fraction_tail(double x)
{
    /* exp(-2 x sqrt(2 DEPTH)) is below the last bit at x = 4. */
    enum { DEPTH = 48 };
    double k = 0;
    for (int i = DEPTH; i >= 1; i--)
        k = i / (x + k);
    return k;
}

/* Mills' ratio R(x) = Q(x) / phi(x). */
static double mills(double x)
{
    if (x >= fraction_from)
        return 1 / (x + fraction_tail(x));
    return root_two_pi / 2 * exp(0.5 * x * x) * erfc(x / root_two);
}

/* -R'(x) = 1 - x R(x) > 0. */
static double mills_fall(double x)
{
    if (x < fraction_from)
        return 1 - x * mills(x);
    double k = fraction_tail(x);
    return k / (x + k);
}

/* R(a) - R(a + width) for width <= 1, by Gauss-Legendre, so that nothing cancels. */
static double mills_gap(double a, double width)
{
    static const struct {
        double at, weight;
    } points[] = {{0.14887433898163121088, 0.29552422471475287017},
                  {0.43339539412924719080, 0.26926671930999635509},
                  {0.67940956829902440623, 0.21908636251598204400},
                  {0.86506336668898451073, 0.14945134915058059315},
                  {0.97390652851717172008, 0.06667134430868813759}};
    double sum = 0, half = width / 2;
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        sum += points[i].weight * (mills_fall(a + half * (1 - points[i].at)) +
                                   mills_fall(a + half * (1 + points[i].at)));
    return sum * half;
}

/* delta at epsilon = mu (a + mu/2). As exp(epsilon) phi(a + mu) = phi(a), it is phi(a)
 * (R(a) - R(a + mu)), which falls with a. */
static double gap(double a, double mu)
{
    double density = exp(-0.5 * a * a) / root_two_pi;
    double value;
    if (mu <= 1)
        value = density * mills_gap(a, mu);
    else if (a > 0)
        value = density * (mills(a) - mills(a + mu));
    else
        value = 0.5 * erfc(a / root_two) - density * mills(a + mu);
    return fmin(1, round_up_error(fmax(0, value), rounding) + DBL_MIN);
}

double profile_delta(double mu, double epsilon)
{
    CHECK(mu >= 0 && epsilon >= 0);
    if (mu == 0 || isinf(epsilon))
        return 0;
    if (isinf(mu))
        return 1;
    double a = epsilon / mu - mu / 2;
    a -= 4 * DBL_EPSILON * (epsilon / mu + mu / 2);
    return gap(fmax(a, -mu / 2), mu);
}

double profile_epsilon(double mu, double delta)
{
    CHECK(mu >= 0 && delta > 0 && delta < 1);
    if (isinf(mu))
        return INFINITY;
    double low = -mu / 2, high = sqrt(-2 * log(delta)) + 1; /* Q(high) < delta */
    if (mu == 0 || gap(low, mu) <= delta)
        return 0;
    if (gap(high, mu) > delta) /* deltas near the least double */
        return INFINITY;
    while (high - low > DBL_EPSILON * (fabs(high) + fabs(low)) / 2) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        if (gap(middle, mu) <= delta)
            high = middle;
        else
            low = middle;
    }
    /* epsilon = mu (high + mu/2), its rounding relative to the size of both terms. */
    double size = mu * (fabs(high) + mu / 2);
    return fmax(0, round_up_next(mu * (high + mu / 2) + 4 * DBL_EPSILON * size));
}
