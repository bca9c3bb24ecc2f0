/*
 * ledger_view.h - reads an open ledger: jobs, a dataset's balance and epochs, and the
 * head of the chain. Nothing here changes anything. Answers are copies, taken under the
 * ledger's lock; those about a dataset are as of the last durable transaction.
 * Functions that name no part return, for a divided dataset, figures of the part that
 * models are trained on, and for an undivided one those of its only part.
 *
 * A function about a dataset loads its account if only the store has it
 * (ledger_accounts.h): a function that returns a status may then answer ST_CORRUPT or
 * ST_IO, and the store is poisoned. Loading waits for the store, and blocks no other
 * thread; ledger_in_memory tells beforehand whether a call would load.
 *
 * Threads: any function may be called from any thread.
 */
#ifndef ACCOUNTANT_LEDGER_LEDGER_VIEW_H
#define ACCOUNTANT_LEDGER_LEDGER_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accountant/ledger/ledger.h"
#include "accountant/ledger/seal.h"
#include "accountant/pricing/budget_share.h"
#include "accountant/pricing/budget_spent.h"
#include "accountant/pricing/odometer.h"
#include "base/id.h"

/* *entry = the RESERVE entry of the job, or of its evaluation (base/id.h), open or
 * settled. Returns false and leaves *entry if it has none. */
bool ledger_reservation(struct ledger *ledger, const struct job_id *job,
                        struct ledger_entry_name *entry);

/* Returns the canonical text of the mechanism that entry holds, which the caller
 * frees; NULL if there is no such entry, or it is settled: then only the entry has the
 * text. */
char *ledger_reserved_text(struct ledger *ledger, const struct job_id *job);

/* Steps of the job that are authorised so far, or were when it was settled; 0 if
 * none. */
uint64_t ledger_authorised(struct ledger *ledger, const struct job_id *job);

struct ledger_open_reservation {
    struct job_id job;
    struct dataset_id dataset;
    uint64_t steps, authorised; /* of the whole job, and so far */
};

/* Calls visit with a copy of each open reservation, in the order of seq, until visit
 * returns false. visit may call the ledger. Recovery at start uses it. */
void ledger_open_walk(struct ledger *ledger,
                      bool (*visit)(void *context,
                                    const struct ledger_open_reservation *reservation),
                      void *context);

/* A copy of the dataset's balance as of the last durable transaction.
 *   ST_NOT_FOUND  no such dataset */
enum status ledger_balance(struct ledger *ledger, const struct dataset_id *dataset,
                           struct balance *balance, struct error *error);

struct ledger_part { /* one part of a dataset */
    const struct dataset_id *dataset;
    enum part part;
};

/* Returns how the dataset is divided; undivided if it has no budget. */
struct division ledger_division(struct ledger *ledger,
                                const struct dataset_id *dataset);

/* Reads the part's balance and epochs as of one moment; epochs, which may be NULL, must
 * be released with epochs_fini.
 *   ST_NOT_FOUND  no such dataset, or no such part of it */
enum status ledger_part_read(struct ledger *ledger, const struct ledger_part *part,
                             struct epochs *epochs, struct balance *balance,
                             struct error *error);

/* Reads only the part's share, which needs no conversion.
 *   ST_NOT_FOUND  no such dataset, or no such part of it */
enum status ledger_share(struct ledger *ledger, const struct ledger_part *part,
                         struct budget_share *share, struct error *error);

/* Like ledger_share, but does not keep in memory an account that only the store has:
 * for a caller that reads all datasets. */
enum status ledger_share_glance(struct ledger *ledger, const struct ledger_part *part,
                                struct budget_share *share, struct error *error);

struct ledger_left { /* unspent shares of a budget */
    double before, after;
};

/* The unspent share of the part's budget, not counting what is held: at the weighted
 * order at which it is most (budget_share.h), as of the last durable transaction, and
 * as the open transaction will leave it.
 *   ST_NOT_FOUND  no such dataset, or no such part of it */
enum status ledger_left(struct ledger *ledger, const struct ledger_part *part,
                        struct ledger_left *left, struct error *error);

/* Returns a number that grows with every change of the dataset's balance; 0 if there is
 * no such dataset, and if nothing has changed since its account was loaded from the
 * store, or if it is not loaded. */
uint64_t ledger_version(struct ledger *ledger, const struct dataset_id *dataset);

/* Reads the dataset's epochs and balance as of one moment; epochs must be released with
 * epochs_fini.
 *   ST_NOT_FOUND  no such dataset */
enum status ledger_epochs(struct ledger *ledger, const struct dataset_id *dataset,
                          struct epochs *epochs, struct balance *balance,
                          struct error *error);

struct ledger_question { /* a reservation that could be made now */
    const struct dataset_id *dataset;
    const struct mechanism *mechanism;
    uint64_t times_max;           /* upper limit of outlook.times */
    enum parts parts;             /* as in struct ledger_claim */
    const struct mechanism *also; /* reserved together with it, or NULL */
};

struct outlook { /* what a mechanism would do to a dataset's budget now */
    enum ledger_fits fits;
    /* The part with least left of those that the mechanism reads. The members below are
     * about that part, except times, for which all of them have room. */
    enum part part;
    /* how often it fits in sequence, each charged whole (filter_times) */
    uint64_t times;
    struct curve charge;
    struct balance balance; /* before it, as of the same moment */
    double epsilon_after;   /* conv(committed + held + charge) (budget_spent.h) */
    struct guarantee exposure_after; /* the odometer's reading of the same sum */
};

/* Computes what the mechanism would do if it were reserved now; changes nothing.
 *   ST_NOT_FOUND, ST_INVALID, ST_DATASET_FROZEN  as ledger_reserve */
enum status ledger_outlook(struct ledger *ledger,
                           const struct ledger_question *question,
                           struct outlook *outlook, struct error *error);

/* *head = the head of the chain: seq 0 and a zero hash while there is no entry. */
void ledger_head(struct ledger *ledger, struct ledger_entry_name *head);

/* Returns the newest SEAL: entries before it are archived, and settled reservations
 * among them are known only by their sums. entry.seq 0: there is none. */
struct seal ledger_sealed(struct ledger *ledger);

/* Returns how many durable entries there are of each kind. */
struct entry_tally ledger_tally(struct ledger *ledger);

/* Returns ST_OK if another grant may take the place of the dataset's
 * (ledger_grant_anew).
 *   ST_NOT_FOUND, ST_DATASET_IMMUTABLE, ST_DATASET_FROZEN  as ledger_grant_anew */
enum status ledger_unused(struct ledger *ledger, const struct dataset_id *dataset,
                          struct error *error);

/* Returns whether anything was ever reserved on the dataset; true if that cannot be
 * read. */
bool ledger_touched(struct ledger *ledger, const struct dataset_id *dataset);

/* Returns whether the dataset's account is in memory, or needs no loading because there
 * is none. False: a call would read it, if it exists. */
bool ledger_in_memory(struct ledger *ledger, const struct dataset_id *dataset);
/* Returns whether the accounts of all datasets are in memory. */
bool ledger_all_in_memory(struct ledger *ledger);
/* Returns how many accounts are in memory. */
size_t ledger_accounts_in_memory(struct ledger *ledger);

#endif
