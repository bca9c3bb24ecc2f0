#include "service/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/figures.h"
#include "api/views.h"
#include "base/check.h"
#include "base/clock.h"
#include "engine/trainer.h"
#include "service/planner.h"

enum { BLOCKS_MIN = 100 }; /* a block is at most 1 % of the steps */
static const int64_t block_ns = INT64_C(2000000000);
static const int64_t shown_every_ns = INT64_C(1000000000);

struct run {
    struct service *service;
    struct job *job;
    const struct train_spec *train;
    bool is_private;
    struct matrix data, evaluation;
    struct trainer *trainer;
    uint64_t authorised; /* steps */
    uint64_t evaluated;  /* the step of the last evaluation */
    int64_t shown_ns;    /* when progress was last shown */
    int64_t step_ns;     /* of the slowest block so far, per step */
    enum job_reason reason;
};

static enum status open_matrix(struct service *service, struct matrix *matrix,
                               const struct dataset_id *id, struct error *error)
{
    char name[MATRIX_NAME_SIZE], path[BLOB_PATH_SIZE];
    matrix_file_name(name, id);
    blob_path(service->blobs, path, name);
    return matrix_open(matrix, path, error);
}

static enum status run_open(struct run *run, struct error *error)
{
    const struct job_request *request = &job_plan(run->job)->request;
    enum status status =
        open_matrix(run->service, &run->data, &request->dataset, error);
    if (status == ST_OK && request->has_evaluation)
        status =
            open_matrix(run->service, &run->evaluation, &request->evaluation, error);
    if (status != ST_OK)
        return status;
    struct trainer_options options = {
        .spec = run->train,
        .data = &run->data,
        .evaluation = request->has_evaluation ? &run->evaluation : NULL,
        .threads = run->service->config->threads,
        .cancel = job_stop_flag(run->job),
    };
    return trainer_create(&run->trainer, &options, error);
}

static void run_close(struct run *run)
{
    trainer_destroy(run->trainer);
    matrix_close(&run->evaluation);
    matrix_close(&run->data);
}

/* The next block's end. */
static uint64_t block_end(const struct run *run)
{
    uint64_t steps = run->train->steps;
    uint64_t block = (steps + BLOCKS_MIN - 1) / BLOCKS_MIN;
    if (!job_plan(run->job)->mechanism.prefixes_priced)
        return steps;
    if (run->step_ns > 0 && (int64_t)block > block_ns / run->step_ns)
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
    struct figure figure = {0};
    const struct job_plan *plan = job_plan(run->job);
    if (!run->is_private || run->authorised == 0)
        return 0;
    CHECK(figure_epsilon(&figure, &plan->mechanism, run->authorised,
                         plan->request.delta, NULL) == ST_OK);
    return figure.epsilon;
}

static void show(struct run *run, bool always)
{
    int64_t now_ns = clock_monotonic_ns();
    if (!always && now_ns - run->shown_ns < shown_every_ns)
        return;
    run->shown_ns = now_ns;
    job_progress(run->service->jobs, run->job,
                 run->trainer != NULL ? trainer_steps_done(run->trainer) : 0,
                 run->is_private ? run->authorised : 0, spent(run));
}

/* Steps between evaluations: one pass over the data or 1 % of the steps. */
static uint64_t evaluation_period(const struct train_spec *train)
{
    uint64_t pass = (train->records + train->batch_size - 1) / train->batch_size;
    uint64_t share = (train->steps + BLOCKS_MIN - 1) / BLOCKS_MIN;
    return pass > share ? pass : share;
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
    return job_evaluated(run->service->jobs, run->service->store, run->job, &point,
                         error);
}

