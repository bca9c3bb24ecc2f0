#include "accountant/pricing/budget_share.h"

#include <math.h>

#include "accountant/mechanisms/round_up.h"

/* The double next to part / whole that is not below it; whole > 0. */
static double divide_up(double part, double whole)
{
    double share = part / whole;
    return fma(share, whole, -part) < 0 ? nextafter(share, INFINITY) : share;
}

struct budget_share budget_share_at(const struct balance *balance, size_t place)
{
    size_t at = balance->weighted[place];
    double capacity = balance->capacity[place];
    double spent = balance->committed.at[at], held = balance->held.at[at];
    double taken = round_up_add(spent, held);
    struct budget_share share = {.order = curve_orders[at],
                                 .weight = balance->weights[place],
                                 .spent = INFINITY,
                                 .held = INFINITY,
                                 .left = -INFINITY};
    if (!(capacity > 0) || isinf(taken))
        return share;
    share.spent = divide_up(spent, capacity);
    share.held = divide_up(held, capacity);
    share.left = 0 - divide_up(taken - capacity, capacity);
    return share;
}

size_t budget_share_place(const struct balance *balance)
{
    size_t best = 0;
    for (size_t i = 1; i < LEDGER_WEIGHTED; i++)
        if (budget_share_at(balance, i).left > budget_share_at(balance, best).left)
            best = i;
    return best;
}

struct budget_share budget_share_of(const struct balance *balance)
{
    return budget_share_at(balance, budget_share_place(balance));
}

struct budget_share_asked budget_share_asked(const struct balance *balance,
                                             size_t place, const struct curve *charge)
{
    size_t at = balance->weighted[place];
    double capacity = balance->capacity[place], asked = charge->at[at];
    double taken = round_up_add(balance->committed.at[at], balance->held.at[at]);
    if (!(capacity > 0) || isinf(asked))
        return (struct budget_share_asked){INFINITY, false};
    return (struct budget_share_asked){divide_up(asked, capacity),
                                       round_up_add(taken, asked) <= capacity};
}
