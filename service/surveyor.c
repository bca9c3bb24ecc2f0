#include "service/surveyor.h"

#include <stdlib.h>

#include "api/limits.h"
#include "api/statistics_view.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/status.h"
#include "service/claims.h"
#include "service/config.h"
#include "service/context.h"
#include "service/datasets.h"
#include "service/job_state.h"
#include "service/notice.h"
#include "service/process_figures.h"
#include "service/public_clock.h"
#include "service/reveal_delay.h"
#include "service/sealed_matrix.h"
#include "service/surveys.h"

/* --- the run --- */

/* Authorises the one step, inside the clock's gate: the moment depends on how long the
 * surveys before it took. */
static enum status authorise(struct context *context, struct survey *survey,
                             struct error *error)
{
    const struct job_id holder = holder_of_survey(&survey->id);
    enum status status = ST_CANCELLED;
    public_clock_enter(context->clock);
    if (!atomic_load(&survey->stop))
        status = ledger_authorise(context->ledger, &holder, 1, error);
    public_clock_leave(context->clock);
    return status;
}

/* Measures the records, and returns the text of the released answers. */
static enum status measure(struct context *context, struct survey *survey,
                           const struct matrix *matrix, char **answers,
                           struct error *error)
{
    double *released = calloc(survey->measurement.slots, sizeof *released);
    const struct dataset *dataset =
        datasets_find(context->datasets, survey->dataset.text);
    if (released == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for %zu numbers",
                         survey->measurement.slots);
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

static enum status run(struct context *context, struct survey *survey, char **answers,
                       struct error *error)
{
    struct sealed_matrix matrix = {.loan = {.is_lent = false}};
    enum status status =
        sealed_matrix_open(context, &survey->dataset, &survey->stop, &matrix, error);
    if (status == ST_OK)
        status = authorise(context, survey, error);
    if (status == ST_OK)
        status = measure(context, survey, &matrix.rows, answers, error);
    sealed_matrix_close(&matrix, context);
    return status;
}

void surveyor_run(void *argument, void *item)
{
    struct context *context = argument;
    struct survey *survey = item;
    struct reveal_delay delay;
    struct survey_ending *ending = calloc(1, sizeof *ending);
    CHECK(ending != NULL);
    process_figures_pause(context->process_figures);
    reveal_delay_draw(&delay, context->config->reveal_delay_ms, random_bytes);
    ending->status = run(context, survey, &ending->answers, &ending->error);
    reveal_delay_end(&delay, context->clock, &survey->stop);
    public_clock_enter(context->clock);
    ending->stopped = atomic_load(&survey->stop);
    survey_hand_over(context->surveys, survey, ending);
    process_figures_resume(context->process_figures);
    public_clock_leave(context->clock);
    context_guard(context);
}

/* --- the end --- */

/* Commits in tx what was authorised, and ends the row. */
static enum status settle_in(struct context *context, struct store_tx *tx,
                             struct survey *survey, const struct survey_end *end,
                             struct error *error)
{
    const struct job_id holder = holder_of_survey(&survey->id);
    enum status status = claims_end_held(context, tx, HELD_SURVEY, survey->id.text,
                                         end->answers != NULL, error);
    if (status == ST_OK)
        status = ledger_settle(context->ledger, tx, &holder, NULL, error);
    const struct notice_charge charge = {&survey->dataset, survey->project,
                                         end->second};
    if (status == ST_OK)
        status = notice_charged(context, tx, &charge, error);
    if (status == ST_OK)
        status = surveys_end(context->surveys, tx, survey, end, error);
    return status;
}

static enum status settle(struct context *context, struct survey *survey,
                          const struct survey_end *end, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status = store_begin(context->store, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    return store_end(tx, settle_in(context, tx, survey, end, error), error);
}

static enum job_reason reason_of(const struct survey_ending *ending)
{
    if (ending->stopped)
        return REASON_SHUTDOWN;
    if (ending->status == ST_OK)
        return REASON_NONE;
    if (ending->status == ST_NO_MEMORY)
        return REASON_NO_MEMORY;
    if (ending->status == ST_DISK_FULL)
        return REASON_CACHE_FULL;
    return ending->status == ST_DATASET_CORRUPT ? REASON_DATASET_CORRUPT
                                                : REASON_INTERNAL;
}

static void end_survey(struct context *context, struct survey *survey,
                       const struct survey_ending *ending, int64_t second)
{
    const struct survey_id id = survey->id;
    struct error error = {0};
    const struct survey_end end = {reason_of(ending), ending->answers, second};
    bool expected = end.reason == REASON_NONE || end.reason == REASON_SHUTDOWN;
    if (settle(context, survey, &end, &error) != ST_OK)
        log_event(LOG_ERROR, "settle_failed", "survey", id.text, "detail", error.text,
                  (char *)NULL);
    log_event(expected ? LOG_INFO : LOG_ERROR, "survey_ended", "survey", id.text,
              "status", status_wire(ending->status), "detail", ending->error.text,
              (char *)NULL);
}

void surveyor_tick(struct context *context, int64_t second)
{
    bool stops = atomic_load(&context->stop_training);
    struct survey *survey;
    for (size_t i = 0; (survey = surveys_at(context->surveys, i)) != NULL;) {
        size_t before = surveys_here(context->surveys);
        struct survey_ending *ending = survey_ending_take(context->surveys, survey);
        if (ending != NULL)
            end_survey(context, survey, ending, second);
        else if (stops)
            atomic_store(&survey->stop, true);
        survey_ending_destroy(ending);
        /* Otherwise the next took its place. */
        i += surveys_here(context->surveys) == before;
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

static enum status find_shared(struct context *context, struct lost_surveys *lost,
                               struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status;
    do {
        status = store_begin(context->store, STORE_READ, &tx, error);
        if (status != ST_OK)
            return status;
        status = hold_rows_walk_lost(tx, note, lost, error);
    } while (store_again(tx, &status, error));
    return status;
}

static void find_alone(struct context *context, struct lost_surveys *lost)
{
    struct survey *survey;
    while (lost->count < LOST_MOST &&
           (survey = surveys_at(context->surveys, lost->count)) != NULL)
        lost->all[lost->count++] = survey->id;
}

/* Every remaining daemon finds the survey. The first to get its turn ends it; the
 * others find that it has ended, and do nothing. */
static enum status end_lost_in(struct context *context, struct store_tx *tx,
                               const struct survey_id *id, bool *ended,
                               struct error *error)
{
    const struct survey_end end = {.reason = REASON_WORKER_LOST,
                                   .second = clock_wall_s()};
    struct hold_row hold = {.lost = true};
    struct survey *survey = surveys_find(context->surveys, id->text);
    enum status status = store_shared(context->store)
                             ? hold_row_find(tx, HELD_SURVEY, id->text, &hold, error)
                             : ST_OK;
    *ended = status == ST_OK && survey != NULL && (hold.daemon == 0 || hold.lost);
    return *ended ? settle_in(context, tx, survey, &end, error) : status;
}

static enum status end_lost(struct context *context, const struct survey_id *id,
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
static enum status end_some(struct context *context, size_t *count, struct error *error)
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

enum status surveyor_recover(struct context *context, struct error *error)
{
    size_t ended = LOST_MOST;
    enum status status = ST_OK;
    while (status == ST_OK && ended == LOST_MOST)
        status = end_some(context, &ended, error);
    return status;
}
