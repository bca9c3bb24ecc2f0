#include "service/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "accountant/figures.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "service/course.h"
#include "service/importer.h"
#include "service/inventory.h"
#include "service/planner.h"
#include "service/runner.h"
#include "service/tick.h"

enum {
    DESK_QUEUE = 4096, /* requests that wait for the desk; connections are fewer */
    PREDICTOR_THREADS_MAX = 4,
    PREDICTION_WAIT_MS = 30000,     /* then it is refused: its client may not wait on */
    LOADED_MODELS_SIZE = 256 << 20, /* bytes of idle ones */
    LONG_POLLS_MAX = 1024,          /* long polls at once (api.md 7) */
    STOP_TIMEOUT_MS = 60000,
};

/* Limits of predictions by their costs, in nanoseconds of a core. */
static const uint64_t predictions_queued_max = UINT64_C(60000000000);
static const uint64_t prediction_small_max = UINT64_C(100000000);

static const uint64_t disk_free_min = UINT64_C(64) << 20; /* bytes */

/* --- recovery: what a dead process left --- */

/* Its epoch was closed by a restored backup: it may have run in what was lost. */
static bool is_frozen(struct service *service, const struct job *job)
{
    struct balance balance;
    const struct job_plan *plan = job_plan(job);
    return plan->is_private &&
           ledger_balance(service->ledger, &plan->request.dataset, &balance, NULL) ==
               ST_OK &&
           balance.frozen;
}

static enum status recover_job(struct service *service, struct job *job,
                               struct error *error)
{
    enum job_state state = job_state(service->jobs, job);
    if (job_state_is_terminal(state))
        return ST_OK;
    if (state == JOB_QUEUED && !is_frozen(service, job))
        return ST_OK;
    const struct job_plan *plan = job_plan(job);
    struct job_progress progress = job_recorded(service->jobs, job);
    if (plan->is_private)
        progress.authorised_steps = ledger_authorised(service->ledger, job_id(job));
    progress.epsilon_spent = job_plan_spent(plan, progress.authorised_steps);
    job_record(service->jobs, job, &progress, NULL);
    log_event(LOG_WARNING, "job_lost", "job", job_id(job)->text, (char *)NULL);
    const struct job_move end = {
        .state = state == JOB_RUNNING ? JOB_FAILED : JOB_CANCELLED,
        .reason = state == JOB_CANCELLING ? REASON_USER_CANCEL : REASON_WORKER_LOST,
        .second = clock_wall_s(),
    };
    return course_end(service, job, &end, NULL, error);
}

static enum status recover_jobs(struct service *service, struct error *error)
{
    enum status status = ST_OK;
    size_t count = jobs_count(service->jobs);
    for (size_t i = 0; i < count && status == ST_OK; i++)
        status = recover_job(service, jobs_at(service->jobs, i), error);
    return status;
}

static enum status recover_dataset(struct service *service, struct dataset *dataset,
                                   struct error *error)
{
    struct dataset_info info;
    struct store_tx *tx = NULL;
    dataset_read(service->datasets, dataset, &info);
    if (info.state != DATASET_IMPORTING)
        return ST_OK;
    info.state = DATASET_CREATED;
    enum status status = store_begin(service->store, &tx, error);
    if (status != ST_OK)
        return status;
    status = dataset_move(service->datasets, tx, dataset, &info, error);
    if (status != ST_OK) {
        store_rollback(tx);
        return status;
    }
    return store_commit(tx, error);
}

static enum status recover_datasets(struct service *service, struct error *error)
{
    enum status status = ST_OK;
    size_t count = datasets_count(service->datasets);
    for (size_t i = 0; i < count && status == ST_OK; i++)
        status = recover_dataset(service, datasets_at(service->datasets, i), error);
    return status;
}

/* --- files without a row --- */

/* Cuts suffix off file_name into stem; false if it does not end so. */
static bool stem_of(const char *file_name, const char *suffix, char stem[128])
{
    size_t length = strlen(file_name), cut = strlen(suffix);
    if (length <= cut || length - cut >= 128 ||
        strcmp(file_name + length - cut, suffix) != 0)
        return false;
    memcpy(stem, file_name, length - cut);
    stem[length - cut] = '\0';
    return true;
}

static bool sweep_model(void *context, const char *file_name)
{
    struct service *service = context;
    char stem[128], name[512];
    if (!stem_of(file_name, ".safetensors", stem) ||
        models_find(service->models, stem) == NULL) {
        snprintf(name, sizeof name, "models/%s", file_name);
        service_remove(service, name);
    }
    return true;
}

