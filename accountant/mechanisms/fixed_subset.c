/* The kind fixed_subset: Gaussian sums over uniform subsets of a fixed size, by
 * themselves or with groups of records that take turns at them. */
#include "accountant/mechanisms/gaussian_steps.h"
#include "accountant/mechanisms/outside.h"
#include "accountant/mechanisms/round_up.h"

static enum status supports(const struct mechanism *m, struct error *error)
{
    if (!mechanism_extra_valid(m))
        return error_set(error, ST_INVALID, "turns that do not fit the runs");
    return ST_OK;
}

/* In a subset of fixed size another record takes the place of an absent one. */
static double distance(const struct mechanism *m, size_t run)
{
    bool replaced = m->runs[run].sampling_rate < 1;
    return m->relation == RELATION_REPLACE_ONE || replaced ? 2 : 1;
}

/* Among any first runs, no group had more turns than the one that began: before each
 * turn of another group, it had one of its own. So the turns of that group, which are
 * the multiples of turns, are charged, and they pay for all groups. */
static bool charged_already(const struct mechanism *m, size_t run)
{
    return m->turns > 0 && run % 2 == 1 && run / 2 % m->turns != 0;
}

static double run_rdp(struct proof_scratch *scratch, const struct mechanism *m,
                      size_t run, uint64_t count, double order)
{
    const struct mechanism_run *r = &m->runs[run];
    if (charged_already(m, run))
        return 0;
    if (r->sampling_rate == 1)
        return gaussian_steps_rdp(scratch, m, run, count, order);
    double step = fixed_subset_rdp(&scratch->subset, r->sampling_rate,
                                   r->noise_multiplier, order);
    return round_up_mul(round_up_count(count), step);
}

/* Moments are kept for all orders of one noise multiplier, and answers for more runs
 * than a cycle of releases has, so a run like one of the two before it takes no work. */
static double run_terms(const struct mechanism *m, size_t run)
{
    static const double terms = 1000;
    const struct mechanism_run *r = &m->runs[run];
    for (size_t back = 1; back <= 2 && back <= run; back++)
        if (r[-(ptrdiff_t)back].noise_multiplier == r->noise_multiplier &&
            r[-(ptrdiff_t)back].sampling_rate == r->sampling_rate)
            return 0;
    return r->sampling_rate == 1 ? 0 : terms;
}

static const char *const samplers[] = {"without_replacement", NULL};
static const struct outside outside = {
    .parameter = "noise_multiplier", .samplers = samplers, .has_rate = true};

const struct proof fixed_subset = {
    .has_rate = true,
    .supports = supports,
    .distance = distance,
    .run_rdp = run_rdp,
    .run_terms = run_terms,
    .energy = gaussian_steps_energy,
    .outside = &outside,
};
