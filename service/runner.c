#include "service/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/allowance.h"
#include "accountant/figures.h"
#include "api/views.h"
#include "base/check.h"
#include "base/clock.h"
#include "engine/trainer.h"
#include "service/planner.h"
#include "service/publication.h"

enum { PARTS = 100 }; /* of a job: blocks, evaluations, released points */
static const int64_t block_ns = INT64_C(2000000000);
static const int64_t shown_every_ns = INT64_C(1000000000);

struct run {
    struct service *service;
    struct job *job;
    const struct train_spec *train;
    bool is_private;
    struct matrix data, evaluation;
    struct trainer *trainer;
    uint64_t authorised;        /* steps */
    uint64_t evaluated;         /* the step of the last evaluation */
    int64_t shown_ns;           /* when progress was last shown */
    int64_t step_ns;            /* of the last block, per step; 0 before the first */
    struct allowance allowance; /* of a filtered run */
    bool used_up;               /* its next step does not fit */
};

/* The matrix as it was imported, byte for byte: a training on damaged records would be
 * charged, and its certificate would speak of records that nobody had. */
static enum status open_matrix(struct service *service, struct matrix *matrix,
                               const struct dataset_id *id, const atomic_bool *cancel,
                               struct error *error)
{
    char name[MATRIX_NAME_SIZE], path[BLOB_PATH_SIZE];
    struct error local = {0};
    struct dataset_info info;
    dataset_read(service->datasets, datasets_find(service->datasets, id->text), &info);
    const struct file_seal seal = dataset_info_seal(&info);
    matrix_file_name(name, id);
    blob_path(service->blobs, path, name);
    enum status status = file_seal_check_path(&seal, path, cancel, &local);
    if (status == ST_OK)
        status = matrix_open(matrix, path, &local);
    if (status == ST_OK || status == ST_CANCELLED)
        return status;
    /* A dataset's file is no part of the ledger: its loss must not read as one. */
    return error_set(error, status == ST_CORRUPT ? ST_DATASET_CORRUPT : ST_INTERNAL,
                     "dataset %s: %s", id->text, local.text);
}

static enum status run_open(struct run *run, struct error *error)
{
    const struct job_request *request = &job_plan(run->job)->request;
    const atomic_bool *cancel = job_stop_flag(run->job);
    enum status status =
        open_matrix(run->service, &run->data, &request->dataset, cancel, error);
    if (status == ST_OK && request->has_evaluation)
        status = open_matrix(run->service, &run->evaluation, &request->evaluation,
                             cancel, error);
    if (status != ST_OK)
        return status;
    struct trainer_options options = {
        .spec = run->train,
        .data = &run->data,
        .evaluation = request->has_evaluation ? &run->evaluation : NULL,
        .threads = run->service->config->threads,
        .cancel = cancel,
    };
    if (job_plan(run->job)->mechanism.kind == MECHANISM_FILTERED_GAUSSIAN)
        status = allowance_init(&run->allowance, &job_plan(run->job)->mechanism, error);
    return status == ST_OK ? trainer_create(&run->trainer, &options, error) : status;
}

static void run_close(struct run *run)
{
    trainer_destroy(run->trainer);
    allowance_fini(&run->allowance);
    matrix_close(&run->evaluation);
    matrix_close(&run->data);
}

/* Of the job's steps, rounded up: the most of a block. */
static uint64_t hundredth(const struct train_spec *train)
{
    return (train->steps + PARTS - 1) / PARTS;
}

/* The next block's end. The first block is one step: how long it takes is not known. */
static uint64_t block_end(const struct run *run)
{
    uint64_t steps = run->train->steps;
    uint64_t block = hundredth(run->train);
    if (!job_plan(run->job)->mechanism.prefixes_priced)
        return steps;
    if (run->step_ns == 0)
        block = 1;
    else if ((int64_t)block > block_ns / run->step_ns)
        block = (uint64_t)(block_ns / run->step_ns);
    if (block == 0)
        block = 1;
    return steps - run->authorised < block ? steps : run->authorised + block;
}

