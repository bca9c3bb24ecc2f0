#include "accountant/pricing/curve.h"

#include "accountant/mechanisms/round_up.h"
#include "accountant/pricing/cost.h"

/* The orders are inside and the runs outside, so that what was computed of a run serves
 * all its orders. */
static void add_runs(struct curve *curve, const struct mechanism *m, uint64_t steps)
{
    struct proof_scratch scratch = {0};
    for (size_t run = 0; run < m->run_count && steps > 0; run++) {
        uint64_t count = steps < m->runs[run].steps ? steps : m->runs[run].steps;
        for (size_t i = 0; i < CURVE_ORDERS; i++) {
            double added = cost_of_run(&scratch, m, run, count, curve_orders[i]);
            curve->at[i] = round_up_add(curve->at[i], added);
        }
        steps -= count;
    }
}

enum status curve_of(struct curve *curve, const struct mechanism *m, uint64_t steps,
                     struct error *error)
{
    enum status status = cost_supports(m, error);
    if (status != ST_OK)
        return status;
    uint64_t total = mechanism_steps(m);
    if (steps > total)
        return error_set(error, ST_INVALID, "%llu steps asked of a mechanism of %llu",
                         (unsigned long long)steps, (unsigned long long)total);
    if (steps > 0 && !m->prefixes_priced)
        steps = total;
    *curve = (struct curve){.delta = steps > 0 ? cost_delta(m) : 0};
    if (cost_has_runs(m)) {
        add_runs(curve, m, steps);
        return ST_OK;
    }
    struct proof_scratch scratch = {0};
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        curve->at[i] = cost_of(&scratch, m, steps, curve_orders[i]);
    return ST_OK;
}

void curve_add(struct curve *sum, const struct curve *addend)
{
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        sum->at[i] = round_up_add(sum->at[i], addend->at[i]);
    sum->delta = round_up_add(sum->delta, addend->delta);
}
