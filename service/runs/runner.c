/* A run is a loop of blocks: authorise a block in the ledger, step through it, wait,
 * and record what may be shown of it. The parts below come in this order: opening the
 * matrices and the trainer; the clock's gate, which everything must pass that depends
 * on how long steps took; authorising; points and evaluations; steps; and the end.
 *
 * Everything is recorded in memory by job_record and shown by the next tick
 * (clock_tick.h). The run itself moves no state: it leaves a struct run_result, and
 * the tick publishes it. */
#include "service/runs/runner.h"

#include <stdlib.h>
#include <string.h>

#include "accountant/ledger/ledger.h"
#include "accountant/pricing/figures.h"
#include "accountant/pricing/run_filter.h"
#include "api/requests/job_request.h"
#include "api/requests/rank_text.h"
#include "api/views/job_view.h"
#include "base/check.h"
#include "base/random.h"
#include "base/status.h"
#include "engine/trainer.h"
#include "service/config/config.h"
#include "service/datasets/datasets.h"
#include "service/jobs/job_facts.h"
#include "service/jobs/job_plan.h"
#include "service/jobs/jobs.h"
#include "service/process/daemon_state.h"
#include "service/process/job_state.h"
#include "service/process/process_stats.h"
#include "service/runs/rank_group.h"
#include "service/runs/run_inputs.h"
#include "service/runs/run_quality.h"
#include "service/runs/run_result.h"
#include "service/runs/run_schedule.h"
#include "service/threads/reveal_delay.h"
#include "service/threads/tick_clock.h"

struct run {
    struct daemon_state *context;
    struct job *job;
    const struct train_spec *train;
    bool is_private;
    struct reveal_delay delay; /* of a private run */
    struct run_inputs inputs;
    struct trainer *trainer;
    struct rank_group *company; /* takes the steps; NULL: the trainer does */
    uint64_t authorised;        /* steps */
    uint64_t block_end;         /* the step at which it next waits */
    double spent;               /* epsilon of the authorised steps */
    uint64_t evaluated;         /* the step of the last evaluation */
    struct run_filter filter;   /* only a filtered run has one */
    bool used_up;               /* the next step of a filtered run does not fit */
};

/* --- opening --- */

static enum status run_open(struct run *run, struct error *error)
{
    const struct job_request *request = &job_plan(run->job)->request;
    const atomic_bool *cancel = job_stop_flag(run->job);
    struct run_inputs *inputs = &run->inputs;
    bool has_weights = run->train->model.start.weights[0] != '\0';
    enum status status = run_inputs_open(inputs, run->context, run->job, error);
    if (status != ST_OK)
        return status;
    struct weights_source own, body;
    char folder[BLOB_PATH_SIZE];
    blobs_features_path(run->context->blobs, folder);
    struct trainer_options options = {
        .spec = run->train,
        .data = &inputs->data.rows,
        .evaluation = request->has_evaluation ? &inputs->evaluation.rows : NULL,
        .threads = run->context->config->threads,
        .cancel = cancel,
        .features = {folder, run->context->feature_cache, request->dataset.text},
        .evaluation_name = request->evaluation.text,
        .weights =
            has_weights ? initial_weights_source(&inputs->weights, &own, &body) : NULL,
        .scale = request->standardise.is_asked ? &inputs->standardise.scale : NULL,
    };
    if (train_spec_ranks(run->train) > 1) /* ranks make no features, so neither does the
                                             trainer */
        options.features = (struct feature_place){0};
    if (run_filter_guards(&job_plan(run->job)->mechanism))
        status = run_filter_init(&run->filter, &job_plan(run->job)->mechanism, error);
    if (status == ST_OK)
        status = trainer_create(&run->trainer, &options, error);
    if (status != ST_OK || train_spec_ranks(run->train) == 1)
        return status;
    const struct rank_group_setup setup = {inputs->data.loan.path, options.weights,
                                           run->trainer, cancel};
    return rank_group_open(&run->company, run->context, run->job, &setup, error);
}

