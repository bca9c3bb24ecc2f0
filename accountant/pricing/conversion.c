#include "accountant/pricing/conversion.h"

#include <float.h>
#include <math.h>

#include "accountant/mechanisms/round_up.h"
#include "base/check.h"

/* Each logarithm, product and sum is within 2 ulp, and terms are added at most
 * thrice. */
static const double rounding = 8 * DBL_EPSILON;

/* log(1 - 1/a). Both forms are accurate where they are used: near 1, a - 1 is exact. */
static double log_rest(double order)
{
    return order < 2 ? log(order - 1) - log(order) : log1p(-1 / order);
}

/* The square of the total variation is at most this, rounded up. */
static double total_variation_square(double rdp)
{
    double up = round_up_error(rdp, rounding);
    return fmin(up / 2, -expm1(-up)) * (1 + rounding);
}

double conversion_epsilon(double rdp, double order, double delta)
{
    CHECK(order > 1 && rdp >= 0 && delta > 0 && delta < 1);
    if (isinf(rdp))
        return INFINITY;
    if (total_variation_square(rdp) <= delta * delta * (1 - rounding))
        return 0;
    double beta = order - 1, rest = log_rest(order);
    double delta_log = log(delta), order_log = log(order);
    double epsilon = rdp + rest - (delta_log + order_log) / beta;
    double size =
        rdp + fabs(rest) + log1p(1 / beta) + (fabs(delta_log) + order_log) / beta;
    return fmax(0, round_up_next(epsilon + rounding * size));
}

double conversion_delta(double rdp, double order, double epsilon)
{
    CHECK(order > 1 && rdp >= 0 && epsilon >= 0);
    if (isinf(rdp))
        return 1;
    if (isinf(epsilon))
        return 0;
    double beta = order - 1, rest = log_rest(order);
    double exponent = beta * (rdp - epsilon + rest) - log(order);
    double size = beta * (rdp + epsilon + fabs(rest) + log1p(1 / beta)) + log(order);
    double tight = exp(exponent + rounding * size) * (1 + rounding);
    double total_variation = sqrt(total_variation_square(rdp)) * (1 + rounding);
    return fmin(1, round_up_next(fmin(tight, total_variation)));
}

double conversion_curve(const struct curve *curve, double delta, double *order)
{
    double least = INFINITY;
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        double epsilon = conversion_epsilon(curve->at[i], curve_orders[i], delta);
        if (i > 0 && epsilon >= least)
            continue;
        least = epsilon;
        if (order != NULL)
            *order = curve_orders[i];
    }
    return least;
}
