/* A run is a loop of blocks: authorise a block in the ledger, step through it, and
 * write down what may be shown of it. Below, the parts stand in this order: opening the
 * matrices and the trainer; the clock's gate, which whatever depends on how long steps
 * took has to go through; authorising; points and evaluations; steps; and the end.
 *
 * Everything is recorded in memory by job_record and shown by the next tick (tick.h).
 * The run itself moves no state: it leaves a struct ending, and the tick makes it
 * known. */
#include "service/runner.h"

#include <stdlib.h>
#include <string.h>

#include "accountant/run_filter.h"
#include "accountant/figures.h"
#include "accountant/ledger_view.h"
#include "api/quality_view.h"
#include "base/check.h"
#include "engine/trainer.h"
#include "service/context.h"
#include "service/ending.h"
#include "service/public_clock.h"
#include "service/rank_company.h"
#include "service/sealed_matrix.h"
#include "service/start_weights.h"

/* A job has so many blocks, evaluations and points of what is released, at most. */
enum { PARTS = 100 };

struct run {
    struct context *context;
    struct job *job;
    const struct train_spec *train;
    bool is_private;
    struct sealed_matrix data,
        evaluation;               /* evaluation: a public one, or the holdout */
    struct rescaling rescaling;   /* of both, where the job names ranges */
    struct start_weights weights; /* where the model starts from any */
    struct trainer *trainer;
    struct rank_company *company; /* that takes its steps; NULL: the trainer does */
    uint64_t authorised;      /* steps */
    double spent;             /* what they cost, an epsilon */
    uint64_t evaluated;       /* the step of the last evaluation */
    struct run_filter filter; /* only a filtered run has one */
    bool used_up;             /* the next step of a filtered run does not fit */
};

/* --- opening --- */

/* Has the records read over the ranges that the job names. */
static void rescale(struct run *run)
{
    const struct job_request *request = &job_plan(run->job)->request;
    const struct dataset *dataset =
        datasets_find(run->context->datasets, request->dataset.text);
    column_ranges_rescale(&run->rescaling, &request->scaling.ranges,
                          &dataset_spec(dataset)->schema);
    run->data.rows.rescaling = &run->rescaling;
    run->evaluation.rows.rescaling = &run->rescaling;
}

/* Opens what is trained on and what the model is evaluated on. */
static enum status open_data(struct run *run, struct error *error)
{
    const struct job_plan *plan = job_plan(run->job);
    const struct job_request *request = &plan->request;
    const atomic_bool *cancel = job_stop_flag(run->job);
    enum status status =
        sealed_matrix_open(run->context, &request->dataset, cancel, &run->data, error);
    if (status == ST_OK)
        matrix_select(&run->data.rows, &plan->division, PART_TRAIN);
    if (status == ST_OK && request->measurement.is_asked) {
        status = sealed_matrix_open(run->context, &request->dataset, cancel,
                                    &run->evaluation, error);
        if (status == ST_OK)
            matrix_select(&run->evaluation.rows, &plan->division, PART_HOLDOUT);
    }
    if (status == ST_OK && request->has_evaluation)
        status = sealed_matrix_open(run->context, &request->evaluation, cancel,
                                    &run->evaluation, error);
    if (status == ST_OK && request->scaling.ranges.count > 0)
        rescale(run);
    return status;
}

static enum status run_open(struct run *run, struct error *error)
{
    const struct job_request *request = &job_plan(run->job)->request;
    const atomic_bool *cancel = job_stop_flag(run->job);
    const char *id = run->train->model.start.weights;
    enum status status = ST_OK;
    /* Weights that are gone end the job before anything of the data is read. */
    run->weights.loan.cancel = cancel;
    if (id[0] != '\0')
        status = start_weights_find(&run->weights, run->context, id, error);
    if (status == ST_OK)
        status = open_data(run, error);
    if (status != ST_OK)
        return status;
    const struct weights_source weights = {run->weights.loan.path, run->weights.seal};
    char folder[BLOB_PATH_SIZE];
    blobs_features_path(run->context->blobs, folder);
    struct trainer_options options = {
        .spec = run->train,
        .data = &run->data.rows,
        .evaluation = request->has_evaluation ? &run->evaluation.rows : NULL,
        .threads = run->context->config->threads,
        .cancel = cancel,
        .features = {folder, run->context->feature_cache, request->dataset.text},
        .evaluation_name = request->evaluation.text,
        .weights = id[0] != '\0' ? &weights : NULL,
    };
    if (train_spec_ranks(run->train) > 1) /* which make no features: nor does it */
        options.features = (struct feature_place){0};
    if (run_filter_guards(&job_plan(run->job)->mechanism))
        status = run_filter_init(&run->filter, &job_plan(run->job)->mechanism, error);
    if (status == ST_OK)
        status = trainer_create(&run->trainer, &options, error);
    if (status != ST_OK || train_spec_ranks(run->train) == 1)
        return status;
    const struct rank_company_setup setup = {run->data.loan.path, options.weights,
                                             run->trainer, cancel};
    return rank_company_open(&run->company, run->context, run->job, &setup, error);
}

