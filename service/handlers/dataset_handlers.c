#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <microhttpd.h>

#include "accountant/ledger/ledger_view.h"
#include "api/requests/dataset_request.h"
#include "api/views/dataset_view.h"
#include "base/check.h"
#include "engine/feature_cache.h"
#include "service/access/access.h"
#include "service/access/four_eyes.h"
#include "service/audit/audit_event.h"
#include "service/datasets/dataset_json.h"
#include "service/datasets/dataset_write.h"
#include "service/handlers/cold_account.h"
#include "service/handlers/handlers.h"
#include "service/handlers/idempotency.h"
#include "service/http/stale_read_retry.h"
#include "service/ingest/dataset_declare.h"
#include "service/ingest/declared_tokenizer.h"
#include "service/ingest/import_reports.h"
#include "service/ingest/upload.h"
#include "service/ingest/upload_kind.h"
#include "service/jobs/charges.h"
#include "service/jobs/jobs.h"
#include "service/jobs/statistics_runs.h"
#include "service/process/daemon_state.h"

/* --- create --- */

/* A dataset of another project or owner is refused with only these words. */
static enum status refuse_used(const struct dataset_spec *spec, struct error *error)
{
    return error_set_at(error, ST_ALREADY_EXISTS, "/id",
                        "\"%s\" was used before; ids are never free again",
                        spec->id.text);
}

/* Checks whether a dataset of this id may be declared again as spec. It may if it never
 * had content: then nothing was ever reserved on it. After an import that failed, it
 * may also be declared unchanged, and becomes CREATED. */
static enum status check_anew(struct daemon_state *context,
                              const struct request *request,
                              struct dataset_declare *declaration,
                              const struct dataset_spec *spec, struct error *error)
{
    const struct dataset *known = declaration->known;
    const enum dataset_state state = declaration->info.state;
    const struct access_question question = handler_question(request);
    if (!access_sees_dataset(&question, known) ||
        !access_owns_dataset(question.principal, known))
        return refuse_used(spec, error);
    if (state == DATASET_IMPORTING)
        return error_set_at(error, ST_DATASET_BUSY, "/id", "\"%s\" is being imported",
                            spec->id.text);
    if ((state != DATASET_CREATED && state != DATASET_FAILED) ||
        ledger_touched(context->ledger, &spec->id))
        return refuse_used(spec, error);
    enum status status = dataset_declare_weigh(context, declaration, spec, error);
    if (status == ST_DATASET_IMMUTABLE && error != NULL)
        error->status = ST_ALREADY_EXISTS;
    if (status != ST_OK)
        return status == ST_DATASET_IMMUTABLE ? ST_ALREADY_EXISTS : status;
    if (state == DATASET_CREATED && declaration->promise == PROMISE_STANDS &&
        dataset_declare_same(dataset_spec(known), spec))
        return error_set_at(error, ST_ALREADY_EXISTS, "/id",
                            "\"%s\" is declared so already", spec->id.text);
    return ST_OK;
}

/* Removes files that belong only to the former declaration. Files that stay after a
 * crash in between are never read, and are removed at the first start after the
 * import. */
static void drop_uploads(struct daemon_state *context, const struct dataset_spec *spec)
{
    for (size_t i = 0; i < UPLOAD_KINDS; i++) {
        const struct blob_name name = blob_of_dataset(&spec->id, upload_kinds[i].blob);
        if (!upload_kind_is_of(&upload_kinds[i], &spec->schema))
            upload_remove(context, &name);
    }
    import_reports_drop(context->import_reports, spec->id.text);
}

static enum status remember(struct daemon_state *context, struct store_tx *tx,
                            struct request *request, const struct dataset *dataset,
                            struct error *error)
{
    char location[128];
    char *body = dataset_json(context->datasets, dataset, context->ledger,
                              &request->caller.principal);
    snprintf(location, sizeof location, "/v1/datasets/%s",
             dataset_spec(dataset)->id.text);
    enum status status = idempotency_keep(context, request, tx, location, body, error);
    reply_header_add(&request->reply, "Location", "%s", location);
    reply_json(&request->reply, MHD_HTTP_CREATED, body);
    return status;
}

/* Reads a declaration and checks everything that can refuse it. On ST_OK the caller
 * must release spec or pass it on. */
