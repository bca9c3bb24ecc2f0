#include "accountant/cost.h"

#include <math.h>
#include <stdbool.h>

#include "accountant/curve.h"
#include "accountant/mechanisms/error_feedback.h"
#include "accountant/mechanisms/laplace.h"
#include "accountant/mechanisms/round_up.h"
#include "base/check.h"

static bool kind_known(enum mechanism_kind kind)
{
    switch (kind) {
    case MECHANISM_SAMPLED_GAUSSIAN:
    case MECHANISM_GAUSSIAN:
    case MECHANISM_FIXED_SUBSET:
    case MECHANISM_LAPLACE:
    case MECHANISM_ERROR_FEEDBACK:
    case MECHANISM_FILTERED_GAUSSIAN: return true;
    }
    return false;
}

static bool takes_all(enum mechanism_kind kind)
{
    return kind == MECHANISM_GAUSSIAN || kind == MECHANISM_LAPLACE;
}

enum status cost_supports(const struct mechanism *m, struct error *error)
{
    if (m->relation != RELATION_ZERO_OUT && m->relation != RELATION_REPLACE_ONE)
        return error_set(error, ST_INVALID, "unknown relation");
    if (!kind_known(m->kind))
        return error_set(error, ST_INVALID, "unknown kind of mechanism");
    if (m->run_count == 0)
        return error_set(error, ST_INVALID, "a mechanism has at least one run");
    if (m->kind == MECHANISM_FILTERED_GAUSSIAN && !mechanism_filter_valid(m))
        return error_set(error, ST_INVALID, "a filter that does not fit its run");
    uint64_t total = 0;
    for (size_t i = 0; i < m->run_count; i++) {
        const struct mechanism_run *run = &m->runs[i];
        if (!(run->sampling_rate > 0 && run->sampling_rate <= 1))
            return error_set(error, ST_INVALID, "run %zu: sampling rate outside (0, 1]",
                             i);
        if (takes_all(m->kind) && run->sampling_rate != 1)
            return error_set(error, ST_INVALID,
                             "run %zu: the mechanism takes every record, rate 1", i);
        if (!(run->noise_multiplier >= RDP_NOISE_MIN &&
              run->noise_multiplier <= RDP_NOISE_MAX))
            return error_set(error, ST_INVALID,
                             "run %zu: noise multiplier outside [%g, %g]", i,
                             RDP_NOISE_MIN, RDP_NOISE_MAX);
        if (run->steps == 0 || total + run->steps < total)
            return error_set(error, ST_INVALID, "run %zu: no steps, or too many", i);
        total += run->steps;
    }
    if (!mechanism_turns_valid(m))
        return error_set(error, ST_INVALID, "turns that do not fit the runs");
    return m->kind == MECHANISM_ERROR_FEEDBACK ? error_feedback_supports(m, error)
                                               : ST_OK;
}

/* In a subset of fixed size another record takes the place of an absent one. */
double cost_distance(const struct mechanism *m, size_t run)
{
    bool replaced = m->kind == MECHANISM_FIXED_SUBSET && m->runs[run].sampling_rate < 1;
    return m->relation == RELATION_REPLACE_ONE || replaced ? 2 : 1;
}

static double step_cost(struct cost *cost, const struct mechanism *m, size_t run,
                        double order)
{
    const struct mechanism_run *r = &m->runs[run];
    switch (m->kind) {
    case MECHANISM_LAPLACE:
        /* Scales up to 1e6 halve exactly. */
        return laplace_rdp(r->noise_multiplier / cost_distance(m, run), order);
    case MECHANISM_FIXED_SUBSET:
        if (r->sampling_rate < 1)
            return fixed_subset_rdp(&cost->subset, r->sampling_rate,
                                    r->noise_multiplier, order);
        break;
    case MECHANISM_SAMPLED_GAUSSIAN:
    case MECHANISM_GAUSSIAN: break;
    case MECHANISM_FILTERED_GAUSSIAN:
    case MECHANISM_ERROR_FEEDBACK: CHECK(!"it has no steps that are priced alone");
    }
    rdp_set(&cost->rdp, m->relation, r);
    return rdp_at(&cost->rdp, order);
}

/* Of any first runs, no group had more turns than the one that began: whoever has turn k
 * had one of the turns 0, turns, 2 turns, .. for each of its own, and those are
 * charged. */
static bool charged_already(const struct mechanism *m, size_t run)
{
    return m->turns > 0 && run % 2 == 1 && run / 2 % m->turns != 0;
}

double cost_of_run(struct cost *cost, const struct mechanism *m, size_t run,
                   uint64_t count, double order)
{
    if (charged_already(m, run))
        return 0;
    return round_up_mul(round_up_count(count), step_cost(cost, m, run, order));
}

/* Of a filtered run at an order of the grid: that of its run, or above the filter's
 * orders that of as many steps at the least noise. */
static double filtered_cost(struct cost *cost, const struct mechanism *m, double order)
{
    struct mechanism_run run = m->runs[0];
    if (order > m->filter.order_max)
        run.noise_multiplier *= m->filter.noise_share;
    rdp_set(&cost->rdp, m->relation, &run);
    return round_up_mul(round_up_count(run.steps), rdp_at(&cost->rdp, order));
}

/* A filtered run is bounded at the orders of the grid alone. Between two of them (a - 1)
 * times a divergence is convex in a, so the chord bounds it; below the first the first
 * one does. */
static double between_orders(struct cost *cost, const struct mechanism *m, double order)
{
    static const double margin = 1 + 0x1p-48; /* of ten operations and more */
    size_t next = 0;
    while (next < CURVE_ORDERS - 1 && curve_orders[next] < order)
        next++;
    double high = curve_orders[next], above = filtered_cost(cost, m, high);
    if (next == 0 || high <= order || isinf(above))
        return high < order ? (double)INFINITY : above;
    double low = curve_orders[next - 1], below = filtered_cost(cost, m, low);
    double share = (order - low) / (high - low);
    double chord = (1 - share) * (low - 1) * below + share * (high - 1) * above;
    return chord / (order - 1) * margin;
}

double cost_of(struct cost *cost, const struct mechanism *m, uint64_t steps,
               double order)
{
    double total = 0;
    if (steps > 0 && !m->prefixes_priced)
        steps = mechanism_steps(m);
    if (m->kind == MECHANISM_ERROR_FEEDBACK)
        return error_feedback_rdp(m, steps, order);
    if (m->kind == MECHANISM_FILTERED_GAUSSIAN)
        return steps > 0 ? between_orders(cost, m, order) : 0;
    for (size_t i = 0; i < m->run_count && steps > 0; i++) {
        uint64_t count = steps < m->runs[i].steps ? steps : m->runs[i].steps;
        total = round_up_add(total, cost_of_run(cost, m, i, count, order));
        steps -= count;
    }
    return total;
}
