/* A grant is turned into a filter once: its two weighted orders, and at each the
 * capacity B, from which a margin for every rounding is subtracted before it is rounded
 * down. From then on charges and sums are multiples of FILTER_UNIT, and a charge fits
 * by a plain comparison of doubles. */
#include "accountant/pricing/filter.h"

#include <math.h>
#include <stdbool.h>

static const double epsilon_max = 1000;  /* api.md, limits */
static const double delta_min = 0x1p-39; /* exclusive: noise.md 5 */
static const double main_weight = 0.75;  /* ledger.md 3: best of some 230 choices */
static const double second_place = 0.65; /* of main order - 1; from the same choices */

/* B(a) is a sum of terms, each within 2 units in the last place (logarithms) and added
 * in five roundings. 16 half units of the sum of their magnitudes cover all of it. */
static const double capacity_margin = 16 * 0x1p-53;

static const double exact_from =
    0x1p12; /* from here doubles are multiples of the unit */

/* The exact error of the difference decides whether it must be moved down. */
static double rest_of(double delta, double part)
{
    double difference = delta - part;
    return delta - difference < part ? nextafter(difference, 0) : difference;
}

double filter_delta(double delta)
{
    return rest_of(delta, LEDGER_NOISE_DELTA);
}

double grant_curve_delta(const struct grant *grant)
{
    return rest_of(grant->delta, grant->discovery_delta);
}

static double floor_to_unit(double x)
{
    return fabs(x) >= exact_from ? x : floor(x / FILTER_UNIT) * FILTER_UNIT;
}

/* B(a) = epsilon - ln(1 - 1/a) + (ln a + ln w + ln delta) / (a - 1), never above the
 * true value. This uses ln c_a = (a - 1) ln(1 - 1/a) - ln a. */
static double capacity_of(double order, double weight, double epsilon, double delta)
{
    double logs = log(order) + (log(weight) + log(delta));
    double magnitude =
        (log(order) + fabs(log(weight)) + fabs(log(delta))) / (order - 1);
    double first = log1p(-1 / order);
    double capacity = epsilon - first + logs / (order - 1);
    double margin = capacity_margin * (epsilon + fabs(first) + magnitude);
    return floor_to_unit(capacity - margin);
}

static size_t main_order(const struct grant *grant, double delta)
{
    size_t best = 0;
    double best_rate = -INFINITY;
    if (grant->order != 0)
        return curve_order_index(grant->order);
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        double order = curve_orders[i];
        double rate = capacity_of(order, 1, grant->epsilon, delta) / order;
        if (rate > best_rate) {
            best_rate = rate;
            best = i;
        }
    }
    return best;
}

static size_t second_order(size_t main_index)
{
    double wanted = 1 + second_place * (curve_orders[main_index] - 1);
    size_t best = CURVE_ORDERS;
    for (size_t i = 0; i < CURVE_ORDERS; i++) {
        if (i == main_index)
            continue;
        if (best == CURVE_ORDERS ||
            fabs(curve_orders[i] - wanted) <= fabs(curve_orders[best] - wanted))
            best = i;
    }
    return best;
}

static enum status check_grant(const struct grant *grant, struct error *error)
{
    if (!(grant->epsilon > 0 && grant->epsilon <= epsilon_max))
        return error_set_at(error, ST_INVALID, "/privacy/epsilon",
                            "epsilon must be in (0, 1000]");
    if (!(grant->delta > delta_min && grant->delta < 1))
        return error_set_at(error, ST_INVALID, "/privacy/delta",
                            "delta must be in (2^-39, 1)");
    if (!(grant->discovery_delta >= 0 && grant_curve_delta(grant) > delta_min))
        return error_set_at(error, ST_INVALID, "/privacy/discovery_delta",
                            "discovery_delta must be at least 0, and leave more "
                            "than 2^-39 of delta");
    if (grant->order != 0 && curve_order_index(grant->order) == CURVE_ORDERS)
        return error_set_at(error, ST_INVALID, "/privacy/order",
                            "order must be one of the grid g1");
    if (!division_valid(&grant->division))
        return error_set_at(error, ST_INVALID, "/holdout",
                            "holdout must be in [2^-20, 0.5]");
    return ST_OK;
}

