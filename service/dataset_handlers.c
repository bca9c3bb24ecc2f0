#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <microhttpd.h>

#include "accountant/ledger_view.h"
#include "api/dataset_request.h"
#include "api/dataset_view.h"
#include "api/fault.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "service/handlers.h"
#include "service/idempotency.h"
#include "service/importer.h"
#include "service/page.h"
#include "service/upload_kind.h"

static const int64_t import_answer_ns = INT64_C(10000000000);
static const uint64_t disk_check_every = 4 << 20; /* bytes of an upload */

static enum status find(struct context *context, const struct request *request,
                        struct dataset **dataset, struct dataset_info *info,
                        struct error *error)
{
    *dataset = datasets_find(context->datasets, request->match.id);
    if (*dataset == NULL)
        return error_set(error, ST_NOT_FOUND, "no dataset \"%s\"", request->match.id);
    dataset_read(context->datasets, *dataset, info);
    return ST_OK;
}

/* --- create --- */

/* The dataset's row and its budget. */
static enum status add(struct context *context, struct store_tx *tx,
                       struct dataset_spec *spec_take, struct dataset **dataset,
                       struct error *error)
{
    enum status status = datasets_add(context->datasets, tx, spec_take, dataset, error);
    if (status != ST_OK)
        return status;
    const struct dataset_spec *spec = dataset_spec(*dataset);
    return spec->is_public
               ? ST_OK
               : ledger_grant(context->ledger, tx, &spec->id, &spec->grant, error);
}

/* Whether a dataset of this id may be declared anew as spec: it never had content, so
 * nothing was ever reserved on it, and its budget stays as it was granted. */
static enum status check_anew(struct context *context, const struct dataset *dataset,
                              const struct dataset_spec *spec, struct error *error)
{
    struct dataset_info info;
    dataset_read(context->datasets, dataset, &info);
    if (info.state == DATASET_IMPORTING)
        return error_set_at(error, ST_DATASET_BUSY, "/id", "\"%s\" is being imported",
                            spec->id.text);
    if ((info.state != DATASET_CREATED && info.state != DATASET_FAILED) ||
        ledger_touched(context->ledger, &spec->id))
        return error_set_at(error, ST_ALREADY_EXISTS, "/id",
                            "\"%s\" was used before; ids are never free again",
                            spec->id.text);
    if (!dataset_spec_same_privacy(dataset_spec(dataset), spec))
        return error_set_at(error, ST_ALREADY_EXISTS, "/privacy",
                            "\"%s\" was declared with another privacy, which never "
                            "changes; its schema may be declared anew",
                            spec->id.text);
    char *before = dataset_spec_render(dataset_spec(dataset));
    char *after = dataset_spec_render(spec);
    bool same = strcmp(before, after) == 0;
    free(before);
    free(after);
    if (same)
        return error_set_at(error, ST_ALREADY_EXISTS, "/id",
                            "\"%s\" is declared so already", spec->id.text);
    return ST_OK;
}

/* Files that another format had: what is left by a crash in between is never read, and
 * goes with the first start after the import. */
static void drop_uploads(struct context *context, const struct dataset_spec *spec)
{
    for (size_t i = 0; i < UPLOAD_KINDS; i++) {
        const struct blob_name name = blob_of_dataset(&spec->id, upload_kinds[i].blob);
        if (!upload_kind_is_of(&upload_kinds[i], spec->schema.reader))
            context_remove(context, &name);
    }
}

static enum status remember(struct context *context, struct store_tx *tx,
                            struct request *request, const struct dataset *dataset,
                            struct error *error)
{
    char location[128];
    char *body = dataset_text(context->datasets, dataset, context->ledger);
    snprintf(location, sizeof location, "/v1/datasets/%s",
             dataset_spec(dataset)->id.text);
    enum status status = idempotency_keep(request, tx, location, body, error);
    reply_header_add(request, "Location", "%s", location);
    reply_json(request, MHD_HTTP_CREATED, body);
    return status;
}

