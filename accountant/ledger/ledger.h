/*
 * ledger.h - durable record of the privacy spent on every private dataset.
 *
 *            ledger_reserve                 ledger_settle
 *   (none) ------------------> OPEN ------------------------> SETTLED
 *                              |  ^                           authorised steps
 *                              +--+ ledger_authorise
 *
 * Invariants
 *   (1) A reservation is on disk before its job can be taken, and steps are on disk as
 *       authorised before they look at a single record.
 *   (2) steps run <= steps authorised <= steps reserved; the middle one never falls.
 *   (3) What is settled is what was authorised, whatever the caller and however many
 *       steps ran: after a crash we may overstate the privacy loss, never understate
 *       it.
 *   (4) For every part of every dataset, at some weighted order, committed + held <=
 *       capacity; committed never falls. The cost of a mechanism is held and committed
 *       in each of the parts that it reads. committed and held are sums over entries in
 *       the order of seq, rounded up at each addition; nothing is ever subtracted.
 *       Charges are rounded up and capacities down to multiples of 2^-40 nats
 *       (filter.h), so below 2^13 nats the sums are exact: anyone who adds them, in any
 *       order, finds the same numbers.
 *   (5) Entries are never changed or deleted, and hash-chained: hash = SHA-256("v1",
 *       previous hash, length-prefixed fields).
 *   (6) The time of an entry is a whole second. Hashes cover it, and times are
 *       published as seconds, so a finer one could be found by hashing its possible
 *       values.
 *   (7) Memory changes when, and only when, the transaction that wrote the entry is
 *       durable. If other daemons write the store too, memory is a cache of a prefix of
 *       the entries, and the missing ones are read before anything is decided
 *       (ledger_catch_up.h).
 *   (8) No budget is granted, and no charge admitted, because an account was not loaded
 *       (ledger_accounts.h). Every function below that needs an account may answer
 *       ST_CORRUPT if the account is not what was sealed, and the store is then
 *       poisoned.
 *
 * Threads: any function may be called from any thread; the ledger locks itself. Lock
 * order: the store's transaction first, then the ledger. Authorisations of different
 * jobs become durable concurrently if the store's database has several connections.
 * Those of one job follow each other, and its settlement waits for the one that is
 * under way (ledger_change.h).
 * Ownership: the caller keeps every argument; nothing is retained.
 * Source: ledger.md 2; proofs in ledger.md 3, 6 and 7.
 */
#ifndef ACCOUNTANT_LEDGER_LEDGER_H
#define ACCOUNTANT_LEDGER_LEDGER_H

#include <stdbool.h>

#include "accountant/ledger/entry.h"
#include "accountant/ledger/ledger_hooks.h"
#include "accountant/pricing/filter.h"
#include "base/hash.h"
#include "base/id.h"
#include "base/mechanism.h"
#include "base/principal.h"
#include "base/status.h"
#include "store/store.h"

struct price_book; /* accountant/pricing/price_book.h */

struct ledger; /* opaque */

/* Verifies the chain, replays the balances, checks the invariants. (verify.h also
 * prices every mechanism again.) If there is a SEAL, the replay begins there, and
 * accounts that the SEAL has closed stay in the store until a function needs them: they
 * are checked then (ledger_accounts.h).
 *   ST_CORRUPT  an entry fails its hash or its form, or the balances their invariant;
 *               the error names the seq
 *   ST_IO       the store cannot be read
 * The store must outlive the ledger. On ST_OK *out is owned by the caller, who releases
 * it with ledger_close. */
enum status ledger_open(struct ledger **out, struct store *store, struct error *error);
/* Like ledger_open, as of the moment that tx sees; tx may be of another connection than
 * the one that store has open. */
enum status ledger_open_in(struct ledger **out, struct store *store,
                           struct store_tx *tx, struct error *error);
/* Like ledger_open_in, with every account loaded. The ledger is only to be read, while
 * a daemon may write the store. */
enum status ledger_open_whole(struct ledger **out, struct store *store,
                              struct store_tx *tx, struct error *error);
void ledger_close(struct ledger *ledger); /* NULL is allowed; no transaction is open */

/* Returns the prices that the ledger has computed, for callers that ask for some
 * before they reserve: ledger_reserve then finds the charge there, and computes
 * nothing. The ledger owns the book and destroys it. Threads: any; no lock of the
 * ledger is taken. */
struct price_book *ledger_prices(const struct ledger *ledger);

/* Reads the entries that other daemons have appended to a shared store, so that this
 * one's views show them, and its jobs may be authorised. The functions that append do
 * so anyway. A no-op if the store is not shared.
 *   ST_CORRUPT  an entry is not what this program writes; the store is poisoned
 *   ST_IO       the store cannot be read */
enum status ledger_follow(struct ledger *ledger, struct error *error);
/* Like ledger_follow, as of the moment that tx sees; tx has changed nothing of the
 * ledger. For the hook that renews memory (store/change_feed.h). */