static void run_close(struct run *run)
{
    rank_group_close(run->company);
    trainer_destroy(run->trainer);
    run_filter_fini(&run->filter);
    run_inputs_close(&run->inputs, run->context);
}

/* --- the gate: everything that depends on how long the steps took --- */

/* Enters the clock's gate, to be left with tick_clock_leave. Returns false, outside
 * the gate, if a stop has taken effect: nothing more of the run counts. */
static bool enter(const struct run *run)
{
    tick_clock_enter(run->context->tick_clock);
    if (!atomic_load(job_stop_flag(run->job)))
        return true;
    tick_clock_leave(run->context->tick_clock);
    return false;
}

static enum status stopped(struct error *error)
{
    return error_set(error, ST_CANCELLED, "stopped");
}

static uint64_t steps_done(const struct run *run)
{
    return run->trainer != NULL ? trainer_steps_done(run->trainer) : 0;
}

static bool is_last(const struct run *run)
{
    return steps_done(run) == run->train->steps || run->used_up;
}

static uint64_t shown_step(const struct run *run)
{
    uint64_t done = steps_done(run);
    return is_last(run) ? done : run_schedule_shown(run->train, run->is_private, done);
}

/* Waits at a mark of a private run, or until a stop takes effect. */
static void wait_for_mark(struct run *run)
{
    if (run->is_private)
        reveal_delay_wait(&run->delay, run->context->tick_clock,
                          job_stop_flag(run->job));
}

/* Records progress. To be called inside the gate. */
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

static uint64_t block_end(const struct run *run)
{
    return run_schedule_block_end(run->train, run->is_private, steps_done(run));
}

/* Authorises the next block, or all steps if their prefixes have no price, and records
 * the results of the block before. */
static enum status authorise(struct run *run, struct error *error)
{
    bool is_whole = !job_plan(run->job)->mechanism.prefixes_priced;
    uint64_t end = is_whole ? run->train->steps : block_end(run);
    if (!run->is_private) {
        run->authorised = end;
        return ST_OK;
    }
    double spent = job_plan_spent(job_plan(run->job), end);
    if (!enter(run))
        return stopped(error);
    enum status status = ST_OK;
    if (end > run->authorised)
        status = ledger_authorise(run->context->ledger, job_id(run->job), end, error);
    if (status == ST_OK) {
        run->authorised = end;
        run->spent = spent;
        record(run, NULL);
    }
    tick_clock_leave(run->context->tick_clock);
    return status;
}

/* --- points and evaluations --- */

/* Records the evaluation of a public run, also in the job's row; keeps that of a
 * private run until its next mark. */
static enum status keep_evaluation(struct run *run,
                                   const struct evaluation_point *point,
                                   struct error *error)
{
    struct daemon_state *context = run->context;
    run->evaluated = point->step;
    if (run->is_private) {
        job_keep_point(context->jobs, run->job, point);
        return ST_OK;
    }
    if (!enter(run))
        return stopped(error);
    record(run, point);
    tick_clock_leave(context->tick_clock);
    if (store_shared(context->store)) /* the row is written once the point is shown */
        return ST_OK;
    return job_save(context->jobs, context->store, run->job, error);
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
    return keep_evaluation(run, &point, error);
}

static bool is_point(const struct run *run)
{
    return is_last(run) || run_schedule_is_point(run->train, steps_done(run));
}

static enum status keep_point(struct run *run, struct error *error)
{
    struct released_value values[RELEASED_SERIES_MAX];
    uint64_t done = trainer_steps_done(run->trainer);
    size_t count = run->company == NULL ? trainer_released(run->trainer, values)
                                        : rank_group_released(run->company, values);
    if (count > 0)
        job_keep_released(run->context->jobs, run->job, done, values, count);
    if (run->is_private) /* its next mark records it */
        return ST_OK;
    if (!enter(run))
        return stopped(error);
    record(run, NULL);
    tick_clock_leave(run->context->tick_clock);
    return ST_OK;
}

/* --- steps --- */

/* Returns whether the next step may run. In a filtered run it subtracts the step's cost
 * from what was reserved, all of which is on disk as authorised; if that does not fit,
 * the run is over, and nothing was sampled. */
