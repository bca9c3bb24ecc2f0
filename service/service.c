/* Opening goes from what depends on nothing to what depends on the rest: the store, the
 * ledger and the rows, what a dead process left, the disk's room, and finally the
 * threads. Closing goes the other way, and if no clock was made there were no threads:
 * the same function closes a context that was opened partly. */
#include "service/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "accountant/ledger_freeze.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "engine/feature_cache.h"
#include "service/access_keys.h"
#include "service/blob_choice.h"
#include "service/budget_board.h"
#include "service/charges.h"
#include "service/claims.h"
#include "service/context.h"
#include "service/counters.h"
#include "service/courier.h"
#include "service/course.h"
#include "service/disk_room.h"
#include "service/downloads.h"
#include "service/fetcher.h"
#include "service/fetches.h"
#include "service/followers.h"
#include "service/following.h"
#include "service/importer.h"
#include "service/inventory.h"
#include "service/kept_lines.h"
#include "service/lease_keeper.h"
#include "service/ledger_opening.h"
#include "service/loaded_models.h"
#include "service/logins.h"
#include "service/lookout.h"
#include "service/models.h"
#include "service/outbound/transfer.h"
#include "service/policy_proposals.h"
#include "service/pool.h"
#include "service/predictors.h"
#include "service/pricers.h"
#include "service/process_figures.h"
#include "service/public_clock.h"
#include "service/recovery.h"
#include "service/refusals.h"
#include "service/run_progress.h"
#include "service/runner.h"
#include "service/service_manager.h"
#include "service/sign_on.h"
#include "service/step_tally.h"
#include "service/store_choice.h"
#include "service/surveyor.h"
#include "service/surveys.h"
#include "service/sweeps.h"
#include "service/tick.h"
#include "service/unfinished_uploads.h"
#include "service/webhooks.h"
#include "service/wrong_keys.h"
#include "store/blob_objects.h"
#include "store/follow.h"
#include "store/lease.h"
#include "store/pulse.h"

enum {
    /* Requests that wait for the desk: there are fewer connections. */
    DESK_QUEUE = 4096,
    PREDICTOR_THREADS_MAX = 4,
    PREDICTION_WAIT_MS = 30000,     /* the client may give up after that */
    LOADED_MODELS_SIZE = 256 << 20, /* bytes of idle models */
    LONG_POLLS_MAX = 1024,          /* in addition to LIMIT_FOLLOWERS streams
                                       (server.c) */
    STOP_TIMEOUT_MS = 60000,
    /* The desk never waits for the network. These pools do: */
    READER_THREADS = 2,  /* requests that only read the store */
    SENDER_THREADS = 4,  /* uploads to a bucket */
    PORTER_THREADS = 4,  /* files from the bucket that a request needs on the desk */
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
    struct context *opened = context;
    jobs_note_dataset(opened->jobs, dataset);
}

/* Reads the rows and, if possible at the same time, the ledger. Both are of one moment:
 * either no other daemon writes, or what others have written since the ledger was read
 * is read too. An error of the ledger is reported before one of the rows. */
