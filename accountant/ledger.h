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
 *   (3) What is settled is what was authorised, whoever asks and however many ran:
 *       after a crash we may overstate the privacy loss, never understate it.
 *   (4) For every dataset, at some weighted order, committed + held <= capacity;
 *       committed never falls. committed and held are sums over entries in the order of
 *       seq, rounded up at each addition; nothing is ever subtracted. Charges are
 *       rounded up and capacities down to multiples of 2^-40 nats (filter.h), so below
 *       2^13 nats the sums are exact: whoever adds them, in whatever order, finds the
 *       same numbers.
 *   (5) Entries are never changed or deleted, and hash-chained: hash = SHA-256("v1",
 *       previous hash, length-prefixed fields).
 *   (6) The time of an entry is a whole second. Hashes cover it and times are published
 *   as
 *       seconds, so a finer one could be found by hashing what it may have been.
 *   (7) Memory changes when, and only when, the transaction that wrote the entry is
 *       durable.
 *
 * Threads: any function may be called from any thread; the ledger locks itself. Lock
 * order: the store's transaction first, then the ledger.
 * Ownership: the caller keeps every argument; nothing is retained.
 * Source: ledger.md 2; proofs in ledger.md 3 and 6.
 */
#ifndef ACCOUNTANT_LEDGER_H
#define ACCOUNTANT_LEDGER_H

#include <stdbool.h>

#include "accountant/curve.h"
#include "accountant/filter.h"
#include "accountant/odometer.h"
#include "base/hash.h"
#include "base/id.h"
#include "base/mechanism.h"
#include "base/status.h"
#include "store/store.h"

struct ledger; /* opaque */

/* Verifies the chain, replays the balances, checks the invariants. (verify.h prices every
 * mechanism again as well.)
 *   ST_CORRUPT  an entry fails its hash or its form, or the balances their invariant;
 *               the error names the seq
 *   ST_IO       the store cannot be read
 * The store must outlive the ledger. On ST_OK *out is owned by the caller: release it
 * with ledger_close. */
enum status ledger_open(struct ledger **out, struct store *store, struct error *error);
/* The same as of the moment that tx sees: to be read, beside whoever writes the store. */
enum status ledger_open_in(struct ledger **out, struct store *store,
                           struct store_tx *tx, struct error *error);
void ledger_close(struct ledger *ledger); /* NULL is allowed; no transaction is open */

/* Keeps the head elsewhere too, so that a restored backup is noticed. Checks the file at
 * path against the store, then writes it durably after every entry and authorisation;
 * call once, before the first of them. A store that does not contain the head found there
 * is older than what was promised: all that its open reservations hold is authorised and
 * every dataset is frozen, durably, until ledger_regrant; *frozen tells.
 *   ST_CORRUPT  the file is there and is not a head file, or names an entry while the
 *               store is empty
 *   ST_IO       it cannot be read or written
 * A later failure to write it poisons the store. */
enum status ledger_head_file(struct ledger *ledger, const char *path, bool *frozen,
                             struct error *error);

struct head; /* head_file.h */

/* Whether the store that tx sees is at least as new as kept, which was read from a head
 * file before tx began; changes nothing. ledger is open in tx.
 *   ST_IO  the store cannot be read */
enum status ledger_holds(struct ledger *ledger, struct store_tx *tx,
                         const struct head *kept, bool *holds, struct error *error);

/* Opens the budget of a new dataset, whose row is in the store or in tx.
 *   ST_INVALID         a member of grant out of range, or capacities not positive at any
 *                      weighted order (epsilon too small for delta)
 *   ST_ALREADY_EXISTS  the dataset has a grant
 *   ST_NOT_FOUND       the dataset has no row */
enum status ledger_grant(struct ledger *ledger, struct store_tx *tx,
                         const struct dataset_id *dataset, const struct grant *grant,
                         struct error *error);

/* Opens the next epoch of a frozen dataset, with nothing committed or held. What was
 * promised before stays promised: odometer.h says what the epochs come to together.
 *   ST_NOT_FOUND       no such dataset
 *   ST_INVALID         as ledger_grant, the dataset is not frozen, or another relation
 *   ST_DATASET_IN_USE  a reservation of the old epoch is open */
enum status ledger_regrant(struct ledger *ledger, struct store_tx *tx,
                           const struct dataset_id *dataset, const struct grant *grant,
                           struct error *error);

struct ledger_entry_name { /* what a certificate cites */
    uint64_t seq;
    uint8_t hash[SHA256_SIZE];
};

