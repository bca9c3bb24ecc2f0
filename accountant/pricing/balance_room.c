/* The room of a balance is found by calibration, like the inverse questions of figures.c,
 * but with the sums that the ledger itself makes, so that "fits" here is "fits"
 * there. */
#include "accountant/pricing/balance_room.h"

#include <math.h>

#include "accountant/mechanisms/round_up.h"
#include "accountant/pricing/calibration.h"
#include "accountant/pricing/cost.h"
#include "accountant/pricing/figures.h"

struct asked {
    const struct balance *balance;
    double fraction; /* of what is left in it */
    struct proof_scratch scratch;
};

/* Returns, as a log ratio, how far a mechanism of this cost is from fitting at one
 * weighted order. Sums are taken in both groupings that the ledger may use, so that a
 * full fraction fits there too. */
static double room_excess(const struct asked *asked, size_t weighted, double cost)
{
    const struct balance *b = asked->balance;
    size_t i = b->weighted[weighted];
    double used = round_up_add(b->committed.at[i], b->held.at[i]);
    double room = b->capacity[weighted] - used;
    if (!(room > 0))
        return INFINITY;
    double allowed = asked->fraction * room;
    double one = round_up_add(used, cost);
    double other = round_up_add(b->committed.at[i], round_up_add(b->held.at[i], cost));
    if (cost <= allowed && fmax(one, other) <= b->capacity[weighted])
        return fmin(0, log(cost / allowed));
    return fmax(0x1p-60, log(cost / allowed));
}

static double balance_excess(void *context, const struct mechanism *m)
{
    struct asked *asked = context;
    double least = INFINITY;
    if (cost_terms(m) > FIGURE_TERMS_MAX)
        return INFINITY;
    for (size_t w = 0; w < LEDGER_WEIGHTED; w++) {
        double order = curve_orders[asked->balance->weighted[w]];
        double charge = cost_of(&asked->scratch, m, mechanism_steps(m), order);
        least = fmin(least, room_excess(asked, w, filter_round_up(charge)));
    }
    return least;
}

enum status balance_room_noise(double *noise_multiplier, const struct mechanism *m,
                               const struct balance *balance, double fraction,
                               struct error *error)
{
    enum status status = cost_supports(m, error);
    if (status != ST_OK)
        return status;
    if (!(fraction > 0 && fraction <= 1))
        return error_set(error, ST_INVALID, "budget_fraction outside (0, 1]");
    struct asked asked = {.balance = balance, .fraction = fraction};
    struct calibration c = {balance_excess, &asked};
    if (calibration_noise(noise_multiplier, m, c))
        return ST_OK;
    struct balance settled = *balance;
    settled.held = (struct curve){0};
    asked.balance = &settled;
    double unused;
    if (calibration_noise(&unused, m, c))
        return error_set(error, ST_BUDGET_HELD, "open reservations hold what is left");
    return error_set(error, ST_BUDGET_EXHAUSTED, "nothing is left of the budget");
}

enum status balance_room_find(struct balance_room *room, const struct mechanism *m,
                              const struct balance *balance, double delta,
                              struct error *error)
{
    enum status status = cost_supports(m, error);
    if (status == ST_OK)
        status = figure_check_delta(delta, error);
    if (status != ST_OK)
        return status;
    struct asked asked = {.balance = balance, .fraction = 1};
    struct calibration c = {balance_excess, &asked};
    double noise;
    struct mechanism fitting = {0};
    struct figure figure = {0};
    uint64_t most_steps = m->run_count == 1 ? calibration_steps(m, c) : 0;
    if (calibration_noise(&noise, m, c)) {
        mechanism_copy(&fitting, m);
        calibration_scale(&fitting, m, noise);
        status = figure_epsilon(&figure, &fitting, mechanism_steps(m), delta, error);
        mechanism_fini(&fitting);
    }
    if (status == ST_OK)
        *room = (struct balance_room){figure.epsilon, most_steps};
    return status;
}
