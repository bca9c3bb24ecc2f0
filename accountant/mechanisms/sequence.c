/* The kind sequence: runs of several kinds, one after the other, all fixed before the
 * first step. Each is priced by the proof of its own kind, and divergences add. */
#include "accountant/mechanisms/proof.h"

/* Returns a run as a mechanism of its own kind. Its runs are borrowed. */
static struct mechanism part_of(const struct mechanism *m, size_t run)
{
    struct mechanism part = *m;
    part.kind = m->run_kinds[run];
    part.run_kinds = NULL;
    part.turns = 0;
    return part;
}

static enum status supports(const struct mechanism *m, struct error *error)
{
    if (!mechanism_extra_valid(m))
        return error_set(error, ST_INVALID, "kinds that do not fit the runs");
    for (size_t i = 0; i < m->run_count; i++) {
        const struct proof *proof = proof_of(m->run_kinds[i]);
        if (proof == NULL || proof->run_rdp == NULL || proof->delta != NULL)
            return error_set(error, ST_INVALID,
                             "run %zu: its kind has no price of its own", i);
        if (proof->takes_every_record && m->runs[i].sampling_rate != 1)
            return error_set(error, ST_INVALID,
                             "run %zu: the mechanism takes every record, rate 1", i);
    }
    return ST_OK;
}

static double run_rdp(struct proof_scratch *scratch, const struct mechanism *m,
                      size_t run, uint64_t count, double order)
{
    const struct mechanism part = part_of(m, run);
    return proof_of(part.kind)->run_rdp(scratch, &part, run, count, order);
}

static double run_terms(const struct mechanism *m, size_t run)
{
    const struct mechanism part = part_of(m, run);
    const struct proof *proof = proof_of(part.kind);
    return proof->run_terms != NULL ? proof->run_terms(&part, run) : 0;
}

const struct proof sequence = {
    .supports = supports,
    .run_rdp = run_rdp,
    .run_terms = run_terms,
};
