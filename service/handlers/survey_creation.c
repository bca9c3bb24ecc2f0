#include "service/handlers/survey_creation.h"

#include <stdio.h>
#include <stdlib.h>
#include <microhttpd.h>

#include "accountant/ledger/ledger.h"
#include "api/views/audit_view.h"
#include "base/check.h"
#include "base/clock.h"
#include "service/audit/audit_event.h"
#include "service/datasets/dataset_write.h"
#include "service/datasets/datasets.h"
#include "service/handlers/idempotency.h"
#include "service/http/stale_read_retry.h"
#include "service/peers/run_claims.h"
#include "service/process/daemon_state.h"
#include "service/process/disk_room.h"
#include "service/threads/pool.h"

enum { MS_PER_S = 1000 };

static enum status check_room(struct daemon_state *context, struct error *error)
{
    if (atomic_load(&context->draining))
        return error_set(error, ST_DRAINING, "the service is stopping");
    enum status status = statistics_runs_check_room(context->statistics_runs, error);
    return status == ST_OK ? disk_room_check(context->disk_room, error) : status;
}

/* Reserves its cost. *entry stays zeroed if it costs nothing. */
static enum status reserve(const struct survey_creation *creation, struct store_tx *tx,
                           struct ledger_entry_name *entry, struct error *error)
{
    struct statistics_run *survey = creation->survey_take;
    const struct job_id holder = holder_of_survey(&survey->id);
    const struct ledger_claim claim = {.dataset = &survey->dataset,
                                       .job = &holder,
                                       .mechanism = &survey->mechanism,
                                       .principal =
                                           &creation->request->caller.principal,
                                       .parts = statistics_run_parts(survey)};
    if (survey->is_free)
        return ST_OK;
    enum status status =
        ledger_reserve(creation->context->ledger, tx, &claim, entry, error);
    survey->ledger_seq = entry->seq;
    return status;
}

/* Appends to the audit trail that the survey was requested: on which dataset, for which
 * epsilon, and its entry in the ledger. */
static enum status append_to_audit_trail(const struct survey_creation *creation,
                                         struct store_tx *tx, struct error *error)
{
    struct audit_event act;
    const struct statistics_run *survey = creation->survey_take;
    const struct job_act act_of_job = {.dataset = survey->dataset.text,
                                       .algorithm = creation->algorithm,
                                       .is_private = !survey->is_free,
                                       .epsilon = creation->epsilon,
                                       .ledger_seq = survey->ledger_seq};
    char *detail = job_act_render(&act_of_job);
    audit_event_begin(&act, creation->context, creation->request);
    act.row.object = survey->id.text;
    act.row.detail = detail;
    enum status status = audit_trail_append(tx, &act.row, error);
    free(detail);
    return status;
}

/* Inserts the survey, which the registry takes, and sets *body to the reply. */
static enum status insert(struct survey_creation *creation, struct store_tx *tx,
                          const struct ledger_entry_name *entry, char **body,
                          struct error *error)
{
    struct statistics_run *survey = creation->survey_take;
    const struct survey_id id = survey->id;
    char *guarantee =
        survey->is_free ? NULL : creation->guarantee(creation->plan, entry);
    const struct statistics_row row = {.id = id,
                                       .dataset = survey->dataset.text,
                                       .state = "RUNNING",
                                       .reason = "",
                                       .spec = creation->spec,
                                       .guarantee = guarantee != NULL ? guarantee : "",
                                       .answers = "",
                                       .create_ms = clock_wall_s() * MS_PER_S,
                                       .created_by = survey->owner};
    *body = creation->render(&row, survey->project);
    const struct statistics_run_addition addition = {survey, creation->spec,
                                                     row.guarantee, row.create_ms};
    creation->survey_take = NULL;
    enum status status =
        statistics_runs_add(creation->context->statistics_runs, tx, &addition, error);
    if (status == ST_OK)
        status = run_claims_hold(creation->context, tx, HELD_SURVEY, id.text, error);
    free(guarantee);
    return status;
}

/* Uses up the approval that the survey needs. Another daemon may have used it since the
 * request was read. */
static enum status use_approval(const struct survey_creation *creation,
                                struct store_tx *tx, struct error *error)
{
    if (creation->approved == NULL)
        return ST_OK;
    enum status status =
        stale_read_retry_check(creation->context, creation->request, error);
    return status == ST_OK
               ? dataset_use_words(creation->context->datasets, tx, creation->approved,
                                   &creation->survey_take->id, error)
               : status;
}

static enum status create_in(struct survey_creation *creation, struct store_tx *tx,
                             char **body, struct error *error)
{
    char location[64];
    struct request *request = creation->request;
    struct ledger_entry_name entry = {0};
    snprintf(location, sizeof location, "%s%s", creation->folder,
             creation->survey_take->id.text);
    enum status status = use_approval(creation, tx, error);
    if (status == ST_OK)
        status = reserve(creation, tx, &entry, error);
    if (status == ST_OK)
        status = append_to_audit_trail(creation, tx, error);
    if (status == ST_OK)
        status = insert(creation, tx, &entry, body, error);
    if (status == ST_OK)
        status =
            idempotency_keep(creation->context, request, tx, location, *body, error);
    if (status == ST_OK)
        reply_header_add(&request->reply, "Location", "%s", location);
    return status;
}

static enum status create(struct survey_creation *creation, char **body,
                          struct error *error)
{
    struct daemon_state *context = creation->context;
    struct statistics_run *survey = creation->survey_take;
    struct store_tx *tx = NULL;
    enum status status = check_room(context, error);
    if (status == ST_OK)
        status = store_begin(context->store, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    status = daemon_state_end(context, tx, create_in(creation, tx, body, error), error);
    /* The pool has room: LIMIT_SURVEYS may wait, and no more can exist. */
    if (status == ST_OK)
        CHECK(pool_submit(context->statistics_runners, survey, NULL) == ST_OK);
    return status;
}

enum status survey_create(struct survey_creation *creation, struct error *error)
{
    char *body = NULL;
    enum status status = create(creation, &body, error);
    statistics_run_destroy(creation->survey_take); /* NULL once it was added */
    creation->survey_take = NULL;
    if (status == ST_OK)
        reply_json(&creation->request->reply, MHD_HTTP_CREATED, body);
    else
        free(body);
    return status;
}
