/*
 * inventory.h - the rows of datasets, jobs, models, weights, charges, webhooks, keys, logins and
 * policies that wait: read, and compared with each other, with the ledger and with the files
 * that they name.
 *
 * A start refuses what inventory_open or inventory_check refuses, and `epsilond verify`
 * calls the same functions, so what it finds good starts. Every error names the table
 * and the id of the row, or the file.
 *
 * Threads: one; a store transaction is an argument, so that all is of one moment.
 */
#ifndef SERVICE_INVENTORY_H
#define SERVICE_INVENTORY_H

#include "accountant/ledger.h"
#include "service/access_keys.h"
#include "service/charges.h"
#include "service/datasets.h"
#include "service/jobs.h"
#include "service/logins.h"
#include "service/models.h"
#include "service/policy_proposals.h"
#include "service/surveys.h"
#include "service/webhooks.h"
#include "service/weight_files.h"

struct inventory {
    struct datasets *datasets;
    struct jobs *jobs;
    struct models *models;
    struct surveys *surveys;
    struct weight_files *weight_files;
    struct charges *charges;
    struct webhooks *webhooks;
    struct access_keys *keys;
    struct logins *logins; /* that are not over */
    struct policy_proposals *policy_proposals;
};

/* Reads all rows; base says the rest of what jobs stand on.
 *   ST_CORRUPT  a row does not read back
 *   ST_IO       the store cannot be read
 * On failure nothing is left open. */
enum status inventory_open(struct inventory *out, struct store_tx *tx,
                           const struct jobs_base *base, struct error *error);
void inventory_close(struct inventory *inventory);

/* Whether rows and ledger, of one moment, agree:
 *   a private dataset has the budget that its row declares, a public one has none
 *   an imported dataset has records and a digest
 *   a job on private data has the reservation that it cites; a live one still holds it,
 *   and for the mechanism that its plan makes; a survey has the reservation that it cites,
 *   and holds it while it runs; a charge holds what was declared of it while it is open,
 *   and what is authorised of it is what its blocks hold; and nothing else is held
 *   a job that succeeded names its model, unless that was deleted, and a model its job
 * Of a dataset whose account is in the store alone (accountant/ledger_accounts.h) the budget
 * is left to inventory_watch. One that is public, or waits for a second person, is asked for.
 *   ST_CORRUPT  they do not */
enum status inventory_check(const struct inventory *inventory, struct ledger *ledger,
                            struct error *error);

/* Has every account that is loaded from now on compared with its dataset's row, as above,
 * before anything is decided by it. The ledger is asked nothing once the inventory is
 * closed. */
void inventory_watch(const struct inventory *inventory, struct ledger *ledger);

/* Whether the files of models, weights and datasets have the sizes and digests of their rows. A
 * dataset or model that the daemon beside has deleted since is left out: store is asked
 * again.
 *   ST_CORRUPT  one is missing or is not what its row says
 *   ST_IO       one cannot be read */
enum status inventory_check_files(const struct inventory *inventory,
                                  struct store *store, const struct blobs *blobs,
                                  struct error *error);

#endif
