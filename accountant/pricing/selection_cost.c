#include "accountant/pricing/selection_cost.h"

#include <math.h>

#include "accountant/mechanisms/round_up.h"
#include "accountant/pricing/conversion.h"
#include "accountant/pricing/cost.h"
#include "accountant/pricing/filter.h"
#include "accountant/pricing/order.h"
#include "base/check.h"

static const double cut_delta =
    1e-20; /* delta_2: the runs are cut off before they stop */
static const double cut_log = 46.051701859880914; /* ln(1 / cut_delta) */

/* The most by which the noise of one run may be off: (1 + e^epsilon) (2^-85 + 2^-86)
 * over the life of a dataset (noise.md 5), and so of one run too. This number holds for
 * epsilon up to 8. */
static const double noise_delta = 0x1p-72;
static const double noise_epsilon_max = 8;

struct price {
    const struct mechanism *m;
    double runs, delta;
    struct proof_scratch scratch;
};

static double epsilon_at(void *context, double order)
{
    struct price *price = context;
    double rdp = cost_of(&price->scratch, price->m, mechanism_steps(price->m), order);
    return conversion_epsilon(round_up_mul(rdp, price->runs), order, price->delta);
}

/* The epsilon of runs runs of m together. */
static double epsilon_of(const struct mechanism *m, double runs, double delta)
{
    struct price price = {.m = m, .runs = runs, .delta = delta};
    return order_best(epsilon_at, &price).value;
}

static double random_stopping(const struct mechanism *m, double runs, double delta)
{
    double share = (delta - cut_delta) / (6 * runs * cut_log) * (1 - 0x1p-40);
    double delta_1 = share * share / 2 - noise_delta;
    if (!(delta_1 > 0))
        return (double)INFINITY;
    double epsilon_1 = epsilon_of(m, 1, delta_1);
    if (epsilon_1 > noise_epsilon_max)
        return (double)INFINITY;
    return 3 * (epsilon_1 + share) * (1 + 0x1p-40);
}

enum status selection_cost_of(struct selection_cost *tuning, const struct mechanism *m,
                              uint64_t runs, double delta, struct error *error)
{
    enum status status = cost_supports(m, error);
    CHECK(runs >= 1 && runs <= SELECTION_COST_RUNS_MAX);
    if (status != ST_OK)
        return status;
    if (!(delta > 2 * LEDGER_NOISE_DELTA && delta < 1))
        return error_set(error, ST_INVALID, "delta outside (2^-39, 1)");
    *tuning = (struct selection_cost){
        .composed = epsilon_of(m, (double)runs, delta - LEDGER_NOISE_DELTA),
        .random_stopping = random_stopping(m, (double)runs, delta)};
    return ST_OK;
}
