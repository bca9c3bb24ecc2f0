/* Handlers for the files of a dataset, and their import. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <microhttpd.h>

#include "accountant/ledger/ledger_view.h"
#include "api/requests/import_body.h"
#include "api/views/dataset_view.h"
#include "api/views/problem.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/hash.h"
#include "service/access/access.h"
#include "service/audit/audit_event.h"
#include "service/datasets/dataset_json.h"
#include "engine/data/readers/import_report.h"
#include "service/datasets/datasets.h"
#include "service/handlers/handlers.h"
#include "service/ingest/fetch_status.h"
#include "service/ingest/fetcher.h"
#include "service/ingest/import_event.h"
#include "service/ingest/import_reports.h"
#include "service/ingest/import_reason.h"
#include "service/ingest/importer.h"
#include "service/ingest/query_import.h"
#include "service/ingest/upload.h"
#include "service/ingest/upload_kind.h"
#include "service/ingest/upload_senders.h"
#include "service/process/daemon_state.h"
#include "store/store.h"

static const int64_t import_answer_ns = INT64_C(10000000000);

/* --- files --- */

/* Reports how much of the file is there, for HEAD and for files that are sent in
 * pieces. */
static void say_offset(struct request *request, bool whole, uint64_t offset)
{
    reply_header_add(&request->reply, "Upload-Complete", whole ? "?1" : "?0");
    if (!whole)
        reply_header_add(&request->reply, "Upload-Offset", "%" PRIu64, offset);
}

/* Appends the act of an upload, before its sender is answered. The act has no size,
 * because only the sender may know it. */
static enum status tell_upload(struct daemon_state *context,
                               const struct request *request, struct error *error)
{
    struct audit_event act;
    char detail[96];
    /* The name is that of a file of the format, so it fits. */
    snprintf(detail, sizeof detail, "{\"file\":\"%s\"}", request->match.name);
    audit_event_begin(&act, context, request);
    act.row.detail = detail;
    return audit_event_keep(context, &act, error);
}

enum status handle_dataset_file_put(struct daemon_state *context,
                                    struct request *request, struct error *error)
{
    struct upload *upload = request->upload;
    bool whole = upload_is_whole(upload);
    enum status status = whole ? upload_publish(context, upload, &request->match, error)
                               : upload_pause(context, upload, &request->match, error);
    if (status == ST_OK && whole && !store_shared(context->store))
        upload_senders_note(context->upload_senders, &upload->draft.name,
                            &request->caller.principal);
    if (status == ST_OK && whole)
        status = tell_upload(context, request, error);
    if (status != ST_OK)
        return status;
    if (upload->unfinished != NULL)
        say_offset(request, whole, upload->size);
    reply_empty(&request->reply, whole ? MHD_HTTP_NO_CONTENT : MHD_HTTP_ACCEPTED);
    return ST_OK;
}

enum status handle_dataset_file_get(struct daemon_state *context,
                                    struct request *request, struct error *error)
{
    struct upload_view view;
    struct dataset *dataset;
    const struct access_question question = handler_question(request);
    enum status status =
        access_find_own_dataset(context, &question, request->match.id, &dataset, error);
    if (status == ST_OK)
        status = upload_read(context, &request->match, &request->caller.principal,
                             &view, error);
    if (status != ST_OK)
        return status;
    say_offset(request, view.is_whole, view.offset);
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    reply_json(&request->reply, MHD_HTTP_OK, upload_render(&view));
    return ST_OK;
}

/* --- import --- */

/* Makes the problem itself, because it says where the import stopped, if it got that
 * far, and reports the faults to the key that sent the file. */
static enum status refuse_import(struct request *request,
                                 const struct import_failure *failure,
                                 const struct import_report *report,
                                 const struct error *error)
{
    struct problem more = {.failure = failure, .report = report};
    request_refuse(request, error, &more);
    return ST_OK;
}

/* Returns the report of the dataset's refused import, if the request came with the key
 * that it is for. */
