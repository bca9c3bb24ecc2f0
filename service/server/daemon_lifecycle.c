/* Opening goes from what depends on nothing to what depends on the rest: the store, the
 * ledger and the rows, what a dead process left, the disk's room, and finally the
 * threads. Closing goes the other way, and if no clock was made there were no threads:
 * the same function closes a context that was opened partly. */
#include "service/server/daemon_lifecycle.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "accountant/ledger/ledger_freeze.h"
#include "api/limits.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "engine/feature_cache.h"
#include "engine/model_file/shared_bodies.h"
#include "service/audit/denied_events.h"
#include "service/audit/download_events.h"
#include "service/config/blob_config.h"
#include "service/config/store_config.h"
#include "service/datasets/list_cache.h"
#include "service/http/followers.h"
#include "service/identity/access_keys.h"
#include "service/identity/auth_throttle.h"
#include "service/identity/logins.h"
#include "service/identity/policy_proposals.h"
#include "service/identity/sso.h"
#include "service/ingest/fetch_status.h"
#include "service/ingest/fetcher.h"
#include "service/ingest/importer.h"
#include "service/ingest/import_reports.h"
#include "service/ingest/unfinished_uploads.h"
#include "service/ingest/upload_senders.h"
#include "service/jobs/charges.h"
#include "service/jobs/statistics_runs.h"
#include "service/jobs/sweeps.h"
#include "service/metrics/budget_gauges.h"
#include "service/metrics/step_counters.h"
#include "service/models/model_cache.h"
#include "service/models/tokenizers.h"
#include "service/models/models.h"
#include "service/outbound/transfer.h"
#include "service/peers/lease_monitor.h"
#include "service/peers/progress_sync.h"
#include "service/peers/run_claims.h"
#include "service/planning/pricers.h"
#include "service/process/counters.h"
#include "service/process/daemon_state.h"
#include "service/process/disk_room.h"
#include "service/process/process_stats.h"
#include "service/process/systemd_notify.h"
#include "service/recovery/consistency_check.h"
#include "service/recovery/ledger_opening.h"
#include "service/recovery/recovery.h"
#include "service/recovery/store_changes.h"
#include "service/runs/job_scheduler.h"
#include "service/runs/runner.h"
#include "service/runs/statistics_runner.h"
#include "service/server/clock_tick.h"
#include "service/threads/cost_queue.h"
#include "service/threads/pool.h"
#include "service/threads/store_poller.h"
#include "service/threads/tick_clock.h"
#include "service/webhooks/webhook_sender.h"
#include "service/webhooks/webhooks.h"
#include "store/blobs/blob_objects.h"
#include "store/change_feed.h"
#include "store/heartbeat.h"
#include "store/lease.h"

enum {
    /* Requests that wait for the write queue: there are fewer connections. */
    WRITE_QUEUE_MAX = 4096,
    PREDICTOR_THREADS_MAX = 4,
    FILE_PREDICTOR_THREADS = 2,
    PREDICTION_WAIT_MS = 30000,     /* the client may give up after that */
    LOADED_MODELS_SIZE = 256 << 20, /* bytes of idle models */
    /* Bytes of bodies that no model uses: room for two of the size of BERT's. */
    IDLE_BODIES_SIZE = 1 << 30,
    LONG_POLLS_MAX = 1024, /* in addition to LIMIT_FOLLOWERS streams
                                       (server.c) */
    STOP_TIMEOUT_MS = 60000,
    /* The write queue never waits for the network. These pools do: */
    COLD_READ_THREADS = 2,   /* requests that only read the store */
    BLOB_UPLOAD_THREADS = 4, /* uploads to a bucket */
    BLOB_FETCH_THREADS =
        4, /* files from the bucket that a request needs in the write queue */
    FETCHER_THREADS = 2, /* a dataset has two files at most */
};

/* Limits of predictions by what they cost, in nanoseconds of a core. */
static const uint64_t predictions_queued_max = UINT64_C(60000000000);
static const uint64_t prediction_small_max = UINT64_C(100000000);

/* The runs of a sweep follow each other within the hour. */
static const struct feature_cache_limits feature_limits = {.size = UINT64_C(8) << 30,
                                                           .idle_s = 3600};

/* --- opening --- */

/* Followers of lists see the change at the next tick. */
static void dataset_changed(void *context, const struct dataset_id *dataset)
{
    struct daemon_state *opened = context;
    jobs_note_dataset(opened->jobs, dataset);
}

/* Reads the rows and, if possible at the same time, the ledger. Both are of one moment:
 * either no other daemon writes, or what others have written since the ledger was read
 * is read too. An error of the ledger is reported before one of the rows. */
