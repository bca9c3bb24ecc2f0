#include "accountant/pricing/budget_spent.h"

#include <math.h>

#include "accountant/pricing/conversion.h"

/* conversion_curve rounds up by at most 2^-48 of terms that are below 2^12 nats
 * together. That is subtracted again if the figure must not be too high. */
static const double conversion_slack = 0x1p-36;

static bool is_zero(const struct curve *curve)
{
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        if (curve->at[i] != 0)
            return false;
    }
    return true;
}

double budget_spent_epsilon(const struct curve *committed, double delta)
{
    return is_zero(committed) ? 0
                              : conversion_curve(committed, filter_delta(delta), NULL);
}

void budget_spent_of(struct balance *balance)
{
    double delta = filter_delta(balance->curve_delta), rate = 0, fraction = 0;
    struct curve sum = balance->committed, remaining = {0};
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
    double all = budget_spent_epsilon(&sum, balance->curve_delta);
    balance->epsilon_spent =
        budget_spent_epsilon(&balance->committed, balance->curve_delta);
    balance->epsilon_held = is_zero(&balance->held) ? 0 : all - balance->epsilon_spent;
    balance->epsilon_remaining =
        rate > 0 ? fmax(0, conversion_curve(&remaining, delta, NULL) - conversion_slack)
                 : 0;
    balance->fraction_remaining = fraction;
}

double budget_spent_ceiling(const struct balance *balance, double delta)
{
    double ceiling = 0;
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        size_t at = balance->weighted[i];
        double left =
            balance->capacity[i] - balance->committed.at[at] - balance->held.at[at];
        if (left > 0)
            ceiling = fmax(ceiling, conversion_epsilon(left, curve_orders[at],
                                                       filter_delta(delta)));
    }
    return fmin(ceiling, LEDGER_EPSILON_MAX);
}
