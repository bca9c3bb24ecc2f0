#include "accountant/share.h"

#include <math.h>

#include "accountant/mechanisms/round_up.h"

/* The double next to part / whole that is not below it; whole > 0. */
static double divide_up(double part, double whole)
{
    double share = part / whole;
    return fma(share, whole, -part) < 0 ? nextafter(share, INFINITY) : share;
}

struct share share_at(const struct balance *balance, size_t place)
{
    size_t at = balance->weighted[place];
    double capacity = balance->capacity[place];
    double spent = balance->committed.at[at], held = balance->held.at[at];
    double taken = round_up_add(spent, held);
    struct share share = {.order = curve_orders[at],
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

size_t share_place(const struct balance *balance)
{
    size_t best = 0;
    for (size_t i = 1; i < LEDGER_WEIGHTED; i++)
        if (share_at(balance, i).left > share_at(balance, best).left)
            best = i;
    return best;
}

struct share share_of(const struct balance *balance)
{
    return share_at(balance, share_place(balance));
}

struct share_asked share_asked(const struct balance *balance, size_t place,
                               const struct curve *charge)
{
    size_t at = balance->weighted[place];
    double capacity = balance->capacity[place], asked = charge->at[at];
    double taken = round_up_add(balance->committed.at[at], balance->held.at[at]);
    if (!(capacity > 0) || isinf(asked))
        return (struct share_asked){INFINITY, false};
    return (struct share_asked){divide_up(asked, capacity),
                                round_up_add(taken, asked) <= capacity};
}