static enum status read_books(struct daemon_state *context,
                              struct consistency_check *inventory, struct error *error)
{
    struct store_tx *tx;
    struct error of_rows = {0};
    const struct jobs_base base = {.long_polls = context->long_polls};
    struct ledger_opening *opening = ledger_opening_begin(context->store);
    enum status rows, status = ST_OK;
    do {
        tx = NULL;
        consistency_check_close(inventory);
        *inventory = (struct consistency_check){0};
        rows = store_begin(context->store, STORE_READ, &tx, &of_rows);
        if (rows == ST_OK)
            rows = consistency_check_open(inventory, tx, &base, &of_rows);
        if (opening != NULL)
            status = ledger_opening_end(opening, &context->ledger, error);
        opening = NULL;
        if (status == ST_OK && rows == ST_OK)
            rows = ledger_follow_all_in(context->ledger, tx, &of_rows);
    } while (tx != NULL && store_again(tx, &rows, &of_rows));
    if (status == ST_OK && rows != ST_OK)
        status = error_set(error, rows, "%s", of_rows.text);
    return status;
}

/* Reads the rows and the ledger, and checks that they agree. */
static enum status open_books(struct daemon_state *context, struct error *error)
{
    struct consistency_check inventory = {0};
    enum status status = read_books(context, &inventory, error);
    context->datasets = inventory.datasets;
    context->jobs = inventory.jobs;
    context->models = inventory.models;
    context->statistics_runs = inventory.surveys;
    context->weight_files = inventory.weight_files;
    context->charges = inventory.charges;
    context->webhooks = inventory.webhooks;
    context->keys = inventory.keys;
    context->logins = inventory.logins;
    context->policy_proposals = inventory.policy_proposals;
    if (status != ST_OK)
        return status;
    context->sweeps = sweeps_create(context->jobs);
    datasets_watch(context->datasets, dataset_changed, context);
    status = consistency_check_run(&inventory, context->ledger, error);
    if (status == ST_OK && store_shared(context->store))
        status = store_changes_begin(context, error);
    consistency_check_watch(&inventory, context->ledger);
    return status;
}

/* --- other daemons --- */

static void look(void *argument)
{
    struct daemon_state *context = argument;
    if (progress_sync_look(context, NULL) == ST_OK)
        progress_sync_tell(context, NULL);
    daemon_state_guard(context);
}

/* From now on memory follows what other daemons write, before each transaction. */
static void follow(struct daemon_state *context)
{
    const struct change_feed_hook hook = {store_changes_renew, context};
    if (store_shared(context->store))
        store_follow(context->store, &hook);
}

static void open_store_poller(struct daemon_state *context,
                              const struct daemon_lifecycle_hooks *hooks)
{
    const struct store_poller_hooks looking = {look, context, hooks->resume};
    if (store_shared(context->store))
        context->store_poller = store_poller_create(&looking);
}

static enum status open_head_file(struct daemon_state *context, struct error *error)
{
    bool frozen = false;
    enum status status =
        ledger_head_file(context->ledger, context->config->head_file, &frozen, error);
    if (status == ST_OK && frozen)
        log_event(LOG_WARNING, "frozen", "detail",
                  "the database is older than the head on record: its private datasets "
                  "are frozen until `epsilond regrant`",
                  (char *)NULL);
    return status;
}

static enum status open_sign_on(struct daemon_state *context, struct error *error)
{
    const struct config *config = context->config;
    if (config->groups[0] == '\0')
        return ST_OK;
    return sso_open(&context->sso, &config->trust_proxy, config->groups, error);
}

static void guard(const void *context)
{
    daemon_state_guard(context);
}

static enum status open_store(struct daemon_state *context, struct error *error)
{
    enum status status = blobs_open(&context->blobs, context->config->data_dir, error);
    if (status != ST_OK)
        return status;
    disk_room_init(context->disk_room, context->blobs);
    context->unfinished_uploads = unfinished_uploads_create(context->blobs);
    context->upload_senders = upload_senders_create();
    context->import_reports = import_reports_create();
    status = store_config_open_beside(&context->store, context->config, context->blobs,
                                      error);
    if (status == ST_OK)
        context->heartbeat =
            heartbeat_start(context->store, LEASE_RENEWAL_S * INT64_C(1000));
    if (status == ST_OK)
        status =
            blob_config_open(context->blobs, context->store, context->config, error);
    if (status == ST_OK)
        context->lease_monitor =
            lease_monitor_create(context->store, context->config->role, guard, context);
    return status;
}