static enum status read_books(struct context *context, struct inventory *inventory,
                              struct error *error)
{
    struct store_tx *tx;
    struct error of_rows = {0};
    const struct jobs_base base = {.long_polls = context->long_polls};
    struct ledger_opening *opening = ledger_opening_begin(context->store);
    enum status rows, status = ST_OK;
    do {
        tx = NULL;
        inventory_close(inventory);
        *inventory = (struct inventory){0};
        rows = store_begin(context->store, STORE_READ, &tx, &of_rows);
        if (rows == ST_OK)
            rows = inventory_open(inventory, tx, &base, &of_rows);
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
static enum status open_books(struct context *context, struct error *error)
{
    struct inventory inventory = {0};
    enum status status = read_books(context, &inventory, error);
    context->datasets = inventory.datasets;
    context->jobs = inventory.jobs;
    context->models = inventory.models;
    context->surveys = inventory.surveys;
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
    status = inventory_check(&inventory, context->ledger, error);
    if (status == ST_OK && store_shared(context->store))
        status = following_begin(context, error);
    inventory_watch(&inventory, context->ledger);
    return status;
}

/* --- other daemons --- */

static void look(void *argument)
{
    struct context *context = argument;
    if (run_progress_look(context, NULL) == ST_OK)
        run_progress_tell(context, NULL);
    context_guard(context);
}

/* From now on memory follows what other daemons write, before each transaction. */
static void follow(struct context *context)
{
    const struct follow_hook hook = {following_renew, context};
    if (store_shared(context->store))
        store_follow(context->store, &hook);
}

static void open_lookout(struct context *context, const struct service_hooks *hooks)
{
    const struct lookout_hooks looking = {look, context, hooks->resume};
    if (store_shared(context->store))
        context->lookout = lookout_create(&looking);
}

static enum status open_head_file(struct context *context, struct error *error)
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

static enum status open_sign_on(struct context *context, struct error *error)
{
    const struct config *config = context->config;
    if (config->groups[0] == '\0')
        return ST_OK;
    return sign_on_open(&context->sign_on, &config->trust_proxy, config->groups, error);
}

static void guard(const void *context)
{
    context_guard(context);
}

static enum status open_store(struct context *context, struct error *error)
{
    enum status status = blobs_open(&context->blobs, context->config->data_dir, error);
    if (status != ST_OK)
        return status;
    disk_room_init(context->disk_room, context->blobs);
    context->unfinished_uploads = unfinished_uploads_create(context->blobs);
    status = store_choice_open_beside(&context->store, context->config, context->blobs,
                                      error);
    if (status == ST_OK)
        context->pulse = pulse_start(context->store, LEASE_RENEWAL_S * INT64_C(1000));
    if (status == ST_OK)
        status =
            blob_choice_open(context->blobs, context->store, context->config, error);
    if (status == ST_OK)
        context->lease_keeper =
            lease_keeper_create(context->store, context->config->role, guard, context);
    return status;
}

static void open_predictors(struct context *context, const struct service_hooks *hooks)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = cores > PREDICTOR_THREADS_MAX ? PREDICTOR_THREADS_MAX
                       : cores > 0                   ? (unsigned)cores
                                                     : 1;
    const struct predictors_setup setup = {
        .threads = threads,
        .small_max = prediction_small_max,
        .queued_max = predictions_queued_max,
        .wait_max_ms = PREDICTION_WAIT_MS,
        .run = hooks->run,
        .late = hooks->late,
        .context = context,
    };
    context->loaded_models = loaded_models_create(LOADED_MODELS_SIZE);
    context->predictors = predictors_create(&setup);
}

static void make_nonce(struct context *context)
{
    uint64_t random;
    random_bytes(&random, sizeof random);
    snprintf(context->nonce, sizeof context->nonce, "%016llx",
             (unsigned long long)random);
}

/* The plain figures of the process, which need no order among themselves. */
static void make_figures(struct context *context)
{
    context->outbound = calloc(1, sizeof *context->outbound);
    context->counters = calloc(1, sizeof *context->counters);
    context->disk_room = calloc(1, sizeof *context->disk_room);
    context->step_tally = calloc(1, sizeof *context->step_tally);
    context->process_figures = calloc(1, sizeof *context->process_figures);
    CHECK(context->outbound != NULL && context->counters != NULL &&
          context->disk_room != NULL && context->step_tally != NULL &&
          context->process_figures != NULL);
    context->outbound->allowed = context->config->outbound_allow;
    context->outbound->ca_file = context->config->outbound_ca;
}

static void free_figures(struct context *context)
{
    free(context->outbound);
    free(context->counters);
    free(context->disk_room);
    free(context->step_tally);
    free(context->process_figures);
}

enum status service_open(struct context *context, const struct config *config,
                         const struct service_hooks *hooks, struct error *error)
{
    *context = (struct context){.config = config, .start_ms = clock_wall_ms()};
    make_figures(context);
    transfer_library_open();
    make_nonce(context);
    context->manager = service_manager_open();
    context->budget_board = budget_board_create(config->metrics_datasets_max);
    context->feature_cache = feature_cache_create(&feature_limits);
    context->refusals = refusals_create();
    context->downloads = downloads_create();
    context->wrong_keys = wrong_keys_create();
    context->long_polls = long_polls_create(LONG_POLLS_MAX, hooks->resume);
    const struct followers_hooks following = {hooks->suspend, hooks->resume,
                                              hooks->may_stay};
    context->followers = followers_create(&following);
    context->dataset_lines = kept_lines_create();
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
        claims_open(context);
        status = blob_objects_collect(context->blobs, error);
    }
    if (status == ST_OK)
        status = recovery_run(context, error);
    if (status != ST_OK) {
        if (status == ST_IO && context->blobs != NULL)
            blobs_drop_ballast(context->blobs);
        service_close(context);
        return status;
    }
    context->desk = pool_create(1, DESK_QUEUE, hooks->run, context);
    context->readers = pool_create(READER_THREADS, DESK_QUEUE, hooks->run, context);
    context->pricers = pricers_create(hooks->run, context);
    if (config->blobs[0] != '\0') {
        context->senders = pool_create(SENDER_THREADS, DESK_QUEUE, hooks->run, context);
        context->porters = pool_create(PORTER_THREADS, DESK_QUEUE, hooks->run, context);
    }
    open_predictors(context, hooks);
    context->importer = pool_create(1, IMPORTS_MAX, importer_run, context);
    /* The queue is as long as the number of workers: no job waits for long (course.h,
     * invariant 3). */
    context->runners = pool_create(context->config->workers, context->config->workers,
                                   runner_run, context);
    context->surveyors = pool_create(1, LIMIT_SURVEYS, surveyor_run, context);
    context->clock = public_clock_create(tick_run, context);
    const struct courier_base base = {context->store, context->webhooks,
                                      context->outbound, context->counters,
                                      context->lease_keeper};
    context->courier = courier_create(&base);
    open_lookout(context, hooks);
    context->fetches = fetches_create();
    context->fetchers =
        pool_create(FETCHER_THREADS, LIMIT_FETCHES, fetcher_run, context);
    disk_room_measure(context->disk_room);
    process_figures_measure(context->process_figures,
                            feature_cache_size(context->feature_cache));
    return ST_OK;
}