static enum status create(struct context *context, struct request *request,
                          struct error *error)
{
    struct dataset_spec spec;
    struct dataset *dataset, *known = NULL;
    struct store_tx *tx = NULL;
    enum status status = dataset_spec_parse(
        &spec, request->body != NULL ? request->body : "", request->body_size, error);
    if (status != ST_OK)
        return status;
    known = datasets_find(context->datasets, spec.id.text);
    if (known != NULL)
        status = check_anew(context, known, &spec, error);
    if (status == ST_OK)
        status = store_begin(context->store, &tx, error);
    if (status != ST_OK) {
        dataset_spec_fini(&spec);
        return status;
    }
    status = known == NULL
                 ? add(context, tx, &spec, &dataset, error)
                 : datasets_declare_anew(context->datasets, tx, &spec, &dataset, error);
    if (status == ST_OK)
        status = remember(context, tx, request, dataset, error);
    if (status != ST_OK) {
        store_rollback(tx);
        return status;
    }
    status = store_commit(tx, error);
    if (status == ST_OK && known != NULL)
        drop_uploads(context, dataset_spec(dataset));
    return status;
}

void dataset_create(struct context *context, struct request *request)
{
    bool answered = false;
    struct faults faults = {0};
    struct error error = {.faults = &faults};
    enum status status = idempotency_find(context, request, &answered, &error);
    if (status == ST_OK && answered)
        return;
    if (status == ST_OK)
        status = create(context, request, &error);
    if (status != ST_OK) /* in place of the reply that was made before the commit */
        reply_problem(request, &error, NULL);
}

/* --- list, get --- */

static char *list_text(void *argument, size_t index)
{
    struct context *context = argument;
    return dataset_text(context->datasets, datasets_at(context->datasets, index),
                        context->ledger);
}

bool dataset_list(struct context *context, struct request *request)
{
    struct page_source source = {
        .name = "datasets",
        .count = datasets_count(context->datasets),
        .text = list_text,
        .context = context,
    };
    page_reply(request, &source);
    return true;
}

bool dataset_get(struct context *context, struct request *request)
{
    struct dataset *dataset;
    struct dataset_info info;
    struct error error = {0};
    if (find(context, request, &dataset, &info, &error) != ST_OK)
        reply_problem(request, &error, NULL);
    else
        reply_json_tagged(request,
                          dataset_text(context->datasets, dataset, context->ledger));
    return true;
}

/* --- delete --- */

static enum status delete_row(struct context *context, struct dataset *dataset,
                              struct dataset_info *info, struct error *error)
{
    struct store_tx *tx = NULL;
    enum status status = store_begin(context->store, &tx, error);
    if (status != ST_OK)
        return status;
    info->state = DATASET_DELETED;
    info->detail.failure = (struct import_failure){0}; /* it may speak of records */
    status = dataset_move(context->datasets, tx, dataset, info, error);
    if (status != ST_OK) {
        store_rollback(tx);
        return status;
    }
    return store_commit(tx, error);
}

/* What is left by a crash in the middle is removed at the next start. */
static enum status delete_files(struct context *context, const struct dataset_id *id,
                                struct error *error)
{
    struct blob_name name = blob_of_dataset(id, BLOB_MATRIX);
    bool removed = context_remove(context, &name);
    for (size_t i = 0; i < UPLOAD_KINDS; i++) {
        name = blob_of_dataset(id, upload_kinds[i].blob);
        removed = context_remove(context, &name) && removed;
    }
    if (!removed)
        return error_set(error, ST_INTERNAL, "a file could not be removed: try again");
    return ST_OK;
}

