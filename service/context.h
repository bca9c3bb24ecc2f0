/*
 * context.h - the state of the daemon: the store, the ledger, the registries, the
 * threads, and what they share. service.h opens and closes it, and everything that
 * works in between gets a pointer to it.
 *
 * Locks, outermost first: the public clock's gate; the store's transaction; the long
 * polls or the followers; then one of datasets, jobs, models, pool, ledger, sessions,
 * unfinished uploads, refusals, downloads or visits at a time.
 *
 * Threads
 *   desk        one: everything that writes to the store for a request, so that
 *               duplicates of a request are handled in order; and everything that syncs
 *               files
 *   readers     two: requests that read the store and write nothing, and accounts that
 *               are only in the store (closed_account.h)
 *   pricers     two: compute what jobs, sweeps and charges cost (pricers.h); they write
 *               nothing
 *   predictors  as many as there are cores, at most four, and one for small requests:
 *               predictions, and checks of the files of models
 *   importer    one import at a time
 *   runners     --workers jobs at once, each with its own team of --threads
 *   surveyor    one: one survey at a time (surveyor.h)
 *   fetchers    two: download files of datasets by https (fetcher.h)
 *   lookout     one, if the store is shared: reads what other daemons write (lookout.h)
 *   pulse       one, if the store is shared: reports that this daemon is alive
 *               (store/pulse.h)
 *   courier     delivers to webhooks (courier.h)
 *   clock       the public clock's; its ticks make the progress of runs visible
 *               (tick.h)
 * and those of the HTTP server, which never wait.
 */
#ifndef SERVICE_CONTEXT_H
#define SERVICE_CONTEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct access_keys;
struct blob_name;
struct blobs;
struct budget_board;
struct charges;
struct config;
struct counters;
struct courier;
struct datasets;
struct disk_room;
struct downloads;
struct error;
struct feature_cache;
struct fetches;
struct followers;
struct jobs;
struct kept_lines;
struct lease_keeper;
struct ledger;
struct loaded_models;
struct logins;
struct long_polls;
struct lookout;
struct models;
struct policy_proposals;
struct pool;
struct predictors;
struct pricers;
struct process_figures;
struct public_clock;
struct pulse;
struct refusals;
struct service_manager;
struct sign_on;
struct step_tally;
struct store;
struct store_tx;
struct surveys;
struct sweeps;
struct transfer_rules;
struct unfinished_uploads;
struct webhooks;
struct weight_files;
struct wrong_keys;

struct context {
    const struct config *config;
    struct blobs *blobs;
    struct store *store;
    struct ledger *ledger;
    struct datasets *datasets;
    struct kept_lines *dataset_lines;
    struct jobs *jobs;
    struct sweeps *sweeps; /* of jobs */
    struct models *models;
    struct surveys *surveys;
    struct weight_files *weight_files;
    struct charges *charges;
    struct webhooks *webhooks;
    struct access_keys *keys;
    struct wrong_keys *wrong_keys;
    struct logins *logins;
    struct sign_on *sign_on; /* NULL: no proxy is trusted */
    struct long_polls *long_polls;
    struct followers *followers;
    struct pool *desk, *importer, *runners, *surveyors;
    struct pool
        *porters; /* download a bucket's files for requests that wait on the desk */
    struct pool *readers; /* of data that is only in the store */
    struct pool *senders; /* upload to a bucket; NULL: files are in folders */
    struct public_clock *clock;
    struct predictors *predictors;
    struct pricers *pricers;
    struct transfer_rules *outbound; /* rules for requests that the service makes */
    struct courier *courier;
    struct lookout *lookout;       /* NULL: the store is not shared */
    struct pulse *pulse;           /* renews this daemon's lease; NULL: not shared */
    atomic_uint_fast64_t followed; /* times that writes of others were taken over */
    struct fetches *fetches;
    struct pool *fetchers;
    struct loaded_models *loaded_models;
    struct feature_cache
        *feature_cache; /* outputs of frozen layers on the records of datasets */
    struct disk_room *disk_room;
    struct counters *counters;
    struct step_tally *step_tally;
    struct process_figures *process_figures;
    struct budget_board *budget_board;
    struct unfinished_uploads *unfinished_uploads;
    struct refusals *refusals; /* waiting to be written to the audit trail */
    struct policy_proposals *policy_proposals;
    struct downloads *downloads;     /* downloads that the audit trail has rows for */
    struct service_manager *manager; /* the process that started this one, or NULL */
    char nonce
        [17]; /* random for each start: part of the tags of lists and of event ids */
    int64_t start_ms;                  /* wall clock when it was opened */
    struct lease_keeper *lease_keeper; /* of a shared store; or NULL */
    atomic_size_t jobs_here;           /* jobs that run here, if the store is shared */
    atomic_bool draining;              /* no new jobs */
    atomic_bool stop_training;         /* running jobs end as FAILED (shutdown) */
    atomic_bool import_cancel;
};

/* Removes a blob, durably. A failure is logged. */
bool context_remove(const struct context *context, const struct blob_name *name);

/* Ends the transaction of a request that registers or submits (store_end), and records
 * how long its commit took (counters.h). */
enum status context_end(const struct context *context, struct store_tx *tx,
                        enum status status, struct error *error);

/* For any failure that may mean that the ledger can no longer be written: if the store
 * is poisoned, logs it, waits a moment so that replies can be sent, and ends the
 * process with 75. */
void context_guard(const struct context *context);

#endif
