/* Sampled Gaussians whose noise follows from what they released, within a filter
 * (Feldman and Zrnic 2021; papers/adp.md 2.4). run_filter.h keeps the cost of a run, at
 * every order of the grid up to the filter's greatest, within that of one plain run;
 * above that order it costs at most what as many steps at the least noise do. So the
 * kind has bounds only at orders of the grid, has no exact profile, and no privacy loss
 * that is fixed before its first step. */
#include <math.h>

#include "accountant/mechanisms/curve_orders.h"
#include "accountant/mechanisms/proof.h"
#include "accountant/mechanisms/round_up.h"

static enum status supports(const struct mechanism *m, struct error *error)
{
    if (!mechanism_extra_valid(m))
        return error_set(error, ST_INVALID, "a filter that does not fit its run");
    return ST_OK;
}

static struct mechanism_run least_step(const struct mechanism *m)
{
    struct mechanism_run step = m->runs[0];
    step.noise_multiplier *= m->filter.noise_share;
    step.steps = 1;
    return step;
}

/* The cost at an order of the grid. */
static double cost_at(struct proof_scratch *scratch, const struct mechanism *m,
                      double order)
{
    struct mechanism_run run = order > m->filter.order_max ? least_step(m) : m->runs[0];
    rdp_set(&scratch->rdp, m->relation, &run);
    return round_up_mul(round_up_count(m->runs[0].steps), rdp_at(&scratch->rdp, order));
}

/* Between two orders of the grid (a - 1) times a divergence is convex in a, so the
 * chord bounds it; below the first order the first one does. */
static double path_rdp(struct proof_scratch *scratch, const struct mechanism *m,
                       uint64_t steps, double order)
{
    static const double margin = 1 + 0x1p-48; /* covers ten operations and more */
    size_t next = 0;
    if (steps == 0)
        return 0;
    while (next < CURVE_ORDERS - 1 && curve_orders[next] < order)
        next++;
    double high = curve_orders[next], above = cost_at(scratch, m, high);
    if (next == 0 || high <= order || isinf(above))
        return high < order ? (double)INFINITY : above;
    double low = curve_orders[next - 1], below = cost_at(scratch, m, low);
    double share = (order - low) / (high - low);
    double chord = (1 - share) * (low - 1) * below + share * (high - 1) * above;
    return chord / (order - 1) * margin;
}

const struct proof filtered_gaussian = {
    .supports = supports,
    .path_rdp = path_rdp,
    .least_step = least_step,
    .step_kind = MECHANISM_SAMPLED_GAUSSIAN,
};
