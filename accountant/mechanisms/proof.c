#include "accountant/mechanisms/proof.h"

#include <stdlib.h>

/* Only this file declares the proofs: all other code gets them by proof_of. */
#define DECLARE(constant, name) extern const struct proof name;
MECHANISM_TABLE(DECLARE)
#undef DECLARE

#define ADDRESS(constant, name) [constant] = &(name),
static const struct proof *const proofs[MECHANISM_KINDS] = {MECHANISM_TABLE(ADDRESS)};
#undef ADDRESS

const struct proof *proof_of(enum mechanism_kind kind)
{
    return (size_t)kind < MECHANISM_KINDS ? proofs[kind] : NULL;
}

double proof_distance(const struct mechanism *m, size_t run)
{
    const struct proof *proof = proof_of(m->kind);
    if (proof->distance != NULL)
        return proof->distance(m, run);
    return m->relation == RELATION_REPLACE_ONE ? 2 : 1;
}

void proof_scratch_init(struct proof_scratch *scratch, size_t run_count)
{
    if (run_count < 2 || run_count > PROOF_RUNS_KEPT)
        return;
    /* Pages that hold no nodes are never touched. */
    scratch->of_runs = calloc(run_count, sizeof *scratch->of_runs);
    scratch->run_count = scratch->of_runs != NULL ? run_count : 0;
}

void proof_scratch_fini(struct proof_scratch *scratch)
{
    free(scratch->of_runs);
}

struct rdp *proof_scratch_rdp(struct proof_scratch *scratch, size_t run)
{
    return run < scratch->run_count ? &scratch->of_runs[run] : &scratch->rdp;
}
