/*
 * ledger_state.h - the balances of every dataset in memory, and their values after the
 * open transaction. Inside accountant only; ledger.c writes the entries.
 *
 *            ledger_state_change
 *     now -----------------------> now, next
 *
 *                ledger_state_keep (durable)    now = next
 *     now, next <
 *                ledger_state_drop (undone)     now as it was
 *
 * Invariants
 *   (1) now is computed from the durable entries; next, if there is one, from those and
 *       the entries of the open transaction.
 *   (2) held is the sum over open, in its order, which is that of seq; never
 *       subtracted. While entries are replayed this holds only at the weighted orders,
 *       which (4) needs; ledger_state_replayed computes the rest.
 *   (3) If partial is set, an account that is not here may still exist: code that
 *       decides anything by an account gets it by ledger_accounts.h.
 *   (4) ledger_state_keep aborts if a changed account has a part without a weighted
 *       order at which committed + held is within its capacity: that would be our own
 *       bug.
 *
 * Threads: the ledger's lock guards the state. Small allocations that fail abort.
 */
#ifndef ACCOUNTANT_LEDGER_LEDGER_STATE_H
#define ACCOUNTANT_LEDGER_LEDGER_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "accountant/ledger/balances.h"
#include "accountant/ledger/head_chain.h"
#include "accountant/ledger/ledger_hooks.h"
#include "accountant/ledger/sealed_sum.h"

struct account {
    struct dataset_id dataset;   /* first: the index sorts by it */
    struct balances *now, *next; /* now is NULL until its GRANT is durable */
    uint64_t version;            /* how often now has changed */
};

struct pointers {
    void **items;
    size_t count, capacity;
};

struct ledger_state {
    struct pointers accounts, reservations; /* owned, sorted by name */
    struct pointers changed_accounts,
        changed_reservations; /* changed by the open transaction */
    struct entry_tally tally,
        next_tally;   /* durable ones; and with the open transaction's */
    struct seal seal; /* the newest that was read; zeros: there is none */
    uint64_t freezes; /* number of rows of the table when it was last read */
    bool partial; /* accounts that the newest SEAL closed may be only in the store */
    /* called for accounts that are loaded; its function may be NULL */
    struct ledger_inspector inspector;
    bool replaying;
    struct chain_links *links; /* gets each entry that is read; NULL: none */
};

void ledger_state_init(struct ledger_state *state);
void ledger_state_fini(struct ledger_state *state);

/* Returns NULL if there is none in memory; also finds those of the open transaction. */
struct account *ledger_state_account(const struct ledger_state *state,
                                     const struct dataset_id *dataset);
struct reservation *ledger_state_reservation(const struct ledger_state *state,
                                             const struct job_id *job);

/* Returns the account as the open transaction sees it: next, or else now. */
const struct balances *ledger_state_view(const struct account *account);

/* Returns the account's next state, for changing: at first it is a copy of now. */
struct balances *ledger_state_change(struct ledger_state *state,
                                     struct account *account);
struct reservation_state *
ledger_state_change_reservation(struct ledger_state *state,
                                struct reservation *reservation);

/* Moves the accounts of loaded that state does not have into it, with their
 * reservations. Nothing in loaded is pending, and nothing that is pending in state
 * changes; after that loaded can only be finished. */
void ledger_state_adopt(struct ledger_state *state, struct ledger_state *loaded);

struct granting { /* a GRANT, as the state takes it */
    const struct dataset_id *dataset;
    struct account *account; /* of the dataset; NULL: it has none */
    const struct grant *grant;
    const struct filter *filter;
    uint64_t seq; /* its entry */
    /* It takes the place of the one before, which balances_unused allows. */
    bool replaces;
};
/* Opens the next epoch of the dataset, which is its first if it has no account. The
 * epoch before it is closed, or forgotten if it is replaced. Precondition: if account
 * is NULL, it was shown that there is none, not only that none is in memory. */
void ledger_state_grant(struct ledger_state *state, const struct granting *granting);

struct holding { /* the contents of a new reservation */
    const struct job_id *job;
    struct mechanism *mechanism_take;
    const struct curve *charge;
    enum parts parts; /* resolved (part.h) */
    const char *actor;
};
/* Holds the charge in each of the parts, and takes ownership of the mechanism. */
struct reservation *ledger_state_reserve_take(struct ledger_state *state,
                                              struct account *account,
                                              const struct holding *holding);
/* Commits charge in each of its parts and closes the reservation. */
void ledger_state_settle(struct ledger_state *state, struct reservation *reservation,
                         const struct curve *charge);

/* Takes the newest SEAL's sum of the dataset, whose GRANTs and open RESERVEs are taken
 * already. Returns false if they do not match. */
bool ledger_state_sealed(struct ledger_state *state, const struct sealed_sum *sum);

/* Ends the replay that setting replaying began. The sums over many open reservations
 * are computed here once, and not at each of thousands of entries. */
void ledger_state_replayed(struct ledger_state *state);

void ledger_state_keep(struct ledger_state *state);
void ledger_state_drop(struct ledger_state *state);

#endif