static bool may_step(struct run *run)
{
    struct mechanism_run step;
    if (!run_filter_guards(&job_plan(run->job)->mechanism))
        return true;
    if (run->company != NULL) /* check_report has made sure that there is one */
        step = rank_group_report(run->company)->next;
    else
        CHECK(trainer_next(run->trainer, &step));
    run->used_up = !run_filter_take(&run->filter, &step);
    return !run->used_up;
}

/* The step at which ranks stop, because something must be shown or decided: in a
 * filtered run after one step. */
static uint64_t next_stop(const struct run *run)
{
    uint64_t done = trainer_steps_done(run->trainer);
    return run_filter_guards(&job_plan(run->job)->mechanism)
               ? done + 1
               : run_schedule_stop(run->train, done, run->block_end);
}

static enum status step_ranks(struct run *run, struct error *error)
{
    uint64_t stop = next_stop(run);
    bool evaluates = job_plan(run->job)->request.has_evaluation &&
                     run_schedule_is_evaluation(run->train, stop);
    const struct rank_order order = {
        .until = stop, .wants_model = evaluates || stop == run->train->steps};
    return rank_group_take(run->company, &order, error);
}

static enum status step(struct run *run, struct error *error)
{
    enum status status = run->company == NULL ? trainer_step(run->trainer, error)
                                              : step_ranks(run, error);
    if (status == ST_OK && is_point(run))
        status = keep_point(run, error);
    if (status == ST_OK && run_schedule_is_evaluation(run->train, steps_done(run)))
        status = evaluate(run, error);
    return status;
}

static enum status run_block(struct run *run, struct error *error)
{
    enum status status = authorise(run, error);
    run->block_end = block_end(run);
    while (status == ST_OK && steps_done(run) < run->block_end && may_step(run))
        status = step(run, error);
    if (status == ST_OK && !is_last(run))
        wait_for_mark(run);
    return status;
}

/* Ends a run that is over before its planned time: its last step is a point like any
 * last step. If it was a point anyway, it has been kept already. */
static enum status close_short(struct run *run, struct error *error)
{
    enum status status = ST_OK;
    uint64_t done = trainer_steps_done(run->trainer);
    const struct rank_order order = {.until = done, .wants_model = true};
    if (run->company != NULL)
        status = rank_group_take(run->company, &order, error);
    if (status == ST_OK && !run_schedule_is_point(run->train, done))
        status = keep_point(run, error);
    if (status == ST_OK && run->evaluated != done)
        status = evaluate(run, error);
    return status;
}

/* A run that was stopped before a thread took it opens nothing: it was cancelled, or
 * another daemon has ended it (run_claims.h). */
static enum status train(struct run *run, struct error *error)
{
    enum status status =
        atomic_load(job_stop_flag(run->job)) ? stopped(error) : run_open(run, error);
    while (status == ST_OK && !run->used_up &&
           trainer_steps_done(run->trainer) < run->train->steps)
        status = run_block(run, error);
    if (status == ST_OK && run->used_up)
        status = close_short(run, error);
    return status == ST_OK ? trainer_check(run->trainer, error) : status;
}

/* --- the evaluation on the holdout --- */

/* Authorises the evaluation, durably, before it reads a record. A run that is lost from
 * here on is not repeated, so a charge pays for at most one evaluation. A cancellation
 * may find it authorised or not, so the end of the training is a mark. */
static enum status authorise_measurement(struct run *run, struct error *error)
{
    const struct job_id id = job_evaluation_id(job_id(run->job));
    wait_for_mark(run);
    if (!enter(run))
        return stopped(error);
    enum status status = ledger_authorise(run->context->ledger, &id, 1, error);
    if (status == ST_OK)
        record(run, NULL);
    tick_clock_leave(run->context->tick_clock);
    return status;
}