struct ledger_claim { /* what a job asks of a dataset's budget */
    const struct dataset_id *dataset;
    const struct job_id *job;
    const struct mechanism *mechanism; /* whole, as it will be run */
};

/* Holds the whole curve of the claim's mechanism m on its dataset, if some weighted order
 * has room for it; *entry names what was written.
 *   ST_NOT_FOUND         no such dataset
 *   ST_INVALID           m has no proof, is of another relation than the dataset, or
 *                        its curve is infinite at both weighted orders
 *   ST_ALREADY_EXISTS    the job has a reservation, open or settled
 *   ST_DATASET_FROZEN    the epoch was closed by a restored backup
 *   ST_BUDGET_HELD       only open reservations are in the way
 *   ST_BUDGET_EXHAUSTED  m would pass the capacity without them
 * On failure tx and *entry are as they were. Holds once the caller has committed tx. */
enum status ledger_reserve(struct ledger *ledger, struct store_tx *tx,
                           const struct ledger_claim *claim,
                           struct ledger_entry_name *entry, struct error *error);

/* The RESERVE entry of the job, open or settled; false, entry untouched,
 * if it has none. */
bool ledger_reservation(struct ledger *ledger, const struct job_id *job,
                        struct ledger_entry_name *entry);

/* Canonical text of what that entry holds, to be freed; NULL if there is none. */
char *ledger_reserved_text(struct ledger *ledger, const struct job_id *job);

/* Allows the job its first steps steps; durable on return, in its own transaction. A
 * mechanism without priced prefixes takes nothing but all its steps.
 *   ST_INVALID         not more than before, or more than were reserved
 *   ST_NOT_FOUND       no open reservation of that job
 *   ST_DATASET_FROZEN  the epoch was closed by a restored backup
 *   ST_IO              not durable: the steps must not be run; the store is poisoned */
enum status ledger_authorise(struct ledger *ledger, const struct job_id *job,
                             uint64_t steps, struct error *error);

/* Steps authorised so far, 0 if none; of settled jobs too. */
uint64_t ledger_authorised(struct ledger *ledger, const struct job_id *job);

/* Commits the authorised steps of the job and closes its reservation.
 *   model_sha256  (32), or NULL if no model came of it
 *   ST_NOT_FOUND  no open reservation of that job */
enum status ledger_settle(struct ledger *ledger, struct store_tx *tx,
                          const struct job_id *job, const uint8_t *model_sha256,
                          struct error *error);

struct ledger_open_reservation {
    struct job_id job;
    struct dataset_id dataset;
    uint64_t steps, authorised; /* of the whole job; so far */
};

/* Calls visit with a copy of each open reservation, in the order of seq; false from visit
 * stops. visit may call the ledger. For recovery at start. */
void ledger_open_walk(struct ledger *ledger,
                      bool (*visit)(void *context,
                                    const struct ledger_open_reservation *reservation),
                      void *context);

struct balance {
    double epsilon, delta; /* as granted: the cap of this epoch */
    enum relation relation;
    uint64_t epoch;
    bool frozen;
    size_t weighted[LEDGER_WEIGHTED]; /* indices into curve_orders; main order first */
    double weights[LEDGER_WEIGHTED];
    double capacity[LEDGER_WEIGHTED]; /* B at the weighted orders, rounded down */
    struct curve committed, held;
    double epsilon_spent, epsilon_held, epsilon_remaining, fraction_remaining;
};

/* A copy of the dataset's balance as of the last durable transaction.
 *   ST_NOT_FOUND  no such dataset */
enum status ledger_balance(struct ledger *ledger, const struct dataset_id *dataset,
                           struct balance *balance, struct error *error);

/* Its epochs and balance as of one moment; epochs is to be released with epochs_fini.
 *   ST_NOT_FOUND  no such dataset */
enum status ledger_epochs(struct ledger *ledger, const struct dataset_id *dataset,
                          struct epochs *epochs, struct balance *balance,
                          struct error *error);

/* Whether m would be reserved now; changes nothing.
 *   ST_NOT_FOUND, ST_INVALID, ST_DATASET_FROZEN  as ledger_reserve */
enum status ledger_fit(struct ledger *ledger, const struct dataset_id *dataset,
                       const struct mechanism *m, enum ledger_fits *fits,
                       struct error *error);

/* The head of the chain: seq 0 and a zero hash while there is no entry. */
void ledger_head(struct ledger *ledger, struct ledger_entry_name *head);

/* Whether anything was ever reserved on the dataset. */
bool ledger_touched(struct ledger *ledger, const struct dataset_id *dataset);

#endif
