#include "accountant/mechanisms/proof.h"

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