enum status ledger_follow_in(struct ledger *ledger, struct store_tx *tx,
                             struct error *error);
/* Like ledger_follow_in, and reads the marks of all daemons: for a caller that compares
 * rows that tx sees with the authorised steps. */
enum status ledger_follow_all_in(struct ledger *ledger, struct store_tx *tx,
                                 struct error *error);

/* Opens the budget of a new dataset, whose row is in the store or in tx.
 *   ST_INVALID         a member of the grant out of range, or capacities not positive
 *                      at any weighted order (epsilon too small for delta)
 *   ST_ALREADY_EXISTS  the dataset has a grant
 *   ST_NOT_FOUND       the dataset has no row */
enum status ledger_grant(struct ledger *ledger, struct store_tx *tx,
                         const struct ledger_promise *promise, struct error *error);

/* Grants a dataset another budget in the place of its first one, under which nothing
 * was ever reserved. The entry names the one that it replaces, which counts nothing
 * from then on: no step was run under it (ledger.md 2). The new grant may have another
 * relation, unit or division.
 *   ST_NOT_FOUND          the dataset has no grant
 *   ST_DATASET_IMMUTABLE  something was reserved on it, or it has had further epochs
 *   ST_DATASET_FROZEN     a restored backup froze it: reservations may be lost
 *   ST_INVALID            as ledger_grant */
enum status ledger_grant_anew(struct ledger *ledger, struct store_tx *tx,
                              const struct ledger_promise *promise,
                              struct error *error);

struct ledger_claim { /* what a job, a survey or a charge requests of a budget */
    const struct dataset_id *dataset;
    const struct job_id *job;          /* or another id, as base/id.h describes */
    const struct mechanism *mechanism; /* whole, as it will be run */
    const struct principal *principal; /* on whose behalf */
    /* The parts of a divided dataset that the mechanism reads; it is charged to each of
     * them. The parts of an undivided dataset have no names. */
    enum parts parts;
    const char *engine; /* of a charge, a good name (entry.h); NULL for a job */
};

/* Holds the whole curve of the claim's mechanism m in each of its parts, if in each of
 * them some weighted order has room for it; *entry names the entry that was written. A
 * job has one reservation; that of its evaluation has the id job_evaluation_id of the
 * job.
 *   ST_NOT_FOUND         no such dataset
 *   ST_INVALID           m has no proof, is of another relation or another unit than
 *                        the dataset, or its curve is infinite at both weighted orders;
 *                        or the claim names a part that the dataset does not have
 *   ST_ALREADY_EXISTS    the job has a reservation, open or settled
 *   ST_DATASET_FROZEN    the epoch was closed by a restored backup
 *   ST_BUDGET_HELD       only open reservations are in the way
 *   ST_BUDGET_EXHAUSTED  m would pass the capacity without them
 * On failure tx and *entry are as they were. The reservation holds once the caller has
 * committed tx. */
enum status ledger_reserve(struct ledger *ledger, struct store_tx *tx,
                           const struct ledger_claim *claim,
                           struct ledger_entry_name *entry, struct error *error);

/* From now on calls the inspector with every account that is loaded into memory. */
void ledger_set_inspector(struct ledger *ledger,
                          const struct ledger_inspector *inspector);

/* From now on calls the guard in the transaction of every ledger_authorise. Must be set
 * before the first of them. */
void ledger_set_guard(struct ledger *ledger, const struct ledger_guard *guard);

/* Allows the job its first steps steps; durable on return, in its own transaction,
 * which waits for one that is open and has changed the job's reservation; that one must
 * not be the caller's. A mechanism without priced prefixes can only take all its steps
 * at once.
 *   ST_INVALID         not more than before, or more than were reserved
 *   ST_NOT_FOUND       no open reservation of that job
 *   ST_DATASET_FROZEN  the epoch was closed by a restored backup
 *   ST_IO              not durable: the steps must not be run; the store is poisoned
 *   others             the guard's */
enum status ledger_authorise(struct ledger *ledger, const struct job_id *job,
                             uint64_t steps, struct error *error);

/* Like ledger_authorise, in the caller's transaction: holds once that is committed,
 * which does not cover a head kept elsewhere. No step may be run before store_poisoned
 * is false after the commit. */
enum status ledger_authorise_in(struct ledger *ledger, struct store_tx *tx,
                                const struct job_id *job, uint64_t steps,
                                struct error *error);

/* Commits the authorised steps of the job and closes its reservation, in the name of
 * the principal who reserved.
 *   model_sha256  (32), or NULL if the job made no model
 *   ST_NOT_FOUND  no open reservation of that job */
enum status ledger_settle(struct ledger *ledger, struct store_tx *tx,
                          const struct job_id *job, const uint8_t *model_sha256,
                          struct error *error);

#endif
