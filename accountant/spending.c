#include "accountant/spending.h"

#include <math.h>

/* As filter.c's: five roundings and three logarithms of at most 2 units each. */
static const double conversion_margin = 16 * 0x1p-53;

struct conversion {
    double epsilon; /* as computed */
    double margin;  /* on either side of it lies the true value */
};

static struct conversion convert(const struct curve *curve, double delta)
{
    struct conversion best = {INFINITY, 0};
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        double order = curve_orders[i], first = log1p(-1 / order);
        double logs = (log(delta) + log(order)) / (order - 1);
        double magnitude = (fabs(log(delta)) + log(order)) / (order - 1) - first;
        double epsilon = curve->at[i] + first - logs;
        if (epsilon < best.epsilon) {
            best.epsilon = epsilon;
            best.margin = conversion_margin * (curve->at[i] + magnitude);
        }
    }
    return best;
}

static double at_least(const struct curve *curve, double delta)
{
    struct conversion conversion = convert(curve, delta);
    return fmax(0, conversion.epsilon - conversion.margin);
}

static double at_most(const struct curve *curve, double delta)
{
    struct conversion conversion = convert(curve, delta);
    return fmax(0, conversion.epsilon + conversion.margin);
}

static bool is_zero(const struct curve *curve)
{
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        if (curve->at[i] != 0)
            return false;
    }
    return true;
}

void spending_of(struct balance *balance)
{
    double delta = filter_delta(balance->delta), rate = 0, fraction = 0;
    struct curve sum = balance->committed, remaining;
    curve_add(&sum, &balance->held);
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        size_t index = balance->weighted[i];
        double room = balance->capacity[i] - sum.at[index];
        rate = fmax(rate, room / curve_orders[index]);
        if (balance->capacity[i] > 0)
            fraction = fmax(fraction, room / balance->capacity[i]);
    }
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        remaining.at[i] = rate * curve_orders[i];
    double all = is_zero(&sum) ? 0 : at_most(&sum, delta);
    balance->epsilon_spent =
        is_zero(&balance->committed) ? 0 : at_most(&balance->committed, delta);
    balance->epsilon_held = is_zero(&balance->held) ? 0 : all - balance->epsilon_spent;
    balance->epsilon_remaining = rate > 0 ? at_least(&remaining, delta) : 0;
    balance->fraction_remaining = fraction;
}
