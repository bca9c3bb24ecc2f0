#include "accountant/pricing/cost.h"

#include "accountant/mechanisms/round_up.h"

static enum status check_run(const struct mechanism_run *run, bool takes_every_record,
                             size_t i, struct error *error)
{
    if (!(run->sampling_rate > 0 && run->sampling_rate <= 1))
        return error_set(error, ST_INVALID, "run %zu: sampling rate outside (0, 1]", i);
    if (takes_every_record && run->sampling_rate != 1)
        return error_set(error, ST_INVALID,
                         "run %zu: the mechanism takes every record, rate 1", i);
    if (!(run->noise_multiplier >= RDP_NOISE_MIN &&
          run->noise_multiplier <= RDP_NOISE_MAX))
        return error_set(error, ST_INVALID,
                         "run %zu: noise multiplier outside [%g, %g]", i, RDP_NOISE_MIN,
                         RDP_NOISE_MAX);
    return ST_OK;
}

enum status cost_supports(const struct mechanism *m, struct error *error)
{
    const struct proof *proof = proof_of(m->kind);
    uint64_t total = 0;
    if (m->relation != RELATION_ZERO_OUT && m->relation != RELATION_REPLACE_ONE)
        return error_set(error, ST_INVALID, "unknown relation");
    if (proof == NULL)
        return error_set(error, ST_INVALID, "unknown kind of mechanism");
    if (m->run_count == 0)
        return error_set(error, ST_INVALID, "a mechanism has at least one run");
    for (size_t i = 0; i < m->run_count; i++) {
        uint64_t steps = m->runs[i].steps;
        enum status status =
            check_run(&m->runs[i], proof->takes_every_record, i, error);
        if (status != ST_OK)
            return status;
        if (steps == 0 || total + steps < total)
            return error_set(error, ST_INVALID, "run %zu: no steps, or too many", i);
        total += steps;
    }
    return proof->supports != NULL ? proof->supports(m, error) : ST_OK;
}

bool cost_has_runs(const struct mechanism *m)
{
    return proof_of(m->kind)->run_rdp != NULL;
}

double cost_terms(const struct mechanism *m)
{
    const struct proof *proof = proof_of(m->kind);
    double terms = 0;
    for (size_t i = 0; i < m->run_count && proof->run_terms != NULL; i++)
        terms += proof->run_terms(m, i);
    return terms;
}

double cost_of_run(struct proof_scratch *scratch, const struct mechanism *m, size_t run,
                   uint64_t count, double order)
{
    return proof_of(m->kind)->run_rdp(scratch, m, run, count, order);
}

double cost_of(struct proof_scratch *scratch, const struct mechanism *m, uint64_t steps,
               double order)
{
    double total = 0;
    if (steps > 0 && !m->prefixes_priced)
        steps = mechanism_steps(m);
    if (!cost_has_runs(m))
        return proof_of(m->kind)->path_rdp(scratch, m, steps, order);
    for (size_t i = 0; i < m->run_count && steps > 0; i++) {
        uint64_t count = steps < m->runs[i].steps ? steps : m->runs[i].steps;
        total = round_up_add(total, cost_of_run(scratch, m, i, count, order));
        steps -= count;
    }
    return total;
}

double cost_delta(const struct mechanism *m)
{
    const struct proof *proof = proof_of(m->kind);
    return proof->delta != NULL ? proof->delta(m) : 0;
}
