/*
 * balances.h - the budget of one dataset at one moment: the grant in force, and for each
 * part what is committed, what open reservations hold, and the epochs before. Answers
 * whether a charge may be made and whether it fits. Inside accountant only;
 * ledger_state.h keeps one before and one after the open transaction.
 *
 * Threads: the ledger's lock guards them. Small allocations that fail abort.
 */
#ifndef ACCOUNTANT_LEDGER_BALANCES_H
#define ACCOUNTANT_LEDGER_BALANCES_H

#include <stdbool.h>
#include <stddef.h>

#include "accountant/ledger/entry.h"
#include "accountant/pricing/odometer.h"
#include "accountant/pricing/price_book.h"

struct account;

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

/* Returns a copy that has room for one reservation more, which a change may add. */
struct balances *balances_copy(const struct balances *from);
void balances_destroy(struct balances *balances); /* NULL is allowed */

/* Appends the epoch in force to the closed ones of each part, because it counts. */
void balances_close_epoch(struct balances *balances);

/* Appends the reservation to the open ones, and holds its charge in each of its
 * parts. */
void balances_open(struct balances *balances, struct reservation *reservation);

/* Removes an open reservation, and commits charge in each of its parts. While entries
 * are replayed, what the others hold is computed at the weighted orders only. */
void balances_settle(struct balances *balances, const struct reservation *reservation,
                     const struct curve *charge, bool replaying);

/* Computes at every order what the open reservations hold. */
void balances_hold(struct balances *balances);

/* Returns ST_OK if another grant may take the place of the one in force: nothing was
 * ever reserved under it, and no restored backup has touched it.
 *   ST_DATASET_IMMUTABLE  something was reserved, or a restored backup closed an epoch
 *   ST_DATASET_FROZEN     a restored backup froze it: reservations may be lost */
enum status balances_unused(const struct balances *balances, struct error *error);

/* Returns the open epoch of one part, in the odometer's form. */
struct epoch balances_epoch(const struct balances *balances, enum part part);

/* Returns whether every part has a weighted order with committed + held within its
 * capacity, and its deltas within theirs. */
bool balances_sound(const struct balances *balances);

/* *charge = the cost of m on an account, if m may be charged there. A charge that the
 * book has is not computed again; book may be NULL.
 *   ST_INVALID, ST_DATASET_FROZEN  as ledger_reserve */
enum status balances_charge(struct curve *charge, const struct balances *balances,
                            const struct mechanism *m, struct price_book *book,
                            struct error *error);

/* *all = the parts that parts denotes (part.h).
 *   ST_INVALID  there is no such part */
enum status balances_parts(enum parts *all, const struct balances *balances,
                           enum parts parts, struct error *error);

/* Returns the parts as an entry names them: those of an undivided dataset have no
 * names. */
enum parts balances_named(const struct balances *balances, enum parts all);

/* Returns whether charge fits in each of the parts, which are resolved. FITS_HELD: in
 * each part where it does not fit, only what is held is in the way. */
enum ledger_fits balances_fits(const struct balances *balances, enum parts parts,
                               const struct curve *charge);

/* ST_NOT_FOUND: dataset has no budget. */
enum status balances_missing(const struct dataset_id *dataset, struct error *error);

#endif
