/*
 * ledger_view.h - what an open ledger says: of jobs, of a dataset's balance and epochs,
 * and of the head of the chain. Nothing here changes anything. Answers are copies, taken
 * under the ledger's lock; those about a dataset are as of the last durable transaction.
 * Of a divided dataset they are about the part that models are trained on, where no part
 * is named: an undivided one has no other. Whoever asks about a dataset has its account
 * loaded, where it is in the store alone (ledger_accounts.h): what answers a status may answer
 * ST_CORRUPT or ST_IO then, and the store is poisoned. That waits for the store, and keeps
 * nobody else waiting; ledger_in_memory says beforehand whether it would.
 *
 * Threads: any function may be called from any thread.
 */
#ifndef ACCOUNTANT_LEDGER_VIEW_H
#define ACCOUNTANT_LEDGER_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accountant/ledger.h"
#include "accountant/odometer.h"
#include "accountant/seal.h"
#include "accountant/share.h"
#include "accountant/spending.h"

/* The RESERVE entry of the job, or of its evaluation (base/id.h), open or settled. False,
 * entry untouched, if it has none. */
bool ledger_reservation(struct ledger *ledger, const struct job_id *job,
                        struct ledger_entry_name *entry);

/* Canonical text of what that entry holds, to be freed; NULL if there is none, or it is
 * settled: its entry has it then. */
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
 * answers false. visit may call the ledger. Recovery at start is what it is for. */
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

/* How the dataset is divided; undivided where it has no budget. */
struct division ledger_division(struct ledger *ledger,
                                const struct dataset_id *dataset);

/* The part's balance and epochs as of one moment; epochs, which may be NULL, is to be
 * released with epochs_fini.
 *   ST_NOT_FOUND  no such dataset, or no such part of it */
enum status ledger_part_read(struct ledger *ledger, const struct ledger_part *part,
                             struct epochs *epochs, struct balance *balance,
                             struct error *error);

/* The part's share alone, which takes no conversion to find.
 *   ST_NOT_FOUND  no such dataset, or no such part of it */
enum status ledger_share(struct ledger *ledger, const struct ledger_part *part,
                         struct share *share, struct error *error);

/* The same, and where the account is in the store alone it stays there: for whoever asks about
 * all datasets. */
enum status ledger_share_glance(struct ledger *ledger, const struct ledger_part *part,
                                struct share *share, struct error *error);

struct ledger_left { /* shares of a budget that are not spent */
    double before, after;
};

/* What is left of the part's budget where what is held does not count: at the weighted
 * order at which it is most (share.h), as of the last durable transaction, and as the one
 * that is open will leave it.
 *   ST_NOT_FOUND  no such dataset, or no such part of it */
enum status ledger_left(struct ledger *ledger, const struct ledger_part *part,
                        struct ledger_left *left, struct error *error);

/* Grows with whatever changes of its balance; 0 where there is no such dataset, and where
 * nothing has changed since the account came from the store, or would come from there. */
uint64_t ledger_version(struct ledger *ledger, const struct dataset_id *dataset);

/* Its epochs and balance as of one moment; epochs is to be released with epochs_fini.
 *   ST_NOT_FOUND  no such dataset */
enum status ledger_epochs(struct ledger *ledger, const struct dataset_id *dataset,
                          struct epochs *epochs, struct balance *balance,
                          struct error *error);

struct ledger_question { /* what if this were reserved now? */
    const struct dataset_id *dataset;
    const struct mechanism *mechanism;
    uint64_t times_max; /* outlook.times is counted up to here */
    enum parts parts;   /* as of a claim */
};

struct outlook { /* what a mechanism would do to a dataset's budget now */
    enum ledger_fits fits;
    /* The one with least left of the parts that it reads: what stands below is about that
     * part, but for times, for which all of them have room. */
    enum part part;
    uint64_t
        times; /* it fits, one after the other, each charged whole (filter_times) */
    struct curve charge;
    struct balance balance;          /* before it, as of the same moment */
    double epsilon_after;            /* conv(committed + held + charge) (spending.h) */
    struct guarantee exposure_after; /* the odometer's reading of the same sum */
};

/* What the mechanism would do if it were reserved now; changes nothing.
 *   ST_NOT_FOUND, ST_INVALID, ST_DATASET_FROZEN  as ledger_reserve */
enum status ledger_outlook(struct ledger *ledger,
                           const struct ledger_question *question,
                           struct outlook *outlook, struct error *error);

/* The head of the chain: seq 0 and a zero hash while there is no entry. */
void ledger_head(struct ledger *ledger, struct ledger_entry_name *head);

/* The newest SEAL: entries before it are archived, and what is known of settled
 * reservations among them is their sums. entry.seq 0: there is none. */
struct seal ledger_sealed(struct ledger *ledger);

/* How many durable entries there are of each kind. */
struct entry_tally ledger_tally(struct ledger *ledger);

/* Whether another grant may take the place of the dataset's (ledger_grant_anew).
 *   ST_NOT_FOUND, ST_DATASET_IMMUTABLE, ST_DATASET_FROZEN  as it says */
enum status ledger_unused(struct ledger *ledger, const struct dataset_id *dataset,
                          struct error *error);

/* Whether anything was ever reserved on the dataset; true where that cannot be read. */
bool ledger_touched(struct ledger *ledger, const struct dataset_id *dataset);

/* Whether what there is of the dataset is in memory. False: it would be read, if it is
 * there. */
bool ledger_in_memory(struct ledger *ledger, const struct dataset_id *dataset);
/* Whether what there is of all datasets is. */
bool ledger_all_in_memory(struct ledger *ledger);
/* How many accounts are. */
size_t ledger_accounts_in_memory(struct ledger *ledger);

#endif
