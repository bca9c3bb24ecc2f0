/*
 * odometer.h - the guarantee of all epochs of one dataset's budget together, and their
 * privacy loss so far.
 *
 * A grant opens an epoch; an epoch whose grant was replaced by another, before anything
 * was reserved under it, does not count (ledger.md 2). All but the last were closed by
 * a restored backup, which lost entries that no one can read any more: a closed or
 * frozen epoch counts whole, as all that its filter admits. Let C_e be the larger
 * capacity of epoch e, S(a) what is spent of the open one.
 *
 *   joined epochs  those from the first on that have its orders, weights and deltas, as
 *                  long as the sum below stays within LEDGER_EPSILON_MAX
 *   guarantee      (max over j of epsilon_j + sum of C_e over e != j, delta) of the
 *                  joined, to which the epsilons and deltas of the others are added; of
 *                  joined epochs after the first also what their grants set aside for
 *                  discoveries
 *   reading        the same with what the open epoch has spent in place of its whole
 *
 * A fork of the ledger is another timeline that shares the first entries with this one
 * and cannot be read. Each known timeline adds what it may have spent since the fork:
 * to the joined epochs if it left a joined epoch and the sum stays within
 * LEDGER_EPSILON_MAX, and to delta all that the epoch's grant sets aside; otherwise the epsilon and delta of the epoch that it left.
 *
 * Guarantee and reading are (epsilon, delta)-DP at every moment, however later choices
 * depend on earlier results: ledger.md 6 has the theorems. With one epoch and no other
 * timeline the guarantee is the grant.
 *
 * Threads: pure. Small allocations that fail abort.
 */
#ifndef ACCOUNTANT_PRICING_ODOMETER_H
#define ACCOUNTANT_PRICING_ODOMETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accountant/pricing/curve.h"
#include "accountant/pricing/filter.h"
#include "base/hash.h"

struct epoch {
    uint64_t number; /* in its entries; a replaced epoch has one, and counts nothing */
    struct grant grant;
    struct filter filter;
    struct curve committed; /* by its entries; of a frozen epoch, only a lower bound */
    bool frozen;
};

/* Another timeline, which left this one in an epoch. Its entries are lost. */
struct timeline {
    uint8_t name[SHA256_SIZE]; /* hash of an entry of it that is not of this one */
    uint64_t epoch;            /* the number of the epoch that it left */
    /* The most that it may have spent since the fork, at the epoch's weighted
     * orders. */
    double most[LEDGER_WEIGHTED];
    /* False: none of its entries is known, but some steps may have run in both
     * (ledger_fork.h). */
    bool seen;
};

struct epochs { /* oldest first; the last is the one that is open, or frozen last */
    struct epoch *items;
    size_t count;
    struct timeline *timelines; /* the others, in the order of being noticed */
    size_t timeline_count;
};

struct guarantee {
    double epsilon, delta;
};

/* Returns how many timelines are known, including this one. One that left two epochs is
 * counted once. */
size_t epochs_timelines(const struct epochs *epochs);

/* Appends a copy of timeline. Does nothing if epochs has one of that name and epoch. */
void epochs_add_timeline(struct epochs *epochs, const struct timeline *timeline);

/* Returns what the epochs guarantee together once the open one is used up. */
struct guarantee odometer_guarantee(const struct epochs *epochs);

/* Returns the loss so far if the last epoch has used spent; never above the
 * guarantee. */
struct guarantee odometer_reading(const struct epochs *epochs,
                                  const struct curve *spent);

/* Returns the epoch of that number; NULL if there is none, or if it was replaced. */
struct epoch *epochs_find(const struct epochs *epochs, uint64_t number);

/* Appends a copy of epoch. */
void epochs_append(struct epochs *epochs, const struct epoch *epoch);
/* Returns a deep copy. */
struct epochs epochs_copy(const struct epochs *epochs);
void epochs_fini(struct epochs *epochs);

#endif