static bool sweep_matrix(void *context, const char *file_name)
{
    struct service *service = context;
    struct dataset_info info = {.state = DATASET_DELETED};
    char stem[128], name[512];
    const struct dataset *dataset = stem_of(file_name, ".matrix", stem)
                                        ? datasets_find(service->datasets, stem)
                                        : NULL;
    if (dataset != NULL)
        dataset_read(service->datasets, dataset, &info);
    if (info.state != DATASET_READY) {
        snprintf(name, sizeof name, "datasets/%s", file_name);
        service_remove(service, name);
    }
    return true;
}

static bool sweep_upload(void *context, const char *file_name)
{
    struct service *service = context;
    struct dataset_info info = {.state = DATASET_DELETED};
    char stem[128], name[512];
    const struct dataset *dataset = NULL;
    if (stem_of(file_name, ".features", stem) || stem_of(file_name, ".labels", stem) ||
        stem_of(file_name, ".data", stem))
        dataset = datasets_find(service->datasets, stem);
    if (dataset != NULL)
        dataset_read(service->datasets, dataset, &info);
    if (info.state == DATASET_DELETED || info.state == DATASET_READY) {
        snprintf(name, sizeof name, "uploads/%s", file_name);
        service_remove(service, name);
    }
    return true;
}

static enum status sweep(struct service *service, struct error *error)
{
    enum status status =
        blobs_walk(service->blobs, "models", sweep_model, service, error);
    if (status == ST_OK)
        status = blobs_walk(service->blobs, "datasets", sweep_matrix, service, error);
    if (status == ST_OK)
        status = blobs_walk(service->blobs, "uploads", sweep_upload, service, error);
    return status;
}

/* --- opening --- */

/* Rows and ledger agree: nobody else writes while they are read. */
static enum status open_rows(struct service *service, struct error *error)
{
    struct store_tx *tx = NULL;
    struct inventory inventory = {0};
    const struct jobs_base base = {.long_polls = service->long_polls,
                                   .nonce = service->nonce};
    enum status status = store_begin(service->store, &tx, error);
    if (status != ST_OK)
        return status;
    status = inventory_open(&inventory, tx, &base, error);
    store_rollback(tx);
    service->datasets = inventory.datasets;
    service->jobs = inventory.jobs;
    service->models = inventory.models;
    return status == ST_OK ? inventory_check(&inventory, service->ledger, error)
                           : status;
}

static enum status open_head_file(struct service *service, struct error *error)
{
    bool frozen = false;
    enum status status =
        ledger_head_file(service->ledger, service->config->head_file, &frozen, error);
    if (status == ST_OK && frozen)
        log_event(LOG_WARNING, "frozen", "detail",
                  "the database is older than the head on record: its private datasets "
                  "are frozen until `epsilond regrant`",
                  (char *)NULL);
    return status;
}

static enum status open_store(struct service *service, struct error *error)
{
    char path[BLOB_PATH_SIZE];
    enum status status = blobs_open(&service->blobs, service->config->data_dir, error);
    if (status != ST_OK)
        return status;
    blob_path(service->blobs, path, "epsilond.db");
    status = store_open(&service->store, path, error);
    if (status == ST_OK)
        status = ledger_open(&service->ledger, service->store, error);
    if (status == ST_OK && service->config->head_file[0] != '\0')
        status = open_head_file(service, error);
    return status;
}

static void open_predictors(struct service *service, const struct service_hooks *hooks)
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
        .context = service,
    };
    service->loaded_models = loaded_models_create(LOADED_MODELS_SIZE);
    service->predictors = predictors_create(&setup);
}

static void make_nonce(struct service *service)
{
    uint64_t random;
    random_bytes(&random, sizeof random);
    snprintf(service->nonce, sizeof service->nonce, "%016llx",
             (unsigned long long)random);
}