/* Measures the trained model on the records held out, if the job asks for it. */
static enum status measure(struct run *run, struct error *error)
{
    const struct quality_plan *quality = &job_plan(run->job)->quality;
    if (job_plan(run->job)->measurement.run_count == 0)
        return ST_OK;
    double *released = calloc(quality_counts(quality), sizeof *released);
    CHECK(released != NULL);
    enum status status = authorise_measurement(run, error);
    if (status == ST_OK)
        status = trainer_measure(run->trainer, quality, &run->inputs.evaluation.rows,
                                 released, error);
    if (status == ST_OK)
        job_record_quality(run->context->jobs, run->job,
                           run_quality_text(run->context, run->job, released));
    free(released);
    return status;
}

/* --- the end --- */

static enum job_reason reason_of(const struct run *run, enum status status)
{
    if (run->company != NULL && rank_group_is_lost(run->company))
        return REASON_RANK_LOST;
    if (status == ST_OK)
        return run->used_up ? REASON_USED_UP : REASON_NONE;
    if (run->inputs.standardise.reason != REASON_NONE)
        return run->inputs.standardise.reason;
    if (status == ST_NO_MEMORY)
        return REASON_NO_MEMORY;
    if (status == ST_DATASET_CORRUPT)
        return REASON_DATASET_CORRUPT;
    if (status == ST_DATASET_ORDER)
        return REASON_DATASET_ORDER;
    if (status == ST_MODEL_CORRUPT)
        return REASON_MODEL_CORRUPT;
    if (status == ST_DISK_FULL && run->trainer == NULL)
        return REASON_CACHE_FULL;
    if (status == ST_NOT_FLOAT_SAFE)
        return REASON_NOT_FLOAT_SAFE;
    /* After its creation a trainer returns ST_INTERNAL for one reason only: parameters
     * are no longer finite, or the loss on public records is not. */
    return status == ST_INTERNAL && run->trainer != NULL ? REASON_DIVERGED
                                                         : REASON_INTERNAL;
}

/* Waits at the mark that is the end of a private run, and then records the results of
 * its last block. If the run failed nothing more is recorded: what it had kept would
 * show how far it was. */
static void reveal_end(struct run *run, bool failed)
{
    if (!run->is_private)
        return;
    reveal_delay_end(&run->delay, run->context->tick_clock, job_stop_flag(run->job));
    if (failed || !enter(run))
        return;
    record(run, NULL);
    tick_clock_leave(run->context->tick_clock);
}

/* Trains, writes the model's file, and returns how the run ended. Only the model's row,
 * which the tick inserts, publishes the file. The operator of the file store sees when
 * the file comes, so it is written after the wait. */
static struct run_result *end(struct run *run)
{
    struct run_result *ending = run_result_create();
    ending->status = train(run, &ending->error);
    rank_group_end(run->company, ending->status == ST_OK);
    if (ending->status == ST_OK)
        ending->status = measure(run, &ending->error);
    reveal_end(run, ending->status != ST_OK);
    if (ending->status == ST_OK) {
        const struct trained trained = {
            .trainer = run->trainer,
            .ran = run->filter.ran.run_count > 0 ? &run->filter.ran : NULL,
            .ancestry = &run->inputs.weights.ancestry,
            .noise =
                run->company != NULL ? rank_group_report(run->company)->noise : NULL,
            .quality = job_recorded_quality(run->context->jobs, run->job)};
        ending->status = publication_write(&ending->model, run->context, run->job,
                                           &trained, &ending->error);
    }
    ending->reason = reason_of(run, ending->status);
    return ending;
}

void runner_run(void *argument, void *item)
{
    struct daemon_state *context = argument;
    struct run run = {.context = context, .job = item};
    run.train = &job_plan(run.job)->request.train;
    run.is_private = job_plan(run.job)->is_private;
    if (run.is_private) {
        process_stats_pause(context->process_stats);
        reveal_delay_draw(&run.delay, context->config->reveal_delay_ms, random_bytes);
    }

    struct run_result *ending = end(&run);
    run_close(&run);
    tick_clock_enter(context->tick_clock);
    ending->stopped = atomic_load(job_stop_flag(run.job));
    job_hand_over(context->jobs, run.job, ending);
    if (run.is_private)
        process_stats_resume(context->process_stats);
    tick_clock_leave(context->tick_clock);
    daemon_state_guard(context);
}