static enum status run_block(struct run *run, struct error *error)
{
    enum status status = authorise(run, error);
    uint64_t period = evaluation_period(run->train);
    uint64_t first = trainer_steps_done(run->trainer);
    int64_t start_ns = clock_monotonic_ns();
    while (status == ST_OK && trainer_steps_done(run->trainer) < run->authorised) {
        status = trainer_step(run->trainer, error);
        show(run, false);
        uint64_t done = trainer_steps_done(run->trainer);
        if (status == ST_OK && (done % period == 0 || done == run->train->steps) &&
            done != run->evaluated)
            status = evaluate(run, error);
    }
    uint64_t ran = trainer_steps_done(run->trainer) - first;
    if (ran > 0)
        run->step_ns = (clock_monotonic_ns() - start_ns) / (int64_t)ran;
    return status;
}

static enum status train(struct run *run, struct error *error)
{
    enum status status = run_open(run, error);
    while (status == ST_OK && trainer_steps_done(run->trainer) < run->train->steps)
        status = run_block(run, error);
    return status;
}

/* Settles what was reserved and moves the job, in one transaction that ends here. */
static enum status settle_and_move(struct service *service, struct store_tx *tx,
                                   struct job *job, enum job_state state,
                                   enum job_reason reason, struct error *error)
{
    enum status status = ST_OK;
    if (job_plan(job)->is_private)
        status = ledger_settle(service->ledger, tx, job_id(job), NULL, error);
    if (status == ST_OK)
        status = job_move(service->jobs, tx, job, state, reason, NULL, error);
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
    enum status status = store_begin(service->store, &tx, error);
    if (status != ST_OK)
        return status;
    return settle_and_move(service, tx, job, state, reason, error);
}

static enum status move_only(struct service *service, struct store_tx *tx,
                             struct job *job, enum job_state state,
                             enum job_reason reason, struct error *error)
{
    enum status status = job_move(service->jobs, tx, job, state, reason, NULL, error);
    if (status != ST_OK) {
        store_rollback(tx);
        return status;
    }
    return store_commit(tx, error);
}