static enum status delete_dataset(struct context *context, struct request *request,
                                  struct error *error)
{
    struct dataset *dataset;
    struct dataset_info info;
    enum status status = find(context, request, &dataset, &info, error);
    if (status != ST_OK)
        return status;
    const struct dataset_id *id = &dataset_spec(dataset)->id;
    if (info.state == DATASET_IMPORTING)
        return error_set(error, ST_DATASET_BUSY, "it is being imported");
    if (jobs_active_on(context->jobs, id) > 0)
        return error_set(error, ST_DATASET_IN_USE, "a job on it is queued or running");
    if (info.state != DATASET_DELETED)
        status = delete_row(context, dataset, &info, error);
    return status == ST_OK ? delete_files(context, id, error) : status;
}

void dataset_delete(struct context *context, struct request *request)
{
    struct error error = {0};
    if (delete_dataset(context, request, &error) == ST_OK)
        reply_empty(request, MHD_HTTP_NO_CONTENT);
    else
        reply_problem(request, &error, NULL);
}

/* --- files --- */

/* Says which files there are instead. */
static enum status refuse_file(const struct reader *reader, struct error *error)
{
    if (reader_file_count(reader) == 1)
        return error_set(error, ST_NOT_FOUND,
                         "a dataset of format %s has one file, files/%s", reader->name,
                         reader->files[0]);
    return error_set(error, ST_NOT_FOUND,
                     "a dataset of format %s has files/%s and files/%s", reader->name,
                     reader->files[0], reader->files[1]);
}

static enum status check_upload(struct context *context, const struct request *request,
                                struct error *error)
{
    struct dataset *dataset;
    struct dataset_info info;
    enum status status = find(context, request, &dataset, &info, error);
    if (status != ST_OK)
        return status;
    const struct reader *reader = dataset_spec(dataset)->schema.reader;
    if (info.state == DATASET_DELETED)
        return error_set(error, ST_NOT_FOUND, "the dataset was deleted");
    if (upload_kind_find(reader, request->match.name) == NULL)
        return refuse_file(reader, error);
    if (info.state == DATASET_IMPORTING)
        return error_set(error, ST_DATASET_BUSY, "it is being imported");
    if (info.state == DATASET_READY)
        return error_set(error, ST_DATASET_IMMUTABLE, "it is imported");
    return disk_room_check(&context->disk_room, error);
}

static enum status check_disk(const struct context *context, uint64_t size,
                              struct error *error)
{
    if (disk_room_left(&context->disk_room) < size)
        return error_set(error, ST_DISK_FULL, "the disk has no room for the file");
    return ST_OK;
}

/* The blob that a request uploads; the dataset has such a file. */
static struct blob_name upload_name(struct context *context,
                                    const struct request *request)
{
    const struct dataset_spec *spec =
        dataset_spec(datasets_find(context->datasets, request->match.id));
    const struct upload_kind *kind =
        upload_kind_find(spec->schema.reader, request->match.name);
    CHECK(kind != NULL);
    return blob_of_dataset(&spec->id, kind->blob);
}

enum status upload_begin(struct context *context, struct request *request,
                         struct error *error)
{
    const char *length = request_header(request, "Content-Length");
    enum status status = check_upload(context, request, error);
    if (status == ST_OK && length != NULL)
        status = check_disk(context, strtoull(length, NULL, 10), error);
    if (status != ST_OK)
        return status;
    const struct blob_name name = upload_name(context, request);
    status = blob_draft_create(context->blobs, &request->draft, &name, &request->upload,
                               NULL);
    if (status != ST_OK)
        return error_set(error, ST_INTERNAL, "the file cannot be stored");
    return ST_OK;
}

enum status upload_write(struct context *context, struct request *request,
                         const void *data, size_t size, struct error *error)
{
    const char *next = data;
    uint64_t max = context->config->upload_size_max;
    if (size > max - request->upload_size)
        return error_set(error, ST_BODY_TOO_LARGE,
                         "the file may have at most %llu bytes",
                         (unsigned long long)max);
    if (request->upload_size / disk_check_every !=
            (request->upload_size + size) / disk_check_every &&
        disk_room_check(&context->disk_room, error) != ST_OK)
        return ST_DISK_FULL;
    request->upload_size += size;
    disk_room_take(&context->disk_room, size);
    while (size > 0) {
        ssize_t written = write(request->upload, next, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && (errno == ENOSPC || errno == EDQUOT))
            return error_set(error, ST_DISK_FULL, "the disk is full");
        if (written < 0)
            return error_set(error, ST_INTERNAL, "the file cannot be stored");
        next += written;
        size -= (size_t)written;
    }
    return ST_OK;
}

