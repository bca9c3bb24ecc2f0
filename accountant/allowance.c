#include "accountant/allowance.h"

#include "accountant/upward.h"

enum status allowance_init(struct allowance *allowance, const struct mechanism *m,
                           struct error *error)
{
    *allowance = (struct allowance){.relation = m->relation};
    return curve_of(&allowance->reserved, m, mechanism_steps(m), error);
}

void allowance_fini(struct allowance *allowance)
{
    mechanism_fini(&allowance->ran);
    *allowance = (struct allowance){0};
}

/* What count steps like step cost after before, at order i. */
static double spent(const struct allowance *allowance, uint64_t count, size_t i)
{
    return upward_add(allowance->before.at[i],
                      upward_mul(upward_count(count), allowance->step.at[i]));
}

static bool fits(const struct allowance *allowance, uint64_t count)
{
    size_t i = 0;
    while (i < CURVE_ORDERS && spent(allowance, count, i) <= allowance->reserved.at[i])
        i++;
    return i == CURVE_ORDERS;
}

/* before and step as a run of other steps would begin; false: it has no price. */
static bool turn(struct allowance *allowance, const struct mechanism_run *run)
{
    const struct mechanism *ran = &allowance->ran;
    struct mechanism one;
    uint64_t count = ran->run_count > 0 ? ran->runs[ran->run_count - 1].steps : 0;
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        allowance->before.at[i] = spent(allowance, count, i);
    mechanism_init(&one, MECHANISM_SAMPLED_GAUSSIAN, allowance->relation, *run);
    enum status status = curve_of(&allowance->step, &one, 1, NULL);
    mechanism_fini(&one);
    return status == ST_OK;
}

static void keep(struct allowance *allowance, const struct mechanism_run *run)
{
    if (allowance->ran.run_count == 0)
        mechanism_init(&allowance->ran, MECHANISM_SAMPLED_GAUSSIAN, allowance->relation,
                       *run);
    else
        mechanism_append(&allowance->ran, *run);
}

bool allowance_take(struct allowance *allowance, const struct mechanism_run *step)
{
    const struct mechanism *ran = &allowance->ran;
    const struct mechanism_run *last =
        ran->run_count > 0 ? &ran->runs[ran->run_count - 1] : NULL;
    struct mechanism_run one = {step->sampling_rate, step->noise_multiplier, 1};
    struct allowance trial = *allowance;
    bool alike = last != NULL && last->sampling_rate == one.sampling_rate &&
                 last->noise_multiplier == one.noise_multiplier;
    if (!alike && (ran->run_count == MECHANISM_RUNS_MAX || !turn(&trial, &one)))
        return false;
    if (!fits(&trial, alike ? last->steps + 1 : 1))
        return false;
    *allowance = trial;
    keep(allowance, &one);
    return true;
}

bool allowance_begins(const struct mechanism *m)
{
    const struct mechanism_run *run = &m->runs[0];
    const struct mechanism_run first = {
        run->sampling_rate, run->noise_multiplier * m->filter.noise_share, 1};
    struct allowance allowance = {0};
    bool begins = allowance_init(&allowance, m, NULL) == ST_OK &&
                  allowance_take(&allowance, &first);
    allowance_fini(&allowance);
    return begins;
}