enum status runner_cancel(struct service *service, struct job *job, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status = store_begin(service->store, &tx, error);
    if (status != ST_OK)
        return status;
    switch (job_state(service->jobs, job)) {
    case JOB_QUEUED:
        status =
            settle_and_move(service, tx, job, JOB_CANCELLED, REASON_USER_CANCEL, error);
        pool_withdraw(service->trainers, job);
        return status;
    case JOB_RUNNING:
        status = move_only(service, tx, job, JOB_CANCELLING, REASON_USER_CANCEL, error);
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

/* --- the model --- */

static char *noise_text(const struct trainer *trainer)
{
    struct noise_certificate noise;
    if (!trainer_noise_certificate(trainer, &noise))
        return NULL;
    return noise_render(&noise);
}

static enum status save(struct run *run, const struct model_id *id,
                        struct model_row *row, char **card, struct error *error)
{
    const struct job_plan *plan = job_plan(run->job);
    const struct dataset *dataset =
        datasets_find(run->service->datasets, plan->request.dataset.text);
    struct ledger_entry_name reserve = {0};
    if (run->is_private)
        CHECK(ledger_reservation(run->service->ledger, job_id(run->job), &reserve));
    char name[MODEL_NAME_SIZE], path[BLOB_PATH_SIZE];
    char *mechanism =
        plan->mechanism.run_count > 0 ? mechanism_render(&plan->mechanism) : NULL;
    char *noise = noise_text(run->trainer);
    struct model_view view = {
        .id = id,
        .job = job_id(run->job),
        .dataset = dataset_spec(dataset),
        .request = &plan->request,
        .mechanism = mechanism,
        .noise_multiplier = run->train->noise_multiplier,
        .sampling_rate = (double)run->train->batch_size / (double)run->train->records,
        .epsilon = plan->epsilon_planned,
        .order = plan->order,
        .steps = run->train->steps,
        .reserve = run->is_private ? &reserve : NULL,
        .noise = noise,
        .version = EPSILOND_VERSION,
    };
    *card = certificate_render(&view);
    char *arch = model_spec_render(&run->train->model);
    char *inputs = inputs_render(&dataset_spec(dataset)->schema);
    const struct metadata metadata[] = {
        {"format", "epsilond/1"},
        {"arch", arch},
        {"inputs", inputs},
        {"certificate", *card},
    };
    model_scratch_name(name, id);
    blob_path(run->service->blobs, path, name);
    enum status status =
        trainer_save(run->trainer, path, metadata, sizeof metadata / sizeof *metadata,
                     row->sha256, &row->size, error);
    free(inputs);
    free(arch);
    free(noise);
    free(mechanism);
    return status;
}

static enum status publish_row(struct run *run, const struct model_row *row,
                               struct error *error)
{
    struct service *service = run->service;
    struct store_tx *tx = NULL;
    enum status status = store_begin(service->store, &tx, error);
    if (status != ST_OK)
        return status;
    if (run->is_private)
        status =
            ledger_settle(service->ledger, tx, job_id(run->job), row->sha256, error);
    if (status == ST_OK)
        status = models_add(service->models, tx, row, error);
    if (status == ST_OK)
        status = job_move(service->jobs, tx, run->job, JOB_SUCCEEDED, REASON_NONE,
                          &row->id, error);
    if (status != ST_OK) {
        store_rollback(tx);
        return status;
    }
    return store_commit(tx, error);
}

static enum status publish(struct run *run, struct error *error)
{
    char from[MODEL_NAME_SIZE], to[MODEL_NAME_SIZE], *card = NULL;
    struct model_row row = {.job = *job_id(run->job), .create_ms = clock_wall_ms()};
    model_id_make(&row.id);
    model_scratch_name(from, &row.id);
    model_file_name(to, &row.id);
    enum status status = save(run, &row.id, &row, &card, error);
    if (status == ST_OK)
        status = blob_publish(run->service->blobs, from, to, error);
    row.card = card;
    if (status == ST_OK)
        status = publish_row(run, &row, error);
    free(card);
    return status;
}

/* --- the way of one job --- */

static enum status start(struct run *run, struct error *error)
{
    struct service *service = run->service;
    struct store_tx *tx = NULL;
    enum status status = store_begin(service->store, &tx, error);
    if (status != ST_OK)
        return status;
    if (job_state(service->jobs, run->job) != JOB_QUEUED) {
        store_rollback(tx);
        return error_set(error, ST_CANCELLED, "no longer queued");
    }
    return move_only(service, tx, run->job, JOB_RUNNING, REASON_NONE, error);
}

static enum job_reason reason_of(const struct run *run, enum status status)
{
    if (status == ST_CANCELLED)
        return atomic_load(&run->service->stop_training) &&
                       job_state(run->service->jobs, run->job) != JOB_CANCELLING
                   ? REASON_SHUTDOWN
                   : REASON_USER_CANCEL;
    if (status == ST_NO_MEMORY)
        return REASON_NO_MEMORY;
    /* The trainer's one ST_INTERNAL after creation: parameters are not finite. */
    return status == ST_INTERNAL && run->trainer != NULL ? REASON_DIVERGED
                                                         : REASON_INTERNAL;
}

static void finish_failed(struct run *run, enum status status)
{
    struct error error = {0};
    enum job_reason reason = reason_of(run, status);
    enum job_state state = reason == REASON_USER_CANCEL ? JOB_CANCELLED : JOB_FAILED;
    show(run, true);
    if (runner_settle(run->service, run->job, state, reason, &error) != ST_OK)
        log_event(LOG_ERROR, "settle_failed", "job", job_id(run->job)->text, "detail",
                  error.text, (char *)NULL);
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
        if (status == ST_OK) {
            show(&run, true);
            status = publish(&run, &error);
        }
        if (status != ST_OK)
            finish_failed(&run, status);
        log_event(LOG_INFO, "job_ended", "job", job_id(run.job)->text, "status",
                  status_wire(status), (char *)NULL);
    }
    run_close(&run);
    service_guard(run.service);
}