void service_start(struct context *context)
{
    public_clock_start(context->clock);
    course_begin(context, clock_wall_s());
}

/* --- the end --- */

/* Waits until every end is published, at most timeout_ms and a tick; true if that
 * happened in time. */
static bool await_ends(struct context *context, int64_t timeout_ms)
{
    int64_t end_ns = clock_monotonic_ns() + timeout_ms * 1000000;
    while (!claims_idle(context)) {
        if (clock_monotonic_ns() >= end_ns)
            return false;
        public_clock_wait(context->clock);
    }
    return true;
}

/* Returns when no job is about to begin: code that begins a job checks draining inside
 * a transaction. */
static void await_beginnings(struct context *context)
{
    struct store_tx *tx = NULL;
    if (store_begin(context->store, STORE_READ, &tx, NULL) == ST_OK)
        store_rollback(tx);
}

void service_drain(struct context *context)
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
static void end_leftovers(struct context *context)
{
    if (context->clock == NULL)
        return;
    atomic_store(&context->draining, true);
    public_clock_destroy(context->clock);
    tick_run(context, clock_wall_s());
    refusals_write(context->refusals, context->store, INT64_MAX, NULL);
}

void service_close(struct context *context)
{
    if (context->fetches != NULL)
        fetches_cancel_all(context->fetches);
    pool_destroy(context->fetchers);
    fetches_destroy(context->fetches);
    pool_destroy(context->runners);
    pool_destroy(context->surveyors);
    pool_destroy(context->importer);
    predictors_destroy(context->predictors);
    loaded_models_destroy(context->loaded_models);
    pool_destroy(context->senders);
    pool_destroy(context->porters);
    pool_destroy(context->readers);
    pricers_destroy(context->pricers);
    pool_destroy(context->desk);
    end_leftovers(context);
    courier_destroy(context->courier);
    lookout_destroy(context->lookout);
    followers_destroy(context->followers);
    long_polls_destroy(context->long_polls);
    unfinished_uploads_destroy(context->unfinished_uploads);
    webhooks_close(context->webhooks);
    wrong_keys_destroy(context->wrong_keys);
    logins_destroy(context->logins);
    sign_on_close(context->sign_on);
    access_keys_close(context->keys);
    charges_close(context->charges);
    surveys_close(context->surveys);
    weight_files_close(context->weight_files);
    models_close(context->models);
    sweeps_destroy(context->sweeps);
    jobs_close(context->jobs);
    datasets_close(context->datasets);
    kept_lines_destroy(context->dataset_lines);
    feature_cache_destroy(context->feature_cache);
    refusals_destroy(context->refusals);
    policy_proposals_destroy(context->policy_proposals);
    downloads_destroy(context->downloads);
    ledger_close(context->ledger);
    blob_objects_leave(context->blobs);
    pulse_stop(context->pulse);
    lease_keeper_destroy(context->lease_keeper);
    store_close(context->store);
    blobs_close(context->blobs);
    budget_board_destroy(context->budget_board);
    free_figures(context);
    service_manager_close(context->manager);
    *context = (struct context){0};
}