void upload_abandon(struct context *context, struct request *request)
{
    if (request->upload < 0)
        return;
    close(request->upload);
    request->upload = -1;
    blob_discard(context->blobs, &request->draft);
}

/* The state may have moved while the body came in. */
static enum status put(struct context *context, struct request *request,
                       struct error *error)
{
    struct error inner = {0};
    enum status status = check_upload(context, request, error);
    if (status != ST_OK)
        return status;
    if (blob_publish(context->blobs, &request->draft, &inner) == ST_OK)
        return ST_OK;
    /* No part of the ledger: this must not read as its failure, nor show paths. */
    log_event(LOG_ERROR, "upload_failed", "detail", inner.text, (char *)NULL);
    return error_set(error, ST_INTERNAL, "the file could not be stored");
}

void dataset_file_put(struct context *context, struct request *request)
{
    struct error error = {0};
    if (put(context, request, &error) != ST_OK) {
        reply_problem(request, &error, NULL);
        return;
    }
    close(request->upload);
    request->upload = -1;
    reply_empty(request, MHD_HTTP_NO_CONTENT);
}

/* --- import --- */

void dataset_import(struct context *context, struct request *request)
{
    struct dataset *dataset;
    struct dataset_info info;
    struct import_failure failure = {0};
    struct error error = {0};
    enum status status = find(context, request, &dataset, &info, &error);
    if (status == ST_OK)
        status = importer_start(context, dataset, &failure, &error);
    if (status == ST_OK)
        return;
    struct problem more = {.failure = failure.status != ST_OK ? &failure : NULL};
    reply_problem(request, &error, &more);
}

static void import_refused(struct request *request,
                           const struct import_failure *failure)
{
    struct problem more = {.failure = failure->file[0] != '\0' ? failure : NULL};
    struct error error = {0};
    error_set(&error, failure->status, "%s", failure->text);
    reply_problem(request, &error, &more);
}

bool dataset_import_answer(struct context *context, struct request *request)
{
    struct dataset_info info;
    struct dataset *dataset = datasets_find(context->datasets, request->match.id);
    CHECK(dataset != NULL);
    dataset_read(context->datasets, dataset, &info);
    if (request->deadline_ns == 0)
        request->deadline_ns = clock_monotonic_ns() + import_answer_ns;
    if (info.state == DATASET_IMPORTING &&
        clock_monotonic_ns() < request->deadline_ns) {
        request->subject = dataset;
        return false;
    }
    if (info.state == DATASET_FAILED) {
        import_refused(request, &info.detail.failure);
        return true;
    }
    if (info.state == DATASET_CREATED) {
        struct error error = {0};
        error_set(
            &error, ST_DRAINING,
            "the import was ended by the service's stop, or the dataset declared anew");
        reply_problem(request, &error, NULL);
        return true;
    }
    reply_json(request,
               info.state == DATASET_IMPORTING ? MHD_HTTP_ACCEPTED : MHD_HTTP_OK,
               dataset_text(context->datasets, dataset, context->ledger));
    return true;
}

bool dataset_import_get(struct context *context, struct request *request)
{
    struct dataset *dataset;
    struct dataset_info info;
    struct error error = {0};
    if (find(context, request, &dataset, &info, &error) != ST_OK) {
        reply_problem(request, &error, NULL);
        return true;
    }
    reply_header_add(request, "Cache-Control", "no-store");
    reply_json_tagged(request, dataset_import_text(context->datasets, dataset));
    return true;
}
