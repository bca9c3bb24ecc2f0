#include "service/ingest/importer.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "engine/data/readers/import_report.h"
#include "service/audit/audit_trail.h"
#include "service/config/config.h"
#include "service/datasets/dataset_write.h"
#include "service/datasets/duplicate_datasets.h"
#include "service/ingest/confirmation.h"
#include "service/ingest/fetched_dataset.h"
#include "service/ingest/import_event.h"
#include "service/ingest/import_inputs.h"
#include "service/ingest/import_padding.h"
#include "service/ingest/import_reason.h"
#include "service/ingest/import_reports.h"
#include "service/ingest/upload_kind.h"
#include "service/ingest/upload_senders.h"
#include "service/peers/run_claims.h"
#include "service/process/daemon_state.h"
#include "service/process/disk_room.h"
#include "service/process/process_stats.h"
#include "service/threads/epoch_reclaim.h"
#include "service/threads/long_polls.h"
#include "service/threads/pool.h"
#include "service/threads/reveal_delay.h"
#include "service/threads/tick_clock.h"
#include "service/webhooks/webhook_events.h"

/* The result of an import that has ended. */
struct outcome {
    struct dataset_info info;      /* if it succeeded */
    struct import_failure failure; /* if it did not */
    struct import_report
        *report; /* its faults, for its sender; NULL: none is awaited */
};