static void open_predictors(struct daemon_state *context,
                            const struct daemon_lifecycle_hooks *hooks)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = cores > PREDICTOR_THREADS_MAX ? PREDICTOR_THREADS_MAX
                       : cores > 0                   ? (unsigned)cores
                                                     : 1;
    const struct cost_queue_setup setup = {
        .threads = threads,
        .small_max = prediction_small_max,
        .queued_max = predictions_queued_max,
        .wait_max_ms = PREDICTION_WAIT_MS,
        .run = hooks->run,
        .late = hooks->late,
        .context = context,
    };
    context->bodies = shared_bodies_create(IDLE_BODIES_SIZE);
    context->model_cache = model_cache_create(LOADED_MODELS_SIZE);
    context->tokenizers = tokenizers_create();
    context->cost_queue = cost_queue_create(&setup);
    context->file_predictors =
        pool_create(FILE_PREDICTOR_THREADS, LIMIT_PREDICT_FILES, hooks->run, context);
}

static void make_nonce(struct daemon_state *context)
{
    uint64_t random;
    random_bytes(&random, sizeof random);
    snprintf(context->nonce, sizeof context->nonce, "%016llx",
             (unsigned long long)random);
}

/* The plain figures of the process, which need no order among themselves. */
static void make_figures(struct daemon_state *context)
{
    context->outbound = calloc(1, sizeof *context->outbound);
    context->counters = calloc(1, sizeof *context->counters);
    context->disk_room = calloc(1, sizeof *context->disk_room);
    context->step_counters = calloc(1, sizeof *context->step_counters);
    context->process_stats = calloc(1, sizeof *context->process_stats);
    CHECK(context->outbound != NULL && context->counters != NULL &&
          context->disk_room != NULL && context->step_counters != NULL &&
          context->process_stats != NULL);
    context->outbound->allowed = context->config->outbound_allow;
    context->outbound->ca_file = context->config->outbound_ca;
}

static void free_figures(struct daemon_state *context)
{
    free(context->outbound);
    free(context->counters);
    free(context->disk_room);
    free(context->step_counters);
    free(context->process_stats);
}

/* Opens the queues and pools, whose threads begin to wait for work. */
static void open_workers(struct daemon_state *context,
                         const struct daemon_lifecycle_hooks *hooks)
{
    context->write_queue = pool_create(1, WRITE_QUEUE_MAX, hooks->run, context);
    context->cold_readers =
        pool_create(COLD_READ_THREADS, WRITE_QUEUE_MAX, hooks->run, context);
    context->pricers = pricers_create(hooks->run, context);
    if (context->config->blobs[0] != '\0') {
        context->blob_uploaders =
            pool_create(BLOB_UPLOAD_THREADS, WRITE_QUEUE_MAX, hooks->run, context);
        context->blob_fetchers =
            pool_create(BLOB_FETCH_THREADS, WRITE_QUEUE_MAX, hooks->run, context);
    }
    open_predictors(context, hooks);
    /* Each fetcher may begin an import at the same moment as the write queue. */
    context->importer =
        pool_create(1, IMPORTS_MAX + FETCHER_THREADS, importer_run, context);
    /* The queue is as long as the number of workers: no job waits for long
     * (job_scheduler.h, invariant 3). */
    context->runners = pool_create(context->config->workers, context->config->workers,
                                   runner_run, context);
    context->statistics_runners =
        pool_create(1, LIMIT_SURVEYS, statistics_runner_run, context);
}

enum status daemon_lifecycle_open(struct daemon_state *context,
                                  const struct config *config,
                                  const struct daemon_lifecycle_hooks *hooks,
                                  struct error *error)
{
    *context = (struct daemon_state){.config = config, .start_ms = clock_wall_ms()};
    make_figures(context);
    transfer_library_open();
    make_nonce(context);
    context->systemd_notify = systemd_notify_open();
    context->budget_gauges = budget_gauges_create(config->metrics_datasets_max);
    context->feature_cache = feature_cache_create(&feature_limits);
    context->denied_events = denied_events_create();
    context->download_events = download_events_create();
    context->auth_throttle = auth_throttle_create();
    context->long_polls = long_polls_create(LONG_POLLS_MAX, hooks->resume);
    const struct followers_hooks following = {hooks->suspend, hooks->resume,
                                              hooks->may_stay};
    context->followers = followers_create(&following);
    context->dataset_lines = list_cache_create();
    enum status status = open_sign_on(context, error);
    if (status == ST_OK)
        status = open_store(context, error);
    if (status == ST_OK)
        status = open_books(context, error);
    if (status == ST_OK && config->head_file[0] != '\0')
        status = open_head_file(context, error);
    if (status == ST_OK)
        follow(context);
    if (status == ST_OK)
        status = store_await_check(context->store, error);
    if (status == ST_OK) {
        run_claims_open(context);
        status = blob_objects_collect(context->blobs, error);
    }
    if (status == ST_OK)
        status = recovery_run(context, error);
    if (status != ST_OK) {
        if (status == ST_IO && context->blobs != NULL)
            blobs_drop_ballast(context->blobs);
        daemon_lifecycle_close(context);
        return status;
    }
    open_workers(context, hooks);
    context->tick_clock = tick_clock_create(clock_tick_run, context);
    const struct webhook_sender_base base = {context->store, context->webhooks,
                                             context->outbound, context->counters,
                                             context->lease_monitor};
    context->webhook_sender = webhook_sender_create(&base);
    open_store_poller(context, hooks);
    context->fetch_status = fetch_status_create();
    context->fetchers =
        pool_create(FETCHER_THREADS, LIMIT_FETCHES, fetcher_run, context);
    disk_room_measure(context->disk_room);
    process_stats_measure(context->process_stats,
                          feature_cache_size(context->feature_cache));
    return ST_OK;
}