static enum status read_declaration(struct daemon_state *context,
                                    struct request *request,
                                    struct dataset_declare *declaration,
                                    struct dataset_spec *spec, struct error *error)
{
    enum status status = dataset_spec_parse(spec, request_text(request), error);
    if (status != ST_OK)
        return status;
    declaration->promise =
        four_eyes_is_asked(context, &request->caller) ? PROMISE_PROPOSED : PROMISE_MADE;
    declaration->known = datasets_find(context->datasets, spec->id.text);
    if (declaration->known != NULL) {
        dataset_read(context->datasets, declaration->known, &declaration->info);
    }
    status = dataset_declare_seeds(context, declaration->known, spec, error);
    if (status == ST_OK)
        status = declared_tokenizer_fill(context, &request->caller.principal,
                                         &request->prefetch, spec, error);
    if (status == ST_OK && declaration->known != NULL)
        status = check_anew(context, request, declaration, spec, error);
    if (status != ST_OK)
        dataset_spec_fini(spec);
    return status;
}

enum status handle_dataset_create(struct daemon_state *context, struct request *request,
                                  struct error *error)
{
    struct audit_event act;
    struct dataset_declare declaration = {.caller = &request->caller, .act = &act};
    struct dataset_spec spec;
    struct dataset *dataset;
    struct store_tx *tx = NULL;
    audit_event_begin(&act, context, request);
    enum status status = dataset_declare_may_promise(&request->caller.principal, error);
    if (status == ST_OK)
        status = read_declaration(context, request, &declaration, &spec, error);
    if (status != ST_OK)
        return status;
    dataset_declare_draw_seed(&spec);
    status = stale_read_retry_open(context, request, STORE_LEDGER, &tx, error);
    if (status != ST_OK) {
        dataset_spec_fini(&spec);
        return status;
    }
    status = dataset_declare_make(context, tx, &declaration, &spec, &dataset, error);
    if (status == ST_OK)
        status = remember(context, tx, request, dataset, error);
    status = daemon_state_end(context, tx, status, error);
    if (status == ST_OK && declaration.known != NULL)
        drop_uploads(context, dataset_spec(dataset));
    return status;
}

/* --- replace a declaration --- */

/* Checks whether spec may replace the dataset's declaration. */
static enum status check_put(struct daemon_state *context,
                             struct dataset_declare *declaration,
                             const struct dataset_spec *spec, struct error *error)
{
    const enum dataset_state state = declaration->info.state;
    if (strcmp(spec->id.text, dataset_spec(declaration->known)->id.text) != 0)
        return error_set_at(error, ST_INVALID, "/id", "must be the id of the path");
    if (state == DATASET_IMPORTING)
        return error_set(error, ST_DATASET_BUSY, "it is being imported");
    if ((state != DATASET_CREATED && state != DATASET_FAILED) ||
        ledger_touched(context->ledger, &spec->id))
        return error_set(error, ST_DATASET_IMMUTABLE,
                         "it had content, or its budget was drawn on: what it was "
                         "declared as stays");
    return dataset_declare_weigh(context, declaration, spec, error);
}

static enum status put_anew(struct daemon_state *context, const struct request *request,
                            const struct dataset_declare *declaration,
                            struct dataset_spec *spec_take, struct dataset **dataset,
                            struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status =
        stale_read_retry_open(context, request, STORE_LEDGER, &tx, error);
    dataset_declare_draw_seed(spec_take);
    if (status != ST_OK) {
        dataset_spec_fini(spec_take);
        return status;
    }
    status = dataset_declare_make(context, tx, declaration, spec_take, dataset, error);
    status = daemon_state_end(context, tx, status, error);
    if (status == ST_OK)
        drop_uploads(context, dataset_spec(*dataset));
    return status;
}

enum status handle_dataset_put(struct daemon_state *context, struct request *request,
                               struct error *error)
{
    struct audit_event act;
    struct dataset_declare declaration = {.caller = &request->caller, .act = &act};
    struct dataset_spec spec;
    struct dataset *dataset;
    const struct access_question question = handler_question(request);
    enum status status =
        access_find_own_dataset(context, &question, request->match.id, &dataset, error);
    audit_event_begin(&act, context, request);
    if (status == ST_OK)
        status = dataset_spec_parse(&spec, request_text(request), error);
    if (status != ST_OK)
        return status;
    declaration.known = dataset;
    dataset_read(context->datasets, dataset, &declaration.info);
    status = dataset_declare_seeds(context, dataset, &spec, error);
    if (status == ST_OK)
        status = check_put(context, &declaration, &spec, error);
    bool changes = declaration.info.state == DATASET_FAILED ||
                   declaration.promise != PROMISE_STANDS ||
                   !caption_is_empty(&spec.caption) ||
                   !dataset_declare_same(dataset_spec(dataset), &spec);
    if (status == ST_OK && changes)
        status = put_anew(context, request, &declaration, &spec, &dataset, error);
    else
        dataset_spec_fini(&spec);
    if (status == ST_OK)
        request_answer_changed(request,
                               dataset_json(context->datasets, dataset, context->ledger,
                                            &request->caller.principal));
    return status;
}

/* --- check --- */