static void run_close(struct run *run)
{
    rank_company_close(run->company);
    trainer_destroy(run->trainer);
    run_filter_fini(&run->filter);
    sealed_matrix_close(&run->evaluation, run->context);
    sealed_matrix_close(&run->data, run->context);
    start_weights_release(&run->weights, run->context);
    rescaling_fini(&run->rescaling);
}

/* The length of a block: a hundredth of the job's steps, rounded up. */
static uint64_t hundredth(const struct train_spec *train)
{
    return (train->steps + PARTS - 1) / PARTS;
}

/* --- the gate: whatever depends on how long the steps took --- */

/* Enters the clock's gate, to be left with public_clock_leave. False, and outside,
 * where a stop has taken effect: nothing more of the run counts. */
static bool enter(const struct run *run)
{
    public_clock_enter(run->context->clock);
    if (!atomic_load(job_stop_flag(run->job)))
        return true;
    public_clock_leave(run->context->clock);
    return false;
}

static enum status stopped(struct error *error)
{
    return error_set(error, ST_CANCELLED, "stopped");
}

/* The step that is shown: the last whole hundredth, or the last step of all. */
static uint64_t shown_step(const struct run *run)
{
    uint64_t done = run->trainer != NULL ? trainer_steps_done(run->trainer) : 0;
    bool is_last = done == run->train->steps || run->used_up;
    return is_last ? done : done - done % hundredth(run->train);
}

/* To be called inside the gate. */
static void record(struct run *run, const struct evaluation_point *point)
{
    struct job_progress progress = {
        .step = shown_step(run),
        .authorised_steps = run->is_private ? run->authorised : 0,
        .epsilon_spent = run->spent,
    };
    job_record(run->context->jobs, run->job, &progress, point);
}

/* --- authorising --- */

/* The step at which the next block ends, a function of what was planned alone. */
static uint64_t block_end(const struct run *run)
{
    uint64_t steps = run->train->steps, block = hundredth(run->train);
    if (!job_plan(run->job)->mechanism.prefixes_priced)
        return steps;
    return steps - run->authorised < block ? steps : run->authorised + block;
}

static enum status authorise(struct run *run, struct error *error)
{
    if (!run->is_private) {
        run->authorised = run->train->steps;
        return ST_OK;
    }
    uint64_t end = block_end(run);
    double spent = job_plan_spent(job_plan(run->job), end);
    if (!enter(run))
        return stopped(error);
    enum status status =
        ledger_authorise(run->context->ledger, job_id(run->job), end, error);
    if (status == ST_OK) {
        run->authorised = end;
        run->spent = spent;
        record(run, NULL);
    }
    public_clock_leave(run->context->clock);
    return status;
}

/* --- points and evaluations --- */

/* How many steps lie between evaluations: one epoch or 1 % of the steps, whichever is
 * more. */
static uint64_t evaluation_period(const struct train_spec *train)
{
    uint64_t epoch = (train->records + train->batch_size - 1) / train->batch_size;
    return epoch > hundredth(train) ? epoch : hundredth(train);
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
        &dataset_spec(datasets_find(run->context->datasets, request->dataset.text))
             ->schema;
    struct evaluation_point point = {
        .step = trainer_steps_done(run->trainer),
        .loss = evaluation.loss,
        .quality = schema->task == TASK_REGRESSION
                       ? evaluation.rmse *
                             (schema_target(schema, 1) - schema_target(schema, -1)) / 2
                       : evaluation.accuracy,
    };
    if (!enter(run))
        return stopped(error);
    run->evaluated = point.step;
    record(run, &point);
    public_clock_leave(run->context->clock);
    if (store_shared(run->context->store)) /* it is written once it is shown */
        return ST_OK;
    return job_save(run->context->jobs, run->context->store, run->job, error);
}

