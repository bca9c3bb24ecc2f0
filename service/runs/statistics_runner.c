#include "service/runs/statistics_runner.h"

#include <stdlib.h>

#include "api/limits.h"
#include "api/requests/job_defaults.h"
#include "api/views/statistics_view.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/status.h"
#include "service/config/config.h"
#include "service/datasets/datasets.h"
#include "service/jobs/job_score.h"
#include "service/jobs/statistics_runs.h"
#include "service/peers/run_claims.h"
#include "service/process/daemon_state.h"
#include "service/process/job_state.h"
#include "service/process/process_stats.h"
#include "service/runs/evaluation_run.h"
#include "service/runs/prefix_run.h"
#include "service/runs/verified_matrix.h"
#include "service/threads/reveal_delay.h"
#include "service/threads/tick_clock.h"
#include "service/webhooks/webhook_events.h"

enum { MS_PER_S = 1000 };

/* --- the run --- */

/* Authorises the one step, inside the clock's gate: the moment depends on how long the
 * surveys before it took. A free survey has no step. */
static enum status authorise(struct daemon_state *context,
                             struct statistics_run *survey, struct error *error)
{
    const struct job_id holder = holder_of_survey(&survey->id);
    enum status status = ST_CANCELLED;
    tick_clock_enter(context->tick_clock);
    if (!atomic_load(&survey->stop))
        status = survey->is_free ? ST_OK
                                 : ledger_authorise(context->ledger, &holder, 1, error);
    tick_clock_leave(context->tick_clock);
    return status;
}

