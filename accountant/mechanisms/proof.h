/*
 * proof.h - the proofs of each kind of mechanism: which mechanisms of the kind have a
 * proof, and upper bounds on their cost. README.md tells how to add a kind.
 *
 * A kind is one file of this folder with its struct proof, which has the name that the
 * kind has in the canonical text; the row of the kind in base/mechanism.h finds it. No
 * other source knows a kind by its name, except the algorithms that choose one.
 *
 * Bounds are on the first steps steps of a mechanism, counted over all its runs.
 * Precondition: m is supported (cost.h) and steps is at most its own, and all of its
 * own if prefixes have no price. They are rounded up and never NaN; infinity is
 * allowed.
 *
 * Threads: constant data. A struct proof_scratch belongs to one thread at a time.
 */
#ifndef ACCOUNTANT_MECHANISMS_PROOF_H
#define ACCOUNTANT_MECHANISMS_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accountant/mechanisms/fixed_subset_rdp.h"
#include "accountant/mechanisms/privacy_loss.h"
#include "accountant/mechanisms/rdp.h"
#include "base/mechanism.h"

/* A cache of steps already seen, so that the next order need not compute them again. A
 * zeroed one is empty, and remembers the steps of the last run only. */
struct proof_scratch {
    struct rdp rdp;
    struct fixed_subset subset;
    struct rdp *of_runs; /* (run_count) those of each run, if there is memory; owned */
    size_t run_count;
};

/* Makes a zeroed scratch remember the steps of each run, if they are at most
 * PROOF_RUNS_KEPT. */
enum { PROOF_RUNS_KEPT = 256 };
void proof_scratch_init(struct proof_scratch *scratch, size_t run_count);
void proof_scratch_fini(struct proof_scratch *scratch);

/* Returns the place of a run's steps in the cache. */
struct rdp *proof_scratch_rdp(struct proof_scratch *scratch, size_t run);

struct outside;

/* A member that is NULL or false means that the kind has none of it. */
struct proof {
    /* Every step takes every record: a rate other than 1 has no proof. */
    bool takes_every_record;

    /* It draws batches, and its sampling rate can be sought (figure_rate). */
    bool has_rate;

    /* Checks what a proof needs in addition to numbers in range. NULL: nothing.
     *   ST_INVALID  no proof; the error says why */
    enum status (*supports)(const struct mechanism *m, struct error *error);

    /* Distance of neighbours' sums in one run, in sensitivities under zero_out. NULL: 1
     * under zero_out, 2 under replace_one. */
    double (*distance)(const struct mechanism *m, size_t run);

    /* --- Renyi divergence at order > 1, in nats: a kind has one of the two --- */

    /* Divergence of count steps of one run, given what was released before; over runs
     * it adds up. */
    double (*run_rdp)(struct proof_scratch *scratch, const struct mechanism *m,
                      size_t run, uint64_t count, double order);
    /* About how much work that is at one order, in terms of quadrature (rdp_terms), if
     * nothing of the run is cached. NULL: nothing. */
    double (*run_terms)(const struct mechanism *m, size_t run);
    /* Divergence of the first steps steps together, if a proof bounds the whole
     * path. */
    double (*path_rdp)(struct proof_scratch *scratch, const struct mechanism *m,
                       uint64_t steps, double order);

    /* Probability of the outcomes that no divergence bounds, of the whole. The bounds
     * above and below are about all other outcomes, and the ledger adds this one to the
     * delta of its account. NULL: there are none. */
    double (*delta)(const struct mechanism *m);

    /* --- bounds without Renyi divergence: at most one of these --- */

    /* Sum over steps of (distance / noise multiplier)^2. Without sampling the steps
     * together are a Gaussian mechanism of mu = sqrt(energy), whose profile is exact
     * (profile.h); sampling only lowers the profile. */
    double (*energy)(const struct mechanism *m, uint64_t steps);
    /* Pure epsilon: delta is 0 from it on. */
    double (*pure_epsilon)(const struct mechanism *m, uint64_t steps);

    /* --- composition of privacy losses (pld.h) --- */

    /* The step of one run as a privacy loss. A kind that has it releases its steps
     * independently, each fixed before the first. */
    struct privacy_loss_step (*privacy_loss)(const struct mechanism *m, size_t run);

    /* --- a run that chooses its noise as it goes (run_filter.h) --- */

    /* The step of least noise that a run of m may take. A kind that has it takes each
     * step through a run filter first, and is charged whole; step_kind is the kind of
     * mechanism that such a step is. */
    struct mechanism_run (*least_step)(const struct mechanism *m);
    enum mechanism_kind step_kind;

    /* --- work that runs elsewhere (outside.h) --- */

    const struct outside *outside;
};

/* Returns NULL if kind is not in the table. */
const struct proof *proof_of(enum mechanism_kind kind);

/* Distance of neighbours' sums in run of m, in sensitivities under zero_out: 1 or 2. */
double proof_distance(const struct mechanism *m, size_t run);

#endif