static enum status authorise(struct run *run, struct error *error)
{
    if (!run->is_private) {
        run->authorised = run->train->steps;
        return ST_OK;
    }
    uint64_t end = block_end(run);
    enum status status =
        ledger_authorise(run->service->ledger, job_id(run->job), end, error);
    if (status == ST_OK)
        run->authorised = end;
    return status;
}

static double spent(const struct run *run)
{
    return run->is_private ? job_plan_spent(job_plan(run->job), run->authorised) : 0;
}

static void record(struct run *run, const struct evaluation_point *point)
{
    struct job_progress progress = {
        .step = run->trainer != NULL ? trainer_steps_done(run->trainer) : 0,
        .authorised_steps = run->is_private ? run->authorised : 0,
        .epsilon_spent = spent(run),
    };
    job_record(run->service->jobs, run->job, &progress, point);
}

/* At most once a second (P6). */
static void show(struct run *run)
{
    int64_t now_ns = clock_monotonic_ns();
    if (now_ns - run->shown_ns < shown_every_ns)
        return;
    run->shown_ns = now_ns;
    record(run, NULL);
    job_show(run->service->jobs, run->job);
}

/* Steps between evaluations: one pass over the data or 1 % of the steps. */
static uint64_t evaluation_period(const struct train_spec *train)
{
    uint64_t pass = (train->records + train->batch_size - 1) / train->batch_size;
    return pass > hundredth(train) ? pass : hundredth(train);
}

static enum status evaluate(struct run *run, struct error *error)
{
    struct evaluation evaluation;
    const struct job_request *request = &job_plan(run->job)->request;
    if (!request->has_evaluation)
        return ST_OK;
    enum status status = trainer_evaluate(run->trainer, &evaluation, error);
    if (status != ST_OK)
        return status;
    const struct schema *schema =
        &dataset_spec(datasets_find(run->service->datasets, request->dataset.text))
             ->schema;
    struct evaluation_point point = {
        .step = trainer_steps_done(run->trainer),
        .loss = evaluation.loss,
        .quality = schema->task == TASK_REGRESSION
                       ? evaluation.rmse *
                             (schema_target(schema, 1) - schema_target(schema, -1)) / 2
                       : evaluation.accuracy,
    };
    run->evaluated = point.step;
    record(run, &point);
    return job_save(run->service->jobs, run->service->store, run->job, error);
}

/* Whether the last step is a point of what is released: one every 1 % of the steps, and
 * the last that was planned. */
static bool is_point(const struct run *run)
{
    uint64_t done = trainer_steps_done(run->trainer);
    return done % hundredth(run->train) == 0 || done == run->train->steps;
}

static void keep_released(struct run *run)
{
    struct released_value values[RELEASED_SERIES_MAX];
    uint64_t done = trainer_steps_done(run->trainer);
    size_t count = trainer_released(run->trainer, values);
    if (count > 0)
        job_released(run->service->jobs, run->job, done, values, count);
}

/* Takes the next step's cost off what was reserved, all of which is on disk as
 * authorised; false where it does not fit: the run is over, and nothing was sampled. */
static bool may_step(struct run *run)
{
    struct mechanism_run step;
    if (job_plan(run->job)->mechanism.kind != MECHANISM_FILTERED_GAUSSIAN)
        return true;
    CHECK(trainer_next(run->trainer, &step));
    run->used_up = !allowance_take(&run->allowance, &step);
    return !run->used_up;
}

static enum status run_block(struct run *run, struct error *error)
{
    uint64_t period = evaluation_period(run->train);
    uint64_t first = trainer_steps_done(run->trainer), done = first;
    int64_t stepping_ns = 0;
    enum status status = authorise(run, error);
    while (status == ST_OK && done < run->authorised && may_step(run)) {
        int64_t start_ns = clock_monotonic_ns();
        status = trainer_step(run->trainer, error);
        stepping_ns += clock_monotonic_ns() - start_ns;
        done = trainer_steps_done(run->trainer);
        if (status == ST_OK && is_point(run))
            keep_released(run);
        show(run);
        if (status == ST_OK && (done % period == 0 || done == run->train->steps) &&
            done != run->evaluated)
            status = evaluate(run, error);
    }
    if (done > first)
        run->step_ns = stepping_ns / (int64_t)(done - first) + 1;
    return status;
}