static enum status move(struct daemon_state *context, struct dataset *dataset,
                        const struct dataset_info *info, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status = store_begin(context->store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    return store_end(tx, dataset_move(context->datasets, tx, dataset, info, error),
                     error);
}

/* Makes the report of the import available to the key that has requested it, if this key
 * sent all of the files, and the daemon never fetched one. */
static void await_report(struct daemon_state *context, const struct dataset_spec *spec,
                         bool is_fetched, const struct audit_row *act)
{
    struct principal principal = {0};
    bool is_sender = !is_fetched && principal_parse(&principal, act->actor);
    snprintf(principal.key, sizeof principal.key, "%s", act->key);
    for (size_t i = 0; i < UPLOAD_KINDS; i++) {
        const struct blob_name name = blob_of_dataset(&spec->id, upload_kinds[i].blob);
        if (upload_kind_is_of(&upload_kinds[i], &spec->schema))
            is_sender = is_sender &&
                        upload_senders_is(context->upload_senders, &name, &principal);
    }
    if (is_sender && schema_has_columns(&spec->schema))
        import_reports_await(context->import_reports, spec->id.text, &principal);
    else
        import_reports_drop(context->import_reports, spec->id.text);
}

enum status importer_start(struct daemon_state *context, struct dataset *dataset,
                           const struct import_request *request, bool *begun,
                           struct import_failure *failure, struct error *error)
{
    struct dataset_info info;
    dataset_read(context->datasets, dataset, &info);
    switch (info.state) {
    case DATASET_READY: return ST_OK;
    case DATASET_IMPORTING:
        return error_set(error, ST_DATASET_BUSY, "an import is under way");
    case DATASET_DELETED: return error_set(error, ST_NOT_FOUND, "it was deleted");
    case DATASET_CREATED:
    case DATASET_FAILED: break;
    }
    if (proposal_bars(&info.detail.proposal))
        return error_set(error, ST_GRANT_PENDING, "its grant is not approved");
    enum status status =
        import_inputs_check(context, dataset_spec(dataset), failure, error);
    if (status == ST_OK && info.is_fetched)
        status = fetched_dataset_check(&dataset_spec(dataset)->schema, error);
    if (status != ST_OK)
        return status;
    if (atomic_load(&context->draining))
        return error_set(error, ST_DRAINING, "the service is stopping");
    status = disk_room_check(context->disk_room, error);
    if (status != ST_OK)
        return status;
    if (datasets_importing(context->datasets) >= IMPORTS_MAX)
        return error_set(error, ST_QUEUE_FULL, "too many imports wait");
    info.state = DATASET_IMPORTING;
    info.detail = (struct dataset_detail){
        .act = import_event_of(request->act, request->acknowledged)};
    status = move(context, dataset, &info, error);
    if (status != ST_OK)
        return status;
    *begun = true;
    await_report(context, dataset_spec(dataset), info.is_fetched, request->act);
    if (!store_shared(context->store)) /* otherwise a worker does (import_claim_take) */
        CHECK(pool_submit(context->importer, dataset, NULL) == ST_OK);
    return ST_OK;
}

/* Fills in what a READY dataset says of its content. */
static void describe(struct dataset_info *info, const struct dataset_spec *spec,
                     const struct import_result *result)
{
    info->detail.is_shuffled = !spec->is_public;
    info->detail.records = result->records;
    info->detail.size = result->size;
    sha256_render(info->detail.rows_sha256, result->rows_sha256);
    sha256_render(info->detail.sources_sha256, result->sources_sha256);
    info->has_sha256 = true;
    memcpy(info->sha256, result->sha256, SHA256_SIZE);
}

/* Checks that no part of the dataset is empty: an empty part would leave nothing to
 * train on, or nothing to measure. */
static enum status check_parts(const struct dataset_spec *spec, uint64_t records,
                               struct import_failure *failure)
{
    const struct division *division = &spec->grant.division;
    for (unsigned p = 0; p < division_parts(division); p++)
        if (division_count(division, records, (enum part)p) == 0)
            return import_failure_set(failure, ST_IMPORT_FAILED,
                                      p == PART_HOLDOUT
                                          ? "too few records for this holdout: none "
                                            "would be held out"
                                          : "too few records for this holdout: none "
                                            "would be left to train on");
    return ST_OK;
}

/* Checks what the request for the import has confirmed, now that n is known. */
static enum status check_acknowledged(struct daemon_state *context,
                                      const struct dataset *dataset, uint64_t records,
                                      struct import_failure *failure)
{
    struct dataset_info begun;
    struct error error = {0};
    enum acknowledged needed = ACKNOWLEDGED_NOTHING;
    enum status status = ST_OK;
    dataset_read(context->datasets, dataset, &begun);
    if (!dataset_spec(dataset)->is_public)
        status = confirmation_of_units(context, &dataset_spec(dataset)->id, records,
                                       &needed, &error);
    if (status == ST_OK)
        status = acknowledgement_check(begun.detail.act.acknowledged, needed, &error);
    return status == ST_OK ? ST_OK : import_failure_set(failure, status, error.text);
}

static enum status check_twins(struct daemon_state *context,
                               const struct dataset *dataset,
                               const struct dataset_info *info, struct error *error)
{
    struct reclaim_reader visit;
    const struct duplicate_datasets_search search = {context->datasets, context->ledger,
                                                     dataset_owner(dataset), ""};
    datasets_enter(context->datasets, &visit);
    enum status status = duplicate_datasets_check(&search, dataset, info, error);
    datasets_leave(context->datasets, &visit);
    return status;
}

/* Reads the uploads and writes the matrix to the draft. If it fails, what the info says
 * of the content is not used. */
static enum status convert(struct daemon_state *context, const struct dataset *dataset,
                           const struct blob_draft *draft, struct outcome *outcome)
{
    struct dataset_info *info = &outcome->info;
    struct import_failure *failure = &outcome->failure;
    char path[BLOB_PATH_SIZE];
    struct import_result result;
    struct error error = {0};
    const struct dataset_spec *spec = dataset_spec(dataset);
    enum status status = import_inputs_check(context, spec, failure, &error);
    if (status == ST_IMPORT_FAILED)
        return status;
    if (status != ST_OK)
        return import_failure_set(failure, status, error.text);
    /* An import that began before the mark was set, or under an older version. */
    if (info->is_fetched && fetched_dataset_check(&spec->schema, &error) != ST_OK)
        return import_failure_set(failure, ST_IMPORT_FAILED, error.text);
    blob_draft_path(context->blobs, path, draft);
    const struct import_output output = {path, info->is_fetched, outcome->report};
    status = import_inputs_read(context, spec, &output, &result, failure);
    if (status != ST_OK)
        return status;
    describe(info, spec, &result);
    status = check_parts(spec, result.records, failure);
    if (status == ST_OK)
        status = check_acknowledged(context, dataset, result.records, failure);
    if (status != ST_OK)
        return status;
    status = check_twins(context, dataset, info, &error);
    return status == ST_OK ? ST_OK : import_failure_set(failure, status, error.text);
}

/* Returns whether the duration of the import could reveal more of private records than
 * n does: for rows of persons; and for a refused file, how far it was read. */
static bool is_paced(const struct dataset_spec *spec, enum status status)
{
    return !spec->is_public &&
           (status != ST_OK || schema_unit(&spec->schema) == PRIVACY_UNIT_PERSON);
}

/* Waits for the last second before the tick at which the end of an import is shown; the
 * import began at the second `begin`. Returns false if a stop came first: the import
 * then counts as not ended. */
static bool await_last_second(struct daemon_state *context,
                              const struct dataset_spec *spec, int64_t begin,
                              const struct dataset_info *info, enum status status)
{
    int64_t took = clock_wall_s() - begin, ticks = 1;
    if (is_paced(spec, status) && took >= 0)
        ticks = (int64_t)import_padding_end((uint64_t)took,
                                            status == ST_OK ? info->detail.size : 0,
                                            schema_unit(&spec->schema)) -
                took;
    for (; ticks > 1 && !atomic_load(&context->import_cancel); ticks--)
        tick_clock_wait(context->tick_clock);
    return ticks <= 1;
}

/* Imports the dataset, and returns when the tick has come at which its end is shown.
 * The operator of the file storage sees when the matrix arrives, so it is published no
 * earlier than the second before that tick. A random wait hides how long it took to
 * read private records. */
static enum status import(struct daemon_state *context, const struct dataset *dataset,
                          struct outcome *outcome)
{
    struct blob_draft draft;
    struct error error = {0};
    int64_t begin = clock_wall_s();
    const struct dataset_spec *spec = dataset_spec(dataset);
    const struct blob_name matrix = blob_of_dataset(&spec->id, BLOB_MATRIX);
    struct reveal_delay delay;
    reveal_delay_draw(&delay, context->config->reveal_delay_ms, random_bytes);
    blob_draft_init(&draft, &matrix);
    enum status status = convert(context, dataset, &draft, outcome);
    if (!spec->is_public)
        reveal_delay_wait(&delay, context->tick_clock, &context->import_cancel);
    if (!await_last_second(context, spec, begin, &outcome->info, status))
        status = ST_CANCELLED;
    if (status == ST_OK) {
        status = blob_publish(context->blobs, &draft, &error);
        if (status != ST_OK)
            import_failure_set(&outcome->failure, status, error.text);
    }
    if (status != ST_OK)
        blob_discard(context->blobs, &draft);
    tick_clock_wait(context->tick_clock);
    return status;
}

/* Moves the dataset to the state in which its import ended. If daemons share the store,
 * another may have imported the same records in the meantime, so that is checked again
 * in the transaction. */
static enum status settle(struct daemon_state *context, struct dataset *dataset,
                          const struct dataset_info *info, struct error *error)
{
    struct store_tx *tx = NULL;
    const char *id = dataset_spec(dataset)->id.text;
    bool ready = info->state == DATASET_READY;
    const struct duplicate_datasets_search search = {context->datasets, context->ledger,
                                                     dataset_owner(dataset), ""};
    struct dataset_info before;
    enum status status = store_begin(context->store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    dataset_read(context->datasets, dataset, &before);
    status = run_claims_end_held(context, tx, HELD_DATASET, id, true, error);
    if (status == ST_OK && ready && store_shared(context->store))
        status = duplicate_datasets_check(&search, dataset, info, error);
    if (status == ST_OK)
        status = dataset_move(context->datasets, tx, dataset, info, error);
    if (status == ST_OK && ready)
        status = import_event_append(tx, dataset, &before.detail.act, error);
    if (status == ST_OK && ready)
        status = webhook_events_imported(context, tx, dataset,
                                         info->detail.import_ms / 1000, error);
    return store_end(tx, status, error);
}

/* Records the failure of an import whose records another dataset has by now, and
 * removes its matrix. */
static enum status settle_duplicate(struct daemon_state *context,
                                    struct dataset *dataset, const struct error *found,
                                    struct error *error)
{
    struct import_failure failure;
    struct dataset_info info = {.state = DATASET_FAILED};
    import_failure_set(&failure, ST_DUPLICATE_CONTENT, found->text);
    info.detail.failure = failure;
    const struct blob_name matrix =
        blob_of_dataset(&dataset_spec(dataset)->id, BLOB_MATRIX);
    daemon_state_remove(context, &matrix);
    return settle(context, dataset, &info, error);
}

/* Returns whether the content of the files has ended the import, rather than this
 * service. */
static bool is_refused(enum status status)
{
    return status == ST_IMPORT_FAILED || status == ST_INVALID ||
           status == ST_DUPLICATE_CONTENT || status == ST_DISK_FULL;
}

/* Keeps the report of a refused file for the key that sent it. Comes before the refusal is
 * visible: another import, by another key, may begin as soon as it is. */
static void show_report(struct daemon_state *context, const struct dataset_spec *spec,
                        const struct outcome *outcome, enum status status)
{
    const bool has_faults =
        outcome->report != NULL && import_report_faults(outcome->report) > 0;
    if (status == ST_IMPORT_FAILED && has_faults) {
        import_reports_put(context->import_reports, spec->id.text, outcome->report);
        return;
    }
    import_report_destroy(outcome->report);
    import_reports_drop(context->import_reports, spec->id.text);
}

/* Makes the result of the import visible. From then on a dataset that is FAILED may be
 * declared again, so this needs a visit. */
static void show(struct daemon_state *context, struct dataset *dataset,
                 const struct outcome *outcome, enum status status)
{
    const struct dataset_info *info = &outcome->info;
    struct reclaim_reader visit;
    struct error moving = {0};
    const struct dataset_spec *spec = dataset_spec(dataset);
    datasets_enter(context->datasets, &visit);
    show_report(context, spec, outcome, status);
    enum status settled = settle(context, dataset, info, &moving);
    if (settled == ST_DUPLICATE_CONTENT)
        status = settle_duplicate(context, dataset, &moving, NULL) == ST_OK
                     ? ST_DUPLICATE_CONTENT
                     : ST_IO;
    else if (settled == ST_OK && status == ST_OK)
        import_inputs_remove(context, spec);
    else if (settled != ST_OK) /* nothing became visible */
        import_reports_drop(context->import_reports, spec->id.text);
    /* Texts of a failed import may describe private rows, so only the owner may read
     * them. */
    if (!is_refused(status) || !dataset_hides_imports(dataset))
        log_event(LOG_INFO, "import_ended", "dataset", spec->id.text, "status",
                  status_wire(status), "detail",
                  status == ST_IO ? outcome->failure.text : "", (char *)NULL);
    atomic_store(dataset_here_flag(dataset), false);
    long_polls_wake(context->long_polls, dataset);
    datasets_leave(context->datasets, &visit);
}

void importer_run(void *argument, void *item)
{
    struct daemon_state *context = argument;
    struct dataset *dataset = item;
    struct outcome outcome = {0};
    struct dataset_info *info = &outcome.info;
    struct dataset_info before;
    const struct dataset_spec *spec = dataset_spec(dataset);

    dataset_read(context->datasets, dataset, &before);
    info->is_fetched = before.is_fetched;
    if (import_reports_awaits(context->import_reports, spec->id.text))
        outcome.report = import_report_create(&spec->schema);
    if (!spec->is_public)
        process_stats_pause(context->process_stats);
    enum status status = import(context, dataset, &outcome);
    if (!spec->is_public)
        process_stats_resume(context->process_stats);
    if (status == ST_OK) {
        info->state = DATASET_READY;
        info->detail.import_ms = clock_wall_s() * 1000;
    } else if (status == ST_CANCELLED) {
        *info = (struct dataset_info){.state = DATASET_CREATED};
    } else {
        *info = (struct dataset_info){.state = DATASET_FAILED};
        info->detail.failure = import_reason_kept(&outcome.failure);
    }
    show(context, dataset, &outcome, status);
    daemon_state_guard(context);
}