void daemon_lifecycle_start(struct daemon_state *context)
{
    tick_clock_start(context->tick_clock);
    job_scheduler_begin(context, clock_wall_s());
}

/* --- the end --- */

/* Waits until every end is published, at most timeout_ms and a tick; true if that
 * happened in time. */
static bool await_ends(struct daemon_state *context, int64_t timeout_ms)
{
    int64_t end_ns = clock_monotonic_ns() + timeout_ms * 1000000;
    while (!run_claims_idle(context)) {
        if (clock_monotonic_ns() >= end_ns)
            return false;
        tick_clock_wait(context->tick_clock);
    }
    return true;
}

/* Returns when no job is about to begin: code that begins a job checks draining inside
 * a transaction. */
static void await_beginnings(struct daemon_state *context)
{
    struct store_tx *tx = NULL;
    if (store_begin(context->store, STORE_READ, &tx, NULL) == ST_OK)
        store_rollback(tx);
}

void daemon_lifecycle_drain(struct daemon_state *context)
{
    atomic_store(&context->draining, true);
    atomic_store(&context->import_cancel, true);
    pool_pause(context->importer);
    await_beginnings(context);
    if (!await_ends(context, (int64_t)context->config->drain_timeout_s * 1000)) {
        atomic_store(&context->stop_training, true);
        await_ends(context, STOP_TIMEOUT_MS);
    }
    pool_wait_idle(context->importer, STOP_TIMEOUT_MS);
}

/* Ends the runs that did not react to their stop until after the last tick, and writes
 * the remaining refusals. */
static void end_leftovers(struct daemon_state *context)
{
    if (context->tick_clock == NULL)
        return;
    atomic_store(&context->draining, true);
    tick_clock_destroy(context->tick_clock);
    clock_tick_run(context, clock_wall_s());
    denied_events_write(context->denied_events, context->store, INT64_MAX, NULL);
}

void daemon_lifecycle_close(struct daemon_state *context)
{
    if (context->fetch_status != NULL)
        fetch_status_cancel_all(context->fetch_status);
    pool_destroy(context->fetchers);
    fetch_status_destroy(context->fetch_status);
    pool_destroy(context->runners);
    pool_destroy(context->statistics_runners);
    pool_destroy(context->importer);
    cost_queue_destroy(context->cost_queue);
    pool_destroy(context->file_predictors);
    model_cache_destroy(context->model_cache);
    shared_bodies_destroy(context->bodies);
    tokenizers_destroy(context->tokenizers);
    pool_destroy(context->blob_uploaders);
    pool_destroy(context->blob_fetchers);
    pool_destroy(context->cold_readers);
    pricers_destroy(context->pricers);
    pool_destroy(context->write_queue);
    end_leftovers(context);
    webhook_sender_destroy(context->webhook_sender);
    store_poller_destroy(context->store_poller);
    followers_destroy(context->followers);
    long_polls_destroy(context->long_polls);
    import_reports_destroy(context->import_reports);
    upload_senders_destroy(context->upload_senders);
    unfinished_uploads_destroy(context->unfinished_uploads);
    webhooks_close(context->webhooks);
    auth_throttle_destroy(context->auth_throttle);
    logins_destroy(context->logins);
    sso_close(context->sso);
    access_keys_close(context->keys);
    charges_close(context->charges);
    statistics_runs_close(context->statistics_runs);
    weight_files_close(context->weight_files);
    models_close(context->models);
    sweeps_destroy(context->sweeps);
    jobs_close(context->jobs);
    datasets_close(context->datasets);
    list_cache_destroy(context->dataset_lines);
    feature_cache_destroy(context->feature_cache);
    denied_events_destroy(context->denied_events);
    policy_proposals_destroy(context->policy_proposals);
    download_events_destroy(context->download_events);
    ledger_close(context->ledger);
    blob_objects_leave(context->blobs);
    heartbeat_stop(context->heartbeat);
    lease_monitor_destroy(context->lease_monitor);
    store_close(context->store);
    blobs_close(context->blobs);
    budget_gauges_destroy(context->budget_gauges);
    free_figures(context);
    systemd_notify_close(context->systemd_notify);
    *context = (struct daemon_state){0};
}