static struct import_report *take_report(const struct daemon_state *context,
                                         const struct request *request)
{
    return import_reports_take(context->import_reports, request->match.id,
                               &request->caller.principal);
}

/* Checks what the request confirms. Only delta is compared with n, and only private data
 * have one, so anything else is refused before a file is read. */
static enum status check_acknowledged(enum acknowledged acknowledged,
                                      const struct dataset *dataset,
                                      struct error *error)
{
    enum acknowledged possible =
        dataset_spec(dataset)->is_public ? ACKNOWLEDGED_NOTHING : ACKNOWLEDGED_DELTA;
    if ((acknowledged & ~(unsigned)possible) == 0)
        return ST_OK;
    return acknowledgement_check(acknowledged, possible, error);
}

static struct fetch_place query_place(const struct request *request,
                                      const struct dataset *dataset)
{
    return (struct fetch_place){.dataset = dataset_spec(dataset)->id,
                                .file = QUERY_IMPORT_FILE,
                                .principal = request->caller.principal};
}

/* Begins a query. Its act is that of a fetch; the import appends its own. */
static enum status begin_query(struct daemon_state *context, struct request *request,
                               const struct dataset *dataset,
                               const struct import_body *body, struct error *error)
{
    struct audit_event act;
    const struct fetch_place place = query_place(request, dataset);
    audit_event_begin(&act, context, request);
    struct fetch_query query = {
        .request = body->query,
        .act = import_event_of(&act.row, body->acknowledged),
    };
    enum status status = query_import_check(context, dataset, &body->query, error);
    if (status == ST_OK)
        status = fetcher_start(context, &place, &(struct fetch_source){.query = &query},
                               error);
    hash_zero(&query, sizeof query);
    if (status != ST_OK)
        return status;
    request->queried = true;
    act.row.action = "dataset.fetch";
    act.row.detail = "{\"file\":\"" QUERY_IMPORT_FILE "\"}";
    return audit_event_keep(context, &act, error);
}

static enum status begin_import(struct daemon_state *context, struct request *request,
                                struct dataset *dataset, enum acknowledged acknowledged,
                                struct error *error)
{
    bool begun = false;
    struct audit_event act;
    struct import_failure failure = {0};
    audit_event_begin(&act, context, request);
    const struct import_request asked = {&act.row, acknowledged};
    enum status status =
        importer_start(context, dataset, &asked, &begun, &failure, error);
    if (status == ST_OK)
        request->hides_outcome = begun && dataset_hides_imports(dataset);
    if (status != ST_OK && failure.status != ST_OK)
        return refuse_import(request, &failure, NULL, error);
    return status;
}

/* Zeroes what may hold credentials. If another daemon has changed the dataset, the request
 * is handled again and its body read again. */
static void forget_query(const struct request *request, struct import_body *body,
                         enum status status)
{
    if (request->body != NULL && status != ST_CONFLICT &&
        (body->has_query || status != ST_OK))
        hash_zero(request->body, request->body_size);
    hash_zero(body, sizeof *body);
}

enum status handle_dataset_import(struct daemon_state *context, struct request *request,
                                  struct error *error)
{
    struct dataset *dataset;
    struct import_body body = {.has_query = false};
    const struct access_question question = handler_question(request);
    enum status status =
        access_find_own_dataset(context, &question, request->match.id, &dataset, error);
    if (status == ST_OK)
        status = import_body_parse(&body, request_text(request), error);
    if (status == ST_OK)
        status = check_acknowledged(body.acknowledged, dataset, error);
    if (status == ST_OK && body.has_query)
        status = begin_query(context, request, dataset, &body, error);
    else if (status == ST_OK)
        status = begin_import(context, request, dataset, body.acknowledged, error);
    if (status == ST_OK) /* load the account; poll_dataset_import may not wait */
        ledger_touched(context->ledger, &dataset_spec(dataset)->id);
    forget_query(request, &body, status);
    return status;
}

