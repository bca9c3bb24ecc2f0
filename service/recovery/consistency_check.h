/*
 * consistency_check.h - reads the rows of datasets, jobs, models, weights, charges,
 * webhooks, keys, logins and pending policies, and compares them with each other and
 * with the ledger.
 *
 * A start refuses what consistency_check_open or consistency_check_run refuses, and
 * `epsilond verify` calls the same functions, so a directory that it accepts can be
 * started. Every error names the table and the id of the row.
 *
 * Threads: one; a store transaction is an argument, so that all data is of one moment.
 */
#ifndef SERVICE_RECOVERY_CONSISTENCY_CHECK_H
#define SERVICE_RECOVERY_CONSISTENCY_CHECK_H

#include "service/models/weight_files.h"

struct jobs_base;
struct ledger;

struct consistency_check {
    struct datasets *datasets;
    struct jobs *jobs;
    struct models *models;
    struct statistics_runs *surveys;
    struct weight_files *weight_files;
    struct charges *charges;
    struct webhooks *webhooks;
    struct access_keys *keys;
    struct logins *logins; /* those that have not ended */
    struct policy_proposals *policy_proposals;
};

/* Reads all rows; base is the rest of what jobs need.
 *   ST_CORRUPT  a row cannot be read
 *   ST_IO       the store cannot be read
 * On failure nothing is left open. */
enum status consistency_check_open(struct consistency_check *out, struct store_tx *tx,
                                   const struct jobs_base *base, struct error *error);
void consistency_check_close(struct consistency_check *inventory);

/* Checks that rows and ledger, of one moment, agree:
 *   a private dataset has the budget that its row declares, a public one has none
 *   an imported dataset has records and a digest
 *   a job on private data has the reservation that it cites; a live one still holds it,
 *   and for the mechanism that its plan makes
 *   a survey has the reservation that it cites, and holds it while it runs; one on a
 *   public dataset has none
 *   a charge holds what it declares while it is open, and what is authorised of it is
 *   what its blocks hold
 *   nothing else is held
 *   a job that succeeded names its model, unless that was deleted, and a model its job
 * If the account of a dataset is only in the store
 * (accountant/ledger/ledger_accounts.h), its budget is left to consistency_check_watch,
 * unless the dataset is public or waits for a second person.
 *   ST_CORRUPT  they do not agree */
enum status consistency_check_run(const struct consistency_check *inventory,
                                  struct ledger *ledger, struct error *error);

/* Makes the ledger compare every account that it loads from now on with its
 * dataset's row, as above, before anything is decided by the account. After
 * consistency_check_close the ledger must not be asked anything. */
void consistency_check_watch(const struct consistency_check *inventory,
                             struct ledger *ledger);

#endif
