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

#include "accountant/ledger/entry.h"
#include "accountant/ledger/head_chain.h"
#include "accountant/ledger/ledger_inspector.h"
#include "accountant/ledger/sealed_sum.h"
#include "accountant/pricing/odometer.h"
#include "accountant/pricing/price_book.h"

struct reservation_state {
    bool open;
    uint64_t authorised;
};

struct held {                   /* kept of a reservation only while it is open */
    struct mechanism mechanism; /* owned */
    struct curve charge;        /* the price of all its steps, in each of its parts */
    char actor[PRINCIPAL_NAME_SIZE]; /* of its RESERVE, and of its COMMIT */
};

struct reservation {
    struct job_id job; /* first: the index sorts by it; base/id.h, job_evaluation_id */
    struct account *account;
    struct held *held; /* owned; NULL once settled: most are, and stay in memory */
    enum parts parts;  /* the parts that it reads; never PARTS_UNNAMED */
    bool durable;      /* its RESERVE is durable */
    bool changed;      /* next differs from now */
    uint64_t steps;
    struct ledger_entry_name entry;
    uint64_t raising; /* a transaction of STORE_MARK raises now.authorised to this; 0:
                       * none does */
    struct reservation_state now, next;
};

struct part_balance { /* the sums of one part, which has the grant's whole capacity */
    struct curve committed, held;
    struct epochs closed; /* the epochs before this one, oldest first */
};

struct balances {
    uint64_t epoch;
    bool frozen;
    uint64_t grant_seq; /* the entry of the grant that is in force */
    bool reserved;      /* whether anything was ever reserved, in any epoch */
    bool external; /* whether anything was ever reserved for work that runs elsewhere */
    struct grant grant;
    struct filter filter;
    unsigned part_count; /* 1 or 2, the same in every epoch */
    struct part_balance parts[PARTS_MAX];
    size_t open_count;
    struct reservation **open;
};

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
    /* It takes the place of the one before, which ledger_state_unused allows. */
    bool replaces;
};
/* Opens the next epoch of the dataset, which is its first if it has no account. The
 * epoch before it is closed, or forgotten if it is replaced. Precondition: if account
 * is NULL, it was shown that there is none, not only that none is in memory. */
void ledger_state_grant(struct ledger_state *state, const struct granting *granting);

/* Returns ST_OK if another grant may take the place of the one in force: nothing was
 * ever reserved under it, and no restored backup has touched it.
 *   ST_DATASET_IMMUTABLE  something was reserved, or a restored backup closed an epoch
 *   ST_DATASET_FROZEN     a restored backup froze it: reservations may be lost */
enum status ledger_state_unused(const struct balances *balances, struct error *error);
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

/* Returns the open epoch of one part, in the odometer's form. */
struct epoch ledger_state_epoch(const struct balances *balances, enum part part);

/* Returns whether every part has a weighted order with committed + held within its
 * capacity. */
bool ledger_state_sound(const struct balances *balances);

/* *charge = the cost of m on an account, if m may be charged there. A charge that the
 * book has is not computed again; book may be NULL.
 *   ST_INVALID, ST_DATASET_FROZEN  as ledger_reserve */
enum status ledger_state_charge(struct curve *charge, const struct balances *balances,
                                const struct mechanism *m, struct price_book *book,
                                struct error *error);

/* *all = the parts that parts denotes (part.h).
 *   ST_INVALID  there is no such part */
enum status ledger_state_parts(enum parts *all, const struct balances *balances,
                               enum parts parts, struct error *error);

/* Returns the parts as an entry names them: those of an undivided dataset have no
 * names. */
enum parts ledger_state_named(const struct balances *balances, enum parts all);

/* Returns whether charge fits in each of the parts, which are resolved. FITS_HELD: in
 * each part where it does not fit, only what is held is in the way. */
enum ledger_fits ledger_state_fits(const struct balances *balances, enum parts parts,
                                   const struct curve *charge);

/* ST_NOT_FOUND: dataset has no budget. */
enum status ledger_state_missing(const struct dataset_id *dataset, struct error *error);

#endif