static enum status train(struct run *run, struct error *error)
{
    enum status status = run_open(run, error);
    while (status == ST_OK && !run->used_up &&
           trainer_steps_done(run->trainer) < run->train->steps)
        status = run_block(run, error);
    if (status == ST_OK && run->used_up) {
        if (!is_point(run)) /* then its last step is one too */
            keep_released(run);
        if (run->evaluated != trainer_steps_done(run->trainer))
            status = evaluate(run, error);
    }
    return status;
}

/* Settles what was reserved and moves the job, in one transaction that ends here. */
static enum status settle_and_move(struct service *service, struct store_tx *tx,
                                   struct job *job, const struct job_move *move,
                                   struct error *error)
{
    enum status status = ST_OK;
    if (job_plan(job)->is_private)
        status = ledger_settle(service->ledger, tx, job_id(job), NULL, error);
    if (status == ST_OK)
        status = job_move(service->jobs, tx, job, move, error);
    if (status != ST_OK) {
        store_rollback(tx);
        return status;
    }
    return store_commit(tx, error);
}

enum status runner_settle(struct service *service, struct job *job,
                          enum job_state state, enum job_reason reason,
                          struct error *error)
{
    struct store_tx *tx = NULL;
    const struct job_move end = {.state = state, .reason = reason};
    enum status status = store_begin(service->store, &tx, error);
    if (status != ST_OK)
        return status;
    return settle_and_move(service, tx, job, &end, error);
}

static enum status move_only(struct service *service, struct store_tx *tx,
                             struct job *job, const struct job_move *move,
                             struct error *error)
{
    enum status status = job_move(service->jobs, tx, job, move, error);
    if (status != ST_OK) {
        store_rollback(tx);
        return status;
    }
    return store_commit(tx, error);
}

enum status runner_cancel(struct service *service, struct job *job, struct error *error)
{
    static const struct job_move at_once = {.state = JOB_CANCELLED,
                                            .reason = REASON_USER_CANCEL};
    static const struct job_move soon = {.state = JOB_CANCELLING,
                                         .reason = REASON_USER_CANCEL};
    struct store_tx *tx = NULL;
    enum status status = store_begin(service->store, &tx, error);
    if (status != ST_OK)
        return status;
    switch (job_state(service->jobs, job)) {
    case JOB_QUEUED:
        status = settle_and_move(service, tx, job, &at_once, error);
        if (status == ST_OK)
            pool_withdraw(service->trainers, job);
        return status;
    case JOB_RUNNING:
        status = move_only(service, tx, job, &soon, error);
        if (status == ST_OK)
            atomic_store(job_stop_flag(job), true);
        return status;
    case JOB_CANCELLING:
    case JOB_CANCELLED: store_rollback(tx); return ST_OK;
    case JOB_SUCCEEDED:
    case JOB_FAILED: break;
    }
    store_rollback(tx);
    return error_set(error, ST_JOB_TERMINAL, "the job has ended");
}

static enum status publish_rows(struct run *run, struct store_tx *tx,
                                const struct model_row *row, struct error *error)
{
    struct service *service = run->service;
    const struct job_move end = {.state = JOB_SUCCEEDED,
                                 .reason = run->used_up ? REASON_USED_UP : REASON_NONE,
                                 .model = &row->id};
    enum status status = ST_OK;
    if (run->is_private)
        status =
            ledger_settle(service->ledger, tx, job_id(run->job), row->sha256, error);
    if (status == ST_OK)
        status = models_add(service->models, tx, row, error);
    if (status == ST_OK)
        status = job_move(service->jobs, tx, run->job, &end, error);
    return status;
}