/* Whether the last step is a point, at which progress moves and what was released is
 * kept: there is one every 1 % of the steps, and one at the end. */
static bool is_point(const struct run *run)
{
    return trainer_steps_done(run->trainer) == shown_step(run);
}

static enum status keep_point(struct run *run, struct error *error)
{
    struct released_value values[RELEASED_SERIES_MAX];
    uint64_t done = trainer_steps_done(run->trainer);
    size_t count = run->company == NULL ? trainer_released(run->trainer, values)
                                        : rank_company_released(run->company, values);
    if (!enter(run))
        return stopped(error);
    if (count > 0)
        job_released(run->context->jobs, run->job, done, values, count);
    record(run, NULL);
    public_clock_leave(run->context->clock);
    return ST_OK;
}

/* --- steps --- */

/* Whether the next step may run. In a filtered run it takes the step's cost off what
 * was reserved, all of which is on disk as authorised; where that does not fit the run
 * is over, and nothing was sampled. */
static bool may_step(struct run *run)
{
    struct mechanism_run step;
    if (!run_filter_guards(&job_plan(run->job)->mechanism))
        return true;
    if (run->company != NULL) /* which has seen to it that there is one */
        step = rank_company_report(run->company)->next;
    else
        CHECK(trainer_next(run->trainer, &step));
    run->used_up = !run_filter_take(&run->filter, &step);
    return !run->used_up;
}

static bool is_evaluation(const struct run *run)
{
    uint64_t done = trainer_steps_done(run->trainer);
    return done % evaluation_period(run->train) == 0 || done == run->train->steps;
}

/* Where ranks stop for what is to be shown, or asked: at the next point or evaluation, at the
 * end of what is authorised, or, of a filtered run, after one step. */
static uint64_t next_stop(const struct run *run)
{
    uint64_t done = trainer_steps_done(run->trainer), stop = run->authorised;
    uint64_t point = (done / hundredth(run->train) + 1) * hundredth(run->train);
    uint64_t period = evaluation_period(run->train);
    uint64_t look = (done / period + 1) * period;
    if (run_filter_guards(&job_plan(run->job)->mechanism))
        return done + 1;
    stop = point < stop ? point : stop;
    return look < stop ? look : stop;
}

static enum status step_ranks(struct run *run, struct error *error)
{
    uint64_t stop = next_stop(run);
    bool evaluates = job_plan(run->job)->request.has_evaluation &&
                     stop % evaluation_period(run->train) == 0;
    const struct rank_order order = {
        .until = stop, .wants_model = evaluates || stop == run->train->steps};
    return rank_company_take(run->company, &order, error);
}

static enum status step(struct run *run, struct error *error)
{
    enum status status = run->company == NULL ? trainer_step(run->trainer, error)
                                              : step_ranks(run, error);
    if (status == ST_OK && is_point(run))
        status = keep_point(run, error);
    if (status == ST_OK && is_evaluation(run))
        status = evaluate(run, error);
    return status;
}

static enum status run_block(struct run *run, struct error *error)
{
    enum status status = authorise(run, error);
    while (status == ST_OK && trainer_steps_done(run->trainer) < run->authorised &&
           may_step(run))
        status = step(run, error);
    return status;
}

/* Ends a run that is over before its time: its last step is a point like any last one.
 * Where it was one anyway, it has been kept. */
static enum status close_short(struct run *run, struct error *error)
{
    enum status status = ST_OK;
    uint64_t done = trainer_steps_done(run->trainer);
    const struct rank_order order = {.until = done, .wants_model = true};
    if (run->company != NULL)
        status = rank_company_take(run->company, &order, error);
    if (status == ST_OK && done % hundredth(run->train) != 0)
        status = keep_point(run, error);
    if (status == ST_OK && run->evaluated != done)
        status = evaluate(run, error);
    return status;
}

/* One that was stopped before a thread had it opens nothing: it was cancelled, or another has
 * ended it (claims.h). */
static enum status train(struct run *run, struct error *error)
{
    enum status status =
        atomic_load(job_stop_flag(run->job)) ? stopped(error) : run_open(run, error);
    while (status == ST_OK && !run->used_up &&
           trainer_steps_done(run->trainer) < run->train->steps)
        status = run_block(run, error);
    if (status == ST_OK && run->used_up)
        status = close_short(run, error);
    return status;
}

/* --- the look at the holdout --- */

/* Authorises it, durably, before it reads a record. A run that is lost from here on is not
 * made again, so a charge buys one look at most. */