bool grant_same(const struct grant *a, const struct grant *b)
{
    return a->relation == b->relation && a->unit == b->unit &&
           a->epsilon == b->epsilon && a->delta == b->delta &&
           a->discovery_delta == b->discovery_delta && a->order == b->order &&
           division_same(&a->division, &b->division);
}

enum status filter_of(struct filter *filter, const struct grant *grant,
                      struct error *error)
{
    enum status status = check_grant(grant, error);
    if (status != ST_OK)
        return status;
    double delta = filter_delta(grant_curve_delta(grant));
    struct filter made = {.weights = {main_weight, 1 - main_weight},
                          .delta_capacity =
                              filter_delta_round_down(grant->discovery_delta)};
    bool room = false;
    made.weighted[0] = main_order(grant, delta);
    made.weighted[1] = second_order(made.weighted[0]);
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        made.capacity[i] = capacity_of(curve_orders[made.weighted[i]], made.weights[i],
                                       grant->epsilon, delta);
        room = room || made.capacity[i] > 0;
    }
    if (!room)
        return error_set_at(error, ST_INVALID, "/privacy/epsilon",
                            "epsilon is too small for delta: no order has a capacity");
    *filter = made;
    return ST_OK;
}

double filter_round_up(double cost)
{
    return cost >= exact_from ? cost : ceil(cost / FILTER_UNIT) * FILTER_UNIT;
}

double filter_delta_round_up(double delta)
{
    return ceil(delta / FILTER_DELTA_UNIT) * FILTER_DELTA_UNIT;
}

double filter_delta_round_down(double delta)
{
    return floor(delta / FILTER_DELTA_UNIT) * FILTER_DELTA_UNIT;
}

enum status filter_charge(struct curve *charge, const struct mechanism *m,
                          uint64_t steps, struct error *error)
{
    enum status status = curve_of(charge, m, steps, error);
    for (size_t i = 0; status == ST_OK && i < CURVE_ORDERS; i++)
        charge->at[i] = filter_round_up(charge->at[i]);
    if (status == ST_OK)
        charge->delta = filter_delta_round_up(charge->delta);
    return status;
}

/* The sums are taken in the same order as those of the balances once the charge is
 * held. */
static bool fits(const struct filter *filter, const struct curve *committed,
                 const struct curve *held, const struct curve *charge)
{
    struct curve sum = *held;
    curve_add(&sum, charge);
    curve_add(&sum, committed);
    if (!(sum.delta <= filter->delta_capacity))
        return false;
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        if (sum.at[filter->weighted[i]] <= filter->capacity[i])
            return true;
    }
    return false;
}

enum ledger_fits filter_fits(const struct filter *filter, const struct curve *committed,
                             const struct curve *held, const struct curve *charge)
{
    static const struct curve nothing = {.delta = 0};
    if (fits(filter, committed, held, charge))
        return FITS_YES;
    return fits(filter, committed, &nothing, charge) ? FITS_HELD : FITS_NO;
}

/* Returns how often a delta fits in addition to those that were taken. All are whole
 * numbers of FILTER_DELTA_UNIT. */
static uint64_t delta_times(const struct filter *filter, double taken, double one,
                            uint64_t most)
{
    double room = filter->delta_capacity - taken;
    if (!(room >= one))
        return 0;
    if (one == 0)
        return most;
    uint64_t times =
        (uint64_t)(room / FILTER_DELTA_UNIT) / (uint64_t)(one / FILTER_DELTA_UNIT);
    return times < most ? times : most;
}

/* Sums within a capacity are whole numbers of FILTER_UNIT, so dividing them as integers
 * gives the same result as adding charge after charge. */
uint64_t filter_times(const struct filter *filter, const struct curve *committed,
                      const struct curve *held, const struct curve *charge,
                      uint64_t most)
{
    uint64_t times = 0;
    struct curve taken = *held;
    curve_add(&taken, committed);
    for (size_t i = 0; i < LEDGER_WEIGHTED; i++) {
        double room = filter->capacity[i] - taken.at[filter->weighted[i]];
        double one = charge->at[filter->weighted[i]];
        if (!(room >= one))
            continue;
        uint64_t here =
            one > 0 ? (uint64_t)(room / FILTER_UNIT) / (uint64_t)(one / FILTER_UNIT)
                    : most;
        times = here > times ? here : times;
    }
    return delta_times(filter, taken.delta, charge->delta, times < most ? times : most);
}
