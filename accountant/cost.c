#include "accountant/cost.h"

#include <stdbool.h>

#include "accountant/feedback.h"
#include "accountant/laplace.h"
#include "accountant/upward.h"
#include "base/check.h"

static bool kind_known(enum mechanism_kind kind)
{
    switch (kind) {
    case MECHANISM_SAMPLED_GAUSSIAN:
    case MECHANISM_GAUSSIAN:
    case MECHANISM_FIXED_SUBSET:
    case MECHANISM_LAPLACE:
    case MECHANISM_ERROR_FEEDBACK: return true;
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
    return m->kind == MECHANISM_ERROR_FEEDBACK ? feedback_supports(m, error) : ST_OK;
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
            return subset_rdp(&cost->subset, r->sampling_rate, r->noise_multiplier,
                              order);
        break;
    case MECHANISM_SAMPLED_GAUSSIAN:
    case MECHANISM_GAUSSIAN: break;
    case MECHANISM_ERROR_FEEDBACK: CHECK(!"an error feedback has no steps of its own");
    }
    rdp_set(&cost->rdp, m->relation, r);
    return rdp_at(&cost->rdp, order);
}

double cost_of_run(struct cost *cost, const struct mechanism *m, size_t run,
                   uint64_t count, double order)
{
    return upward_mul(upward_count(count), step_cost(cost, m, run, order));
}

double cost_of(struct cost *cost, const struct mechanism *m, uint64_t steps,
               double order)
{
    double total = 0;
    if (steps > 0 && !m->prefixes_priced)
        steps = mechanism_steps(m);
    if (m->kind == MECHANISM_ERROR_FEEDBACK)
        return feedback_rdp(m, steps, order);
    for (size_t i = 0; i < m->run_count && steps > 0; i++) {
        uint64_t count = steps < m->runs[i].steps ? steps : m->runs[i].steps;
        total = upward_add(total, cost_of_run(cost, m, i, count, order));
        steps -= count;
    }
    return total;
}