static enum status authorise_measurement(struct run *run, struct error *error)
{
    const struct job_id id = job_evaluation_id(job_id(run->job));
    if (!enter(run))
        return stopped(error);
    enum status status = ledger_authorise(run->context->ledger, &id, 1, error);
    public_clock_leave(run->context->clock);
    return status;
}

/* What was measured, as jobs and certificates show it. */
static char *quality_text(const struct run *run, const double *released)
{
    const struct job_plan *plan = job_plan(run->job);
    const struct job_id id = job_evaluation_id(job_id(run->job));
    const struct schema *schema =
        &dataset_spec(datasets_find(run->context->datasets, plan->request.dataset.text))
             ->schema;
    char *mechanism = mechanism_render(&plan->measurement);
    struct quality_view view = {
        .plan = &plan->quality,
        .released = released,
        .unit = plan->request.train.unit,
        .epsilon = plan->request.measurement.epsilon,
        .delta = plan->request.delta,
        .mechanism = mechanism,
        .half_range = schema_half_range(schema),
    };
    CHECK(ledger_reservation(run->context->ledger, &id, &view.reserve));
    char *text = quality_render(&view);
    free(mechanism);
    return text;
}

/* Measures the trained model on the records held out, where that was asked for. */
static enum status measure(struct run *run, struct error *error)
{
    const struct quality_plan *quality = &job_plan(run->job)->quality;
    if (job_plan(run->job)->measurement.run_count == 0)
        return ST_OK;
    double *released = calloc(quality_counts(quality), sizeof *released);
    CHECK(released != NULL);
    enum status status = authorise_measurement(run, error);
    if (status == ST_OK)
        status = trainer_measure(run->trainer, quality, &run->evaluation.rows, released,
                                 error);
    if (status == ST_OK)
        job_record_quality(run->context->jobs, run->job, quality_text(run, released));
    free(released);
    return status;
}

/* --- the end --- */

static enum job_reason reason_of(const struct run *run, enum status status)
{
    if (run->company != NULL && rank_company_is_lost(run->company))
        return REASON_RANK_LOST;
    if (status == ST_OK)
        return run->used_up ? REASON_USED_UP : REASON_NONE;
    if (status == ST_NO_MEMORY)
        return REASON_NO_MEMORY;
    if (status == ST_DATASET_CORRUPT)
        return REASON_DATASET_CORRUPT;
    if (status == ST_MODEL_CORRUPT)
        return REASON_MODEL_CORRUPT;
    if (status == ST_DISK_FULL && run->trainer == NULL)
        return REASON_CACHE_FULL;
    if (status == ST_NOT_FLOAT_SAFE)
        return REASON_NOT_FLOAT_SAFE;
    /* After its creation a trainer answers ST_INTERNAL for one reason alone: parameters
     * are no longer finite. */
    return status == ST_INTERNAL && run->trainer != NULL ? REASON_DIVERGED
                                                         : REASON_INTERNAL;
}

/* Trains, puts the model's file in place, and says how the run ended. Only the model's
 * row, which the tick inserts, publishes the file. */
static struct ending *end(struct run *run)
{
    struct ending *ending = ending_create();
    ending->status = train(run, &ending->error);
    rank_company_end(run->company, ending->status == ST_OK);
    if (ending->status == ST_OK)
        ending->status = measure(run, &ending->error);
    if (ending->status == ST_OK) {
        const struct trained trained = {
            .trainer = run->trainer,
            .ran = run->filter.ran.run_count > 0 ? &run->filter.ran : NULL,
            .ancestry = &run->weights.ancestry,
            .noise = run->company != NULL ? rank_company_report(run->company)->noise
                                          : NULL,
            .quality = job_recorded_quality(run->context->jobs, run->job)};
        ending->status = publication_write(&ending->model, run->context, run->job,
                                           &trained, &ending->error);
    }
    ending->reason = reason_of(run, ending->status);
    return ending;
}

void runner_run(void *argument, void *item)
{
    struct context *context = argument;
    struct run run = {.context = context, .job = item};
    run.train = &job_plan(run.job)->request.train;
    run.is_private = job_plan(run.job)->is_private;

    struct ending *ending = end(&run);
    run_close(&run);
    public_clock_enter(context->clock);
    ending->stopped = atomic_load(job_stop_flag(run.job));
    job_hand_over(context->jobs, run.job, ending);
    public_clock_leave(context->clock);
    context_guard(context);
}