static void answer_dataset(struct daemon_state *context, struct request *request,
                           struct dataset *dataset, bool ended)
{
    reply_json(&request->reply, ended ? MHD_HTTP_OK : MHD_HTTP_ACCEPTED,
               dataset_json(context->datasets, dataset, context->ledger,
                            &request->caller.principal));
}

/* Answers a request whose query has not ended well, or lets it wait. Returns false once
 * the import of the rows has begun. */
static bool poll_query(struct daemon_state *context, struct request *request,
                       struct dataset *dataset, enum status *status,
                       struct error *error)
{
    enum fetch_state state = FETCH_CANCELLED;
    const char *result = NULL;
    const struct fetch_place place = query_place(request, dataset);
    fetch_status_query(context->fetch_status, &place, &state, &result);
    *status = ST_OK;
    if (state == FETCH_SUCCEEDED)
        return false;
    if (state == FETCH_FAILED || state == FETCH_CANCELLED) {
        request->hides_outcome = dataset_hides_imports(dataset);
        *status = error_set(error, ST_IMPORT_FAILED, "%s",
                            state == FETCH_CANCELLED ? "the query was cancelled"
                                                     : query_import_advice(result));
    } else if (clock_monotonic_ns() < request->deadline_ns) {
        request->awaited = dataset;
    } else {
        answer_dataset(context, request, dataset, false);
    }
    return true;
}

enum status poll_dataset_import(struct daemon_state *context, struct request *request,
                                struct error *error)
{
    struct dataset_info info;
    enum status status;
    struct dataset *dataset = datasets_find(context->datasets, request->match.id);
    CHECK(dataset != NULL);
    if (request->deadline_ns == 0)
        request->deadline_ns = clock_monotonic_ns() + import_answer_ns;
    if (request->queried && poll_query(context, request, dataset, &status, error))
        return status;
    dataset_read_as(context->datasets, dataset, &request->caller.principal, &info);
    const struct import_failure failure = import_reason_for(
        &info.detail.failure, dataset_owner(dataset), &request->caller.principal);
    if (info.state == DATASET_IMPORTING &&
        clock_monotonic_ns() < request->deadline_ns) {
        request->awaited = dataset;
        return ST_OK;
    }
    if (info.state == DATASET_FAILED) {
        if (failure.status == ST_INVALID) /* only what was confirmed can be wrong */
            return error_set_at(error, ST_INVALID, "/acknowledge", "%s", failure.text);
        struct import_report *report = take_report(context, request);
        error_set(error, failure.status, "%s", failure.text);
        status = refuse_import(request, failure.file[0] != '\0' ? &failure : NULL,
                               report, error);
        import_report_destroy(report);
        return status;
    }
    if (info.state == DATASET_CREATED)
        return error_set(error, ST_DRAINING,
                         "the import was ended by the service's stop, or the dataset "
                         "declared again");
    answer_dataset(context, request, dataset, info.state != DATASET_IMPORTING);
    return ST_OK;
}

enum status handle_dataset_import_get(struct daemon_state *context,
                                      struct request *request, struct error *error)
{
    struct dataset *dataset;
    struct dataset_info info;
    const struct access_question question = handler_question(request);
    enum status status =
        access_find_dataset(context, &question, request->match.id, &dataset, error);
    if (status != ST_OK)
        return status;
    dataset_read_as(context->datasets, dataset, &request->caller.principal, &info);
    const struct import_failure failure = import_reason_for(
        &info.detail.failure, dataset_owner(dataset), &request->caller.principal);
    /* The size of the answer tells whether an import was refused, and of what. */
    request->hides_outcome = dataset_hides_imports(dataset);
    reply_header_add(&request->reply, "Cache-Control", "no-store");
    struct import_report *report =
        info.state == DATASET_FAILED ? take_report(context, request) : NULL;
    if (report != NULL) /* it is answered once, so it has no tag */
        reply_json(&request->reply, MHD_HTTP_OK,
                   dataset_import_text(dataset, &info, &failure, report));
    else
        request_answer(request, dataset_import_text(dataset, &info, &failure, NULL));
    import_report_destroy(report);
    return ST_OK;
}