/* The file is in place before its row: only the row publishes. */
static enum status publish(struct run *run, struct error *error)
{
    struct service *service = run->service;
    struct publication model = {0};
    struct store_tx *tx = NULL;
    const struct trained trained = {
        .trainer = run->trainer,
        .ran = run->allowance.ran.run_count > 0 ? &run->allowance.ran : NULL};
    enum status status = publication_write(&model, service, run->job, &trained, error);
    if (status == ST_OK)
        status = store_begin(service->store, &tx, error);
    if (status == ST_OK) {
        status = publish_rows(run, tx, &model.row, error);
        if (status != ST_OK) {
            store_rollback(tx);
            publication_remove(&model, service);
        } else {
            /* After a failed commit the file stays: the row may be there. */
            status = store_commit(tx, error);
        }
    }
    publication_fini(&model);
    return status;
}

/* --- the way of one job --- */

static bool stopping(const struct run *run)
{
    return atomic_load(&run->service->stop_training);
}

/* A job that is not to start any more stays as it is: ST_CANCELLED. */
static enum status start(struct run *run, struct error *error)
{
    static const struct job_move begin = {.state = JOB_RUNNING};
    struct service *service = run->service;
    struct store_tx *tx = NULL;
    enum status status = store_begin(service->store, &tx, error);
    if (status != ST_OK)
        return status;
    if (job_state(service->jobs, run->job) != JOB_QUEUED || stopping(run)) {
        store_rollback(tx);
        return error_set(error, ST_CANCELLED, "no longer to start");
    }
    status = move_only(service, tx, run->job, &begin, error);
    if (stopping(run)) /* it may have come between the two */
        atomic_store(job_stop_flag(run->job), true);
    return status;
}

static enum job_reason reason_of(const struct run *run, enum status status)
{
    bool cancelling = job_state(run->service->jobs, run->job) == JOB_CANCELLING;
    if (status == ST_CANCELLED)
        return stopping(run) && !cancelling ? REASON_SHUTDOWN : REASON_USER_CANCEL;
    if (status == ST_NO_MEMORY)
        return REASON_NO_MEMORY;
    if (status == ST_DATASET_CORRUPT)
        return REASON_DATASET_CORRUPT;
    /* The trainer's one ST_INTERNAL after creation: parameters are not finite. */
    return status == ST_INTERNAL && run->trainer != NULL ? REASON_DIVERGED
                                                         : REASON_INTERNAL;
}

static void finish_failed(struct run *run, enum status status)
{
    struct error error = {0};
    enum job_reason reason = reason_of(run, status);
    enum job_state state = reason == REASON_USER_CANCEL ? JOB_CANCELLED : JOB_FAILED;
    record(run, NULL);
    if (runner_settle(run->service, run->job, state, reason, &error) != ST_OK)
        log_event(LOG_ERROR, "settle_failed", "job", job_id(run->job)->text, "detail",
                  error.text, (char *)NULL);
}

static void log_end(const struct run *run, enum status status,
                    const struct error *error)
{
    struct ledger_entry_name head;
    char seq[24], hash[SHA256_HEX_SIZE];
    ledger_head(run->service->ledger, &head);
    snprintf(seq, sizeof seq, "%llu", (unsigned long long)head.seq);
    sha256_render(hash, head.hash);
    log_event(status == ST_OK || status == ST_CANCELLED ? LOG_INFO : LOG_ERROR,
              "job_ended", "job", job_id(run->job)->text, "status", status_wire(status),
              "detail", error->text, "ledger_seq", seq, "ledger_hash", hash,
              (char *)NULL);
}

void runner_run(void *context, void *item)
{
    struct run run = {.service = context, .job = item};
    struct error error = {0};
    run.train = &job_plan(run.job)->request.train;
    run.is_private = job_plan(run.job)->is_private;

    enum status status = start(&run, &error);
    if (status == ST_OK) {
        log_event(LOG_INFO, "job_started", "job", job_id(run.job)->text, (char *)NULL);
        status = train(&run, &error);
        record(&run, NULL);
        if (status == ST_OK)
            status = publish(&run, &error);
        if (status != ST_OK)
            finish_failed(&run, status);
        log_end(&run, status, &error);
    }
    run_close(&run);
    service_guard(run.service);
}