enum status handle_dataset_check(struct daemon_state *context, struct request *request,
                                 struct error *error)
{
    struct dataset_declare declaration = {.caller = &request->caller};
    struct dataset_spec spec;
    enum status status = read_declaration(context, request, &declaration, &spec, error);
    if (status != ST_OK)
        return status;
    reply_json(&request->reply, MHD_HTTP_OK, dataset_body_render(&spec));
    dataset_spec_fini(&spec);
    return ST_OK;
}

/* --- get --- */

enum status handle_dataset_get(struct daemon_state *context, struct request *request,
                               struct error *error)
{
    struct dataset *dataset;
    const struct access_question question = handler_question(request);
    enum status status =
        access_find_dataset(context, &question, request->match.id, &dataset, error);
    if (status == ST_OK && cold_account_awaits(context, request, dataset))
        status = cold_account_status(request, error);
    if (status == ST_OK)
        request_answer(request,
                       dataset_json(context->datasets, dataset, context->ledger,
                                    &request->caller.principal));
    return status;
}

/* --- delete --- */

static enum status delete_row(struct daemon_state *context,
                              const struct request *request, struct dataset *dataset,
                              struct dataset_info *info, struct error *error)
{
    struct audit_event act;
    struct store_tx *tx = NULL;
    audit_event_begin(&act, context, request);
    enum status status =
        stale_read_retry_open(context, request, STORE_LEDGER, &tx, error);
    if (status != ST_OK)
        return status;
    info->state = DATASET_DELETED;
    info->detail.failure = (struct import_failure){0}; /* it may name records */
    status = dataset_move(context->datasets, tx, dataset, info, error);
    if (status == ST_OK)
        status = audit_trail_append(tx, &act.row, error);
    return store_end(tx, status, error);
}

/* Removes the files of a deleted dataset. Those that stay after a crash in the middle
 * are removed at the next start. */
static enum status delete_files(struct daemon_state *context,
                                const struct dataset_id *id, struct error *error)
{
    struct blob_name name = blob_of_dataset(id, BLOB_MATRIX);
    feature_cache_forget(context->feature_cache, id->text);
    import_reports_drop(context->import_reports, id->text);
    bool removed = daemon_state_remove(context, &name);
    for (size_t i = 0; i < UPLOAD_KINDS; i++) {
        name = blob_of_dataset(id, upload_kinds[i].blob);
        removed = upload_remove(context, &name) && removed;
    }
    if (!removed)
        return error_set(error, ST_INTERNAL, "a file could not be removed: try again");
    return ST_OK;
}

/* Checks whether the request may delete the dataset. While it has no content, only its
 * owner may, because anyone else would learn whether an import is under way. Once there
 * are keys no one is `local` any more, so any data owner may delete what `local`
 * declared. */
static enum status check_delete(struct daemon_state *context,
                                const struct request *request,
                                const struct dataset *dataset,
                                const struct dataset_info *info, struct error *error)
{
    const struct dataset_id *id = &dataset_spec(dataset)->id;
    bool has_content = info->state == DATASET_READY || info->state == DATASET_DELETED;
    if (!has_content && !access_owns_dataset(&request->caller.principal, dataset) &&
        !principal_equal(dataset_owner(dataset), &principal_local))
        return error_set(error, ST_FORBIDDEN,
                         "it is not imported: only its owner deletes it");
    if (info->state == DATASET_IMPORTING)
        return error_set(error, ST_DATASET_BUSY, "it is being imported");
    if (jobs_active_on(context->jobs, id) > 0)
        return error_set(error, ST_DATASET_IN_USE, "a job on it is queued or running");
    if (statistics_runs_on(context->statistics_runs, id) > 0)
        return error_set(error, ST_DATASET_IN_USE, "statistics of it are under way");
    if (charges_open_on(context->charges, id))
        return error_set(error, ST_DATASET_IN_USE, "a charge on it is open");
    return ST_OK;
}

enum status handle_dataset_delete(struct daemon_state *context, struct request *request,
                                  struct error *error)
{
    struct dataset *dataset;
    struct dataset_info info;
    const struct access_question question = handler_question(request);
    enum status status =
        access_find_dataset(context, &question, request->match.id, &dataset, error);
    if (status != ST_OK)
        return status;
    dataset_read(context->datasets, dataset, &info);
    status = check_delete(context, request, dataset, &info, error);
    if (status != ST_OK)
        return status;
    const struct dataset_id *id = &dataset_spec(dataset)->id;
    if (info.state != DATASET_DELETED)
        status = delete_row(context, request, dataset, &info, error);
    if (status == ST_OK)
        status = delete_files(context, id, error);
    if (status == ST_OK)
        reply_empty(&request->reply, MHD_HTTP_NO_CONTENT);
    return status;
}