enum status service_open(struct service *service, const struct config *config,
                         const struct service_hooks *hooks, struct error *error)
{
    *service = (struct service){.config = config};
    make_nonce(service);
    service->float_safety = float_safety_create();
    service->long_polls = long_polls_create(LONG_POLLS_MAX, hooks->resume);
    enum status status = open_store(service, error);
    if (status == ST_OK)
        status = open_rows(service, error);
    if (status == ST_OK)
        status = recover_jobs(service, error);
    if (status == ST_OK)
        status = recover_datasets(service, error);
    if (status == ST_OK)
        status = sweep(service, error);
    if (status != ST_OK) {
        if (status == ST_IO && service->blobs != NULL)
            blobs_drop_ballast(service->blobs);
        service_close(service);
        return status;
    }
    service->desk = pool_create(1, DESK_QUEUE, hooks->run, service);
    open_predictors(service, hooks);
    service->importer = pool_create(1, IMPORTS_MAX, importer_run, service);
    /* course.h (3): none waits for long. */
    service->runners = pool_create(service->config->workers, service->config->workers,
                                   runner_run, service);
    service->clock = public_clock_create(tick_run, service);
    service_measure_disk(service);
    return ST_OK;
}

void service_start(struct service *service)
{
    public_clock_start(service->clock);
    course_begin(service, clock_wall_s());
}

/* --- the end --- */

/* Waits until every end is known, at most timeout_ms and a tick; true if so. */
static bool await_ends(struct service *service, int64_t timeout_ms)
{
    int64_t end_ns = clock_monotonic_ns() + timeout_ms * 1000000;
    while (jobs_tally(service->jobs).running > 0) {
        if (clock_monotonic_ns() >= end_ns)
            return false;
        public_clock_wait(service->clock);
    }
    return true;
}

/* Returns when no job is about to begin: what begins looks at draining in a transaction. */
static void await_beginnings(struct service *service)
{
    struct store_tx *tx = NULL;
    if (store_begin(service->store, &tx, NULL) == ST_OK)
        store_rollback(tx);
}

void service_drain(struct service *service)
{
    atomic_store(&service->draining, true);
    atomic_store(&service->import_cancel, true);
    pool_pause(service->importer);
    await_beginnings(service);
    if (!await_ends(service, (int64_t)service->config->drain_timeout_s * 1000)) {
        atomic_store(&service->stop_training, true);
        await_ends(service, STOP_TIMEOUT_MS);
    }
    pool_wait_idle(service->importer, STOP_TIMEOUT_MS);
}

/* A run that took no notice of its stop for long ends after the last tick. */
static void end_leftovers(struct service *service)
{
    if (service->clock == NULL)
        return;
    atomic_store(&service->draining, true);
    public_clock_destroy(service->clock);
    tick_run(service, clock_wall_s());
}

void service_close(struct service *service)
{
    pool_destroy(service->runners);
    pool_destroy(service->importer);
    predictors_destroy(service->predictors);
    loaded_models_destroy(service->loaded_models);
    pool_destroy(service->desk);
    end_leftovers(service);
    long_polls_destroy(service->long_polls);
    models_close(service->models);
    jobs_close(service->jobs);
    datasets_close(service->datasets);
    float_safety_destroy(service->float_safety);
    ledger_close(service->ledger);
    store_close(service->store);
    blobs_close(service->blobs);
    *service = (struct service){0};
}

enum status service_check_disk(const struct service *service, struct error *error)
{
    uint64_t free_bytes = service_disk_room(service);
    if (free_bytes == 0)
        return error_set(error, ST_DISK_FULL, "the disk is nearly full");
    return ST_OK;
}

bool service_remove(const struct service *service, const char *name)
{
    struct error error = {0};
    if (blob_remove(service->blobs, name, &error) == ST_OK)
        return true;
    log_event(LOG_ERROR, "not_removed", "file", name, "detail", error.text,
              (char *)NULL);
    return false;
}

uint64_t service_disk_room(const struct service *service)
{
    return atomic_load(&service->disk_room);
}

void service_take_disk(struct service *service, uint64_t size)
{
    uint_fast64_t room = atomic_load(&service->disk_room);
    while (!atomic_compare_exchange_weak(&service->disk_room, &room,
                                         room > size ? room - size : 0))
        continue;
}

void service_measure_disk(struct service *service)
{
    uint64_t free_bytes = 0;
    struct error error = {0};
    if (blobs_free(service->blobs, &free_bytes, &error) != ST_OK)
        log_event(LOG_ERROR, "disk", "detail", error.text, (char *)NULL);
    atomic_store(&service->disk_room,
                 free_bytes > disk_free_min ? free_bytes - disk_free_min : 0);
}

void service_guard(const struct service *service)
{
    static const struct timespec replies_leave = {.tv_nsec = 200000000};
    if (!store_poisoned(service->store))
        return;
    nanosleep(&replies_leave, NULL);
    blobs_drop_ballast(service->blobs);
    log_fatal("ledger_unavailable", "the store can no longer be written");
}
