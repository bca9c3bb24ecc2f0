/*
 * daemon_state.h - the state of the daemon: the store, the ledger, the registries, the
 * threads, and what they share. daemon_lifecycle.h opens and closes it, and everything
 * that works in between gets a pointer to it.
 *
 * Locks, outermost first: the tick clock's gate; the store's transaction; the long
 * polls or the followers; then one of datasets, jobs, models, pool, ledger, sessions,
 * unfinished uploads, denied events, download events or epoch reclaim at a time.
 *
 * Threads
 *   write_queue      one: everything that writes to the store for a request, so that
 *                    duplicates of a request are handled in order; and everything that
 *                    syncs files
 *   cold_readers     two: requests that read the store and write nothing, and accounts
 *                    that are only in the store (cold_account.h)
 *   pricers          two: compute what jobs, sweeps and charges cost (pricers.h); they
 *                    write nothing
 *   cost_queue       as many as there are cores, at most four, and one for small
 *                    requests: predictions, and checks of the files of models
 *   file_predictors  two: predict the rows of files while they arrive (predict_file.h)
 *   importer         one import at a time
 *   runners          --workers jobs at once, each with its own team of --threads
 *   statistics       one statistics request at a time (statistics_runner.h)
 *   fetchers         two: download files of datasets, and run queries (fetcher.h)
 *   store_poller     one, if the store is shared: reads what other daemons write
 *                    (store_poller.h)
 *   heartbeat        one, if the store is shared: reports that this daemon is alive
 *                    (store/heartbeat.h)
 *   webhook_sender   delivers to webhooks (webhook_sender.h)
 *   tick_clock       its ticks make the progress of runs visible (clock_tick.h)
 * and those of the HTTP server, which never wait.
 */
#ifndef SERVICE_PROCESS_DAEMON_STATE_H
#define SERVICE_PROCESS_DAEMON_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct access_keys;
struct blob_name;
struct blobs;
struct budget_gauges;
struct charges;
struct config;
struct counters;
struct webhook_sender;
struct datasets;
struct disk_room;
struct download_events;
struct error;
struct feature_cache;
struct fetch_status;
struct followers;
struct jobs;
struct import_reports;
struct list_cache;
struct lease_monitor;
struct ledger;
struct model_cache;
struct logins;
struct long_polls;
struct store_poller;
struct models;
struct policy_proposals;
struct pool;
struct cost_queue;
struct pricers;
struct process_stats;
struct tick_clock;
struct tokenizers;
struct heartbeat;
struct denied_events;
struct systemd_notify;
struct sso;
struct shared_bodies;
struct step_counters;
struct store;
struct store_tx;
struct statistics_runs;
struct sweeps;
struct transfer_rules;
struct unfinished_uploads;
struct upload_senders;
struct webhooks;
struct weight_files;
struct auth_throttle;

struct daemon_state {
    const struct config *config;
    struct blobs *blobs;
    struct store *store;
    struct ledger *ledger;
    struct datasets *datasets;
    struct list_cache *dataset_lines;
    struct jobs *jobs;
    struct sweeps *sweeps; /* of jobs */
    struct models *models;
    struct statistics_runs *statistics_runs;
    struct weight_files *weight_files;
    struct charges *charges;
    struct webhooks *webhooks;
    struct access_keys *keys;
    struct auth_throttle *auth_throttle;
    struct logins *logins;
    struct sso *sso; /* NULL: no proxy is trusted */
    struct long_polls *long_polls;
    struct followers *followers;
    struct pool *write_queue, *importer, *runners, *statistics_runners;
    /* download a bucket's files for requests that wait in the write queue */
    struct pool *blob_fetchers;
    struct pool *cold_readers;   /* of data that is only in the store */
    struct pool *blob_uploaders; /* upload to a bucket; NULL: files are in folders */
    struct tick_clock *tick_clock;
    struct cost_queue *cost_queue;
    struct pool *file_predictors;
    atomic_uint predict_files; /* files that are being predicted */
    struct pricers *pricers;
    struct transfer_rules *outbound; /* rules for requests that the service makes */
    struct webhook_sender *webhook_sender;
    struct store_poller *store_poller; /* NULL: the store is not shared */
    struct heartbeat *heartbeat;   /* renews this daemon's lease; NULL: not shared */
    atomic_uint_fast64_t followed; /* times that writes of others were taken over */
    struct fetch_status *fetch_status;
    struct pool *fetchers;
    struct model_cache *model_cache;
    struct shared_bodies *bodies; /* of published models */
    struct tokenizers *tokenizers;
    /* outputs of frozen layers on the records of datasets */
    struct feature_cache *feature_cache;
    struct disk_room *disk_room;
    struct counters *counters;
    struct step_counters *step_counters;
    struct process_stats *process_stats;
    struct budget_gauges *budget_gauges;
    struct unfinished_uploads *unfinished_uploads;
    struct upload_senders *upload_senders;
    struct import_reports *import_reports;
    struct denied_events *denied_events; /* waiting to be written to the audit trail */
    struct policy_proposals *policy_proposals;
    /* downloads that the audit trail has rows for */
    struct download_events *download_events;
    /* the process that started this one, or NULL */
    struct systemd_notify *systemd_notify;
    /* random for each start: part of the tags of lists and of event ids */
    char nonce[17];
    int64_t start_ms;                    /* wall clock when it was opened */
    struct lease_monitor *lease_monitor; /* of a shared store; or NULL */
    atomic_size_t jobs_here;   /* jobs that run here, if the store is shared */
    atomic_bool draining;      /* no new jobs */
    atomic_bool stop_training; /* running jobs end as FAILED (shutdown) */
    atomic_bool import_cancel;
};

/* Removes a blob, durably. A failure is logged. */
bool daemon_state_remove(const struct daemon_state *context,
                         const struct blob_name *name);

/* Ends the transaction of a request that registers or submits (store_end), and records
 * how long its commit took (counters.h). */
enum status daemon_state_end(const struct daemon_state *context, struct store_tx *tx,
                             enum status status, struct error *error);

/* For any failure that may mean that the ledger can no longer be written: if the store
 * is poisoned, logs it, waits a moment so that replies can be sent, and ends the
 * process with 75. */
void daemon_state_guard(const struct daemon_state *context);

#endif
