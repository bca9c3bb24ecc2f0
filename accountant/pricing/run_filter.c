#include "accountant/pricing/run_filter.h"

#include "accountant/mechanisms/proof.h"
#include "accountant/mechanisms/round_up.h"

bool run_filter_guards(const struct mechanism *m)
{
    return proof_of(m->kind)->least_step != NULL;
}

enum status run_filter_init(struct run_filter *filter, const struct mechanism *m,
                            struct error *error)
{
    *filter = (struct run_filter){.relation = m->relation,
                                  .unit = m->unit,
                                  .step_kind = proof_of(m->kind)->step_kind};
    return curve_of(&filter->reserved, m, mechanism_steps(m), error);
}

void run_filter_fini(struct run_filter *filter)
{
    mechanism_fini(&filter->ran);
    *filter = (struct run_filter){0};
}

/* Returns what is spent at order i by all before and count steps like step. */
static double spent(const struct run_filter *filter, uint64_t count, size_t i)
{
    return round_up_add(filter->before.at[i],
                        round_up_mul(round_up_count(count), filter->step.at[i]));
}

static bool fits(const struct run_filter *filter, uint64_t count)
{
    size_t i = 0;
    while (i < CURVE_ORDERS && spent(filter, count, i) <= filter->reserved.at[i])
        i++;
    return i == CURVE_ORDERS;
}

/* Begins a run of other steps: adds what was spent to before, and prices step again.
 * Returns false if it has no price. */
static bool begin_run(struct run_filter *filter, const struct mechanism_run *run)
{
    const struct mechanism *ran = &filter->ran;
    struct mechanism one;
    uint64_t count = ran->run_count > 0 ? ran->runs[ran->run_count - 1].steps : 0;
    for (size_t i = 0; i < CURVE_ORDERS; i++)
        filter->before.at[i] = spent(filter, count, i);
    mechanism_init(&one, filter->step_kind, filter->relation, *run);
    enum status status = curve_of(&filter->step, &one, 1, NULL);
    mechanism_fini(&one);
    return status == ST_OK;
}

static void keep(struct run_filter *filter, const struct mechanism_run *run)
{
    if (filter->ran.run_count > 0) {
        mechanism_append(&filter->ran, *run);
        return;
    }
    mechanism_init(&filter->ran, filter->step_kind, filter->relation, *run);
    filter->ran.unit = filter->unit;
}

bool run_filter_take(struct run_filter *filter, const struct mechanism_run *step)
{
    const struct mechanism *ran = &filter->ran;
    const struct mechanism_run *last =
        ran->run_count > 0 ? &ran->runs[ran->run_count - 1] : NULL;
    struct mechanism_run one = {step->sampling_rate, step->noise_multiplier, 1};
    struct run_filter trial = *filter;
    bool alike = last != NULL && last->sampling_rate == one.sampling_rate &&
                 last->noise_multiplier == one.noise_multiplier;
    if (!alike && (ran->run_count == MECHANISM_RUNS_MAX || !begin_run(&trial, &one)))
        return false;
    if (!fits(&trial, alike ? last->steps + 1 : 1))
        return false;
    *filter = trial;
    keep(filter, &one);
    return true;
}

bool run_filter_begins(const struct mechanism *m)
{
    struct run_filter filter = {0};
    if (!run_filter_guards(m))
        return true;
    struct mechanism_run first = proof_of(m->kind)->least_step(m);
    bool begins =
        run_filter_init(&filter, m, NULL) == ST_OK && run_filter_take(&filter, &first);
    run_filter_fini(&filter);
    return begins;
}