/* Finds the frequent texts of a column, and returns the text of the answers. */
static enum status discover(const struct statistics_run *survey,
                            const struct matrix *matrix, char **answers,
                            struct error *error)
{
    struct word_counts words = {0};
    const struct statistic *statistic = &survey->statistics.items[0];
    enum status status = word_counts_run(&words, &survey->measurement, statistic,
                                         matrix, NULL, &survey->stop, error);
    if (status == ST_OK)
        *answers = statistics_words_render(statistic, &survey->mechanism, &words);
    word_counts_fini(&words);
    if (status == ST_OK && *answers == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for the answers");
    return status;
}

/* Measures the records, and returns the text of the released answers. */
static enum status measure(struct daemon_state *context, struct statistics_run *survey,
                           struct matrix *matrix, char **answers, struct error *error)
{
    if (statistics_are_words(&survey->statistics))
        return discover(survey, matrix, answers, error);
    double *released = calloc(survey->measurement.slots, sizeof *released);
    const struct dataset *dataset =
        datasets_find(context->datasets, survey->dataset.text);
    const struct job_dataset facts = dataset_facts(context->datasets, dataset);
    if (released == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for %zu numbers",
                         survey->measurement.slots);
    if (survey->parts == PARTS_TRAIN)
        matrix_select(matrix, &facts.division, PART_TRAIN);
    enum status status = measurement_run(&survey->measurement, &survey->statistics,
                                         matrix, NULL, &survey->stop, released, error);
    if (status == ST_OK)
        *answers = statistics_answers_render(&survey->measurement, &survey->statistics,
                                             &dataset_spec(dataset)->schema, released);
    free(released);
    if (status == ST_OK && *answers == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for the answers");
    return status;
}

static enum status run(struct daemon_state *context, struct statistics_run *survey,
                       char **answers, struct error *error)
{
    struct verified_matrix matrix = {.loan = {.is_lent = false}};
    struct evaluation_run evaluation = {0};
    struct prefix_run prefix = {0};
    bool evaluates = survey_id_is_evaluation(&survey->id);
    enum status status =
        verified_matrix_open(context, &survey->dataset, &survey->stop, &matrix, error);
    if (status == ST_OK && evaluates)
        status = evaluation_run_open(&evaluation, context, survey, error);
    if (status == ST_OK && survey->prefix.layer_count > 0)
        status = prefix_run_open(&prefix, context, survey, error);
    if (status == ST_OK)
        status = authorise(context, survey, error);
    if (status == ST_OK)
        status = evaluates ? evaluation_run_read(&evaluation, context, survey,
                                                 &matrix.rows, answers, error)
                           : measure(context, survey, &matrix.rows, answers, error);
    prefix_run_close(&prefix, context);
    evaluation_run_close(&evaluation);
    verified_matrix_close(&matrix, context);
    return status;
}

void statistics_runner_run(void *argument, void *item)
{
    struct daemon_state *context = argument;
    struct statistics_run *survey = item;
    struct reveal_delay delay;
    struct statistics_run_ending *ending = calloc(1, sizeof *ending);
    CHECK(ending != NULL);
    process_stats_pause(context->process_stats);
    reveal_delay_draw(&delay, context->config->reveal_delay_ms, random_bytes);
    ending->status = run(context, survey, &ending->answers, &ending->error);
    reveal_delay_end(&delay, context->tick_clock, &survey->stop);
    tick_clock_enter(context->tick_clock);
    ending->stopped = atomic_load(&survey->stop);
    statistics_run_hand_over(context->statistics_runs, survey, ending);
    process_stats_resume(context->process_stats);
    tick_clock_leave(context->tick_clock);
    daemon_state_guard(context);
}

/* --- the end --- */

/* Commits in tx what was authorised of a survey that reserved anything. */
static enum status charge_in(struct daemon_state *context, struct store_tx *tx,
                             const struct statistics_run *survey, int64_t second,
                             struct error *error)
{
    const struct job_id holder = holder_of_survey(&survey->id);
    const struct webhook_events_charge charge = {&survey->dataset, survey->project,
                                                 second};
    if (survey->is_free)
        return ST_OK;
    enum status status = ledger_settle(context->ledger, tx, &holder, NULL, error);
    return status == ST_OK ? webhook_events_charged(context, tx, &charge, error)
                           : status;
}

/* Shows the score of an evaluation on a holdout in lists, once tx is durable. */
static void show_score(struct daemon_state *context, struct store_tx *tx,
                       const struct statistics_run *survey,
                       const struct statistics_run_end *end)
{
    const struct later_score later = {&survey->id, &survey->evaluation.model,
                                      &survey->dataset, end->answers,
                                      end->second * MS_PER_S};
    if (!survey->is_free && survey_id_is_evaluation(&survey->id))
        job_scores_add(context->jobs, tx, &later);
}

/* Charges the survey in tx, and ends the row. */
static enum status settle_in(struct daemon_state *context, struct store_tx *tx,
                             struct statistics_run *survey,
                             const struct statistics_run_end *end, struct error *error)
{
    enum status status = run_claims_end_held(context, tx, HELD_SURVEY, survey->id.text,
                                             end->answers != NULL, error);
    if (status == ST_OK)
        status = charge_in(context, tx, survey, end->second, error);
    if (status == ST_OK)
        status = statistics_runs_end(context->statistics_runs, tx, survey, end, error);
    if (status == ST_OK && end->reason == REASON_NONE)
        show_score(context, tx, survey, end);
    return status;
}

static enum status settle(struct daemon_state *context, struct statistics_run *survey,
                          const struct statistics_run_end *end, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status = store_begin(context->store, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    return store_end(tx, settle_in(context, tx, survey, end, error), error);
}

static enum job_reason reason_of(const struct statistics_run_ending *ending)
{
    if (ending->stopped)
        return REASON_SHUTDOWN;
    if (ending->status == ST_OK)
        return REASON_NONE;
    if (ending->status == ST_NO_MEMORY)
        return REASON_NO_MEMORY;
    if (ending->status == ST_DISK_FULL)
        return REASON_CACHE_FULL;
    if (ending->status == ST_MODEL_CORRUPT)
        return REASON_MODEL_CORRUPT;
    if (ending->status == ST_NOT_FLOAT_SAFE)
        return REASON_NOT_FLOAT_SAFE;
    return ending->status == ST_DATASET_CORRUPT ? REASON_DATASET_CORRUPT
                                                : REASON_INTERNAL;
}

static void end_survey(struct daemon_state *context, struct statistics_run *survey,
                       const struct statistics_run_ending *ending, int64_t second)
{
    const struct survey_id id = survey->id;
    struct error error = {0};
    const struct statistics_run_end end = {reason_of(ending), ending->answers, second};
    bool expected = end.reason == REASON_NONE || end.reason == REASON_SHUTDOWN;
    if (settle(context, survey, &end, &error) != ST_OK)
        log_event(LOG_ERROR, "settle_failed", "survey", id.text, "detail", error.text,
                  (char *)NULL);
    log_event(expected ? LOG_INFO : LOG_ERROR, "survey_ended", "survey", id.text,
              "status", status_wire(ending->status), "detail", ending->error.text,
              (char *)NULL);
}

void statistics_runner_tick(struct daemon_state *context, int64_t second)
{
    bool stops = atomic_load(&context->stop_training);
    struct statistics_run *survey;
    for (size_t i = 0;
         (survey = statistics_runs_at(context->statistics_runs, i)) != NULL;) {
        size_t before = statistics_runs_here(context->statistics_runs);
        struct statistics_run_ending *ending =
            statistics_run_ending_take(context->statistics_runs, survey);
        if (ending != NULL)
            end_survey(context, survey, ending, second);
        else if (stops)
            atomic_store(&survey->stop, true);
        statistics_run_ending_destroy(ending);
        /* Otherwise the next took its place. */
        i += statistics_runs_here(context->statistics_runs) == before;
    }
}

/* --- surveys of lost daemons --- */

enum { LOST_MOST = LIMIT_SURVEYS }; /* maximum of unfinished surveys, of all daemons */

struct lost_surveys {
    struct survey_id all[LOST_MOST];
    size_t count;
};

static bool note(void *argument, const char *id)
{
    struct lost_surveys *lost = argument;
    if (survey_id_parse(&lost->all[lost->count], id))
        lost->count++;
    return lost->count < LOST_MOST;
}

static enum status find_shared(struct daemon_state *context, struct lost_surveys *lost,
                               struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status;
    do {
        status = store_begin(context->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        status = work_lease_rows_walk_lost(tx, note, lost, error);
    } while (store_again(tx, &status, error));
    return status;
}

static void find_alone(struct daemon_state *context, struct lost_surveys *lost)
{
    struct statistics_run *survey;
    while (lost->count < LOST_MOST &&
           (survey = statistics_runs_at(context->statistics_runs, lost->count)) != NULL)
        lost->all[lost->count++] = survey->id;
}

/* Every remaining daemon finds the survey. The first to get its turn ends it; the
 * others find that it has ended, and do nothing. */
static enum status end_lost_in(struct daemon_state *context, struct store_tx *tx,
                               const struct survey_id *id, bool *ended,
                               struct error *error)
{
    const struct statistics_run_end end = {.reason = REASON_WORKER_LOST,
                                           .second = clock_wall_s()};
    struct work_lease_row hold = {.lost = true};
    struct statistics_run *survey =
        statistics_runs_find(context->statistics_runs, id->text);
    enum status status =
        store_shared(context->store)
            ? work_lease_row_find(tx, HELD_SURVEY, id->text, &hold, error)
            : ST_OK;
    *ended = status == ST_OK && survey != NULL && (hold.daemon == 0 || hold.lost);
    return *ended ? settle_in(context, tx, survey, &end, error) : status;
}

static enum status end_lost(struct daemon_state *context, const struct survey_id *id,
                            bool *ended, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status = store_begin(context->store, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    status = store_end(tx, end_lost_in(context, tx, id, ended, error), error);
    if (status == ST_OK && *ended)
        log_event(LOG_WARNING, "survey_lost", "survey", id->text, (char *)NULL);
    return status;
}

/* Ends at most LOST_MOST of them; *count is the number. */
static enum status end_some(struct daemon_state *context, size_t *count,
                            struct error *error)
{
    struct lost_surveys lost = {.count = 0};
    enum status status = ST_OK;
    *count = 0;
    if (store_shared(context->store))
        status = find_shared(context, &lost, error);
    else
        find_alone(context, &lost);
    for (size_t i = 0; status == ST_OK && i < lost.count; i++) {
        bool ended = false;
        status = end_lost(context, &lost.all[i], &ended, error);
        *count += status == ST_OK && ended;
    }
    return status;
}

enum status statistics_runner_recover(struct daemon_state *context, struct error *error)
{
    size_t ended = LOST_MOST;
    enum status status = ST_OK;
    while (status == ST_OK && ended == LOST_MOST)
        status = end_some(context, &ended, error);
    return status;
}
