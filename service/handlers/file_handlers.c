/* Files of public weights and of tokenizers. By uploading one, a principal declares it public, so this
 * needs the scope for registering data. The body is a draft when the handler begins
 * (session.c). The handler checks and hashes it, and publishes it in the transaction
 * that inserts its row. */
#include <inttypes.h>
#include <string.h>
#include <microhttpd.h>

#include "api/http/query.h"
#include "api/limits.h"
#include "api/views/file_view.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/file_checksum.h"
#include "engine/model_file/model_file.h"
#include "engine/text/tokenizer.h"
#include "service/access/access.h"
#include "service/audit/audit_event.h"
#include "service/handlers/file_users.h"
#include "service/handlers/handlers.h"
#include "service/http/pagination.h"
#include "service/http/stale_read_retry.h"
#include "service/ingest/upload.h"
#include "service/models/weight_files.h"
#include "service/process/daemon_state.h"

static enum status find(struct daemon_state *context, const struct request *request,
                        const struct weights_row **row, struct error *error)
{
    const struct access_question question = handler_question(request);
    return access_find_file(context, &question, request->match.id, row, error);
}

/* --- create --- */

static enum status read_note(const struct request *request, const char **note,
                             struct error *error)
{
    const char *text = request_query(request, "note");
    *note = text != NULL ? text : "";
    if (strlen(*note) > LIMIT_FILE_NOTE)
        return query_refuse("note", "is too long", error);
    for (const char *c = *note; *c != '\0'; c++)
        if (*c < ' ' || *c > '~')
            return query_refuse("note", "must be printable ASCII", error);
    return ST_OK;
}

static enum status read_kind(const struct request *request, struct weights_row *row,
                             struct error *error)
{
    unsigned place = FILE_WEIGHTS;
    enum status status = query_choice(&place, "kind", request_query(request, "kind"),
                                      file_kind_names, error);
    row->kind = file_kind_names[place];
    return status;
}

/* Fills in the digest and size of the draft, if it is of its kind. */
static enum status check_draft(struct daemon_state *context,
                               const struct upload *upload, struct weights_row *row,
                               struct error *error)
{
    char path[BLOB_PATH_SIZE];
    struct file_checksum seal;
    const bool is_tokenizer = row->kind == file_kind_names[FILE_TOKENIZER];
    const uint64_t size_max = is_tokenizer ? LIMIT_TOKENIZER_SIZE : LIMIT_FILE_SIZE;
    if (upload->size > size_max)
        return error_set(error, ST_BODY_TOO_LARGE,
                         "a file of %s may have at most %" PRIu64 " bytes",
                         is_tokenizer ? "a tokenizer" : "weights", size_max);
    blob_draft_path(context->blobs, path, &upload->draft);
    enum status status = is_tokenizer ? tokenizer_check_file(path, error) : ST_OK;
    if (status == ST_OK)
        status = is_tokenizer ? file_checksum_of(&seal, path, error)
                              : model_file_check_public(path, &seal, error);
    if (status != ST_OK)
        return status;
    memcpy(row->sha256, seal.sha256, sizeof row->sha256);
    row->size = seal.size;
    return ST_OK;
}

static enum status insert(struct daemon_state *context, const struct request *request,
                          const struct weights_row *row, struct error *error)
{
    struct audit_event act;
    struct store_tx *tx = NULL;
    audit_event_begin(&act, context, request);
    act.row.object = row->id.text;
    enum status status = store_begin(context->store, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    status = weight_files_add(context->weight_files, tx, row, error);
    if (status == ST_OK)
        status = audit_trail_append(tx, &act.row, error);
    return store_end(tx, status, error);
}

static enum status publish(struct daemon_state *context, struct request *request,
                           const struct weights_row *row, struct error *error)
{
    const struct blob_name name = request->upload->draft.name;
    enum status status = upload_publish_new(context, request->upload, error);
    if (status != ST_OK)
        return status;
    status = insert(context, request, row, error);
    if (status != ST_OK)
        daemon_state_remove(context, &name);
    return status;
}

enum status handle_file_create(struct daemon_state *context, struct request *request,
                               struct error *error)
{
    struct weights_row row = {.project = request->caller.principal.project,
                              .created_by = request->caller.principal.name,
                              .create_ms = clock_wall_ms()};
    CHECK(file_id_parse(&row.id, request->upload->draft.name.id));
    enum status status = read_note(request, &row.note, error);
    if (status == ST_OK)
        status = read_kind(request, &row, error);
    if (status == ST_OK)
        status = check_draft(context, request->upload, &row, error);
    if (status == ST_OK)
        status = publish(context, request, &row, error);
    if (status != ST_OK) {
        upload_abandon(context, request->upload);
        return status;
    }
    reply_header_add(&request->reply, "Location", "/v1/files/%s", row.id.text);
    reply_json(&request->reply, MHD_HTTP_CREATED, file_render(&row));
    return ST_OK;
}

/* --- get, list, delete --- */

enum status handle_file_get(struct daemon_state *context, struct request *request,
                            struct error *error)
{
    const struct weights_row *row;
    enum status status = find(context, request, &row, error);
    if (status == ST_OK)
        reply_json(&request->reply, MHD_HTTP_OK, file_render(row));
    return status;
}

struct file_list {
    struct daemon_state *context;
    struct access_question question; /* whether an item is listed */
};

static bool file_seen(void *argument, size_t place)
{
    const struct file_list *list = argument;
    return access_sees_file(&list->question,
                            weight_files_at(list->context->weight_files, place));
}

static bool file_wanted(void *argument, size_t place)
{
    const struct file_list *list = argument;
    struct weight_files *files = list->context->weight_files;
    return !weight_file_is_removed(files, weight_files_at(files, place));
}

static char *file_line(void *argument, size_t place)
{
    const struct file_list *list = argument;
    return file_render(weight_files_at(list->context->weight_files, place));
}

static uint64_t number_of_file(void *argument, size_t place)
{
    const struct file_list *list = argument;
    return weight_files_at(list->context->weight_files, place)->number;
}

enum status handle_file_list(struct daemon_state *context, struct request *request,
                             struct error *error)
{
    struct file_list list = {context, handler_question(request)};
    const struct pagination_source source = {
        .name = "files",
        .count = weight_files_count(context->weight_files),
        .seen = file_seen,
        .wanted = file_wanted,
        .text = file_line,
        .number = number_of_file,
        .context = &list,
    };
    return pagination_reply(request, &source, error);
}

enum status handle_file_delete(struct daemon_state *context, struct request *request,
                               struct error *error)
{
    struct audit_event act;
    struct store_tx *tx = NULL;
    const struct weights_row *row;
    const struct access_question question = handler_question(request);
    enum status status = find(context, request, &row, error);
    if (status == ST_OK)
        status = file_users_check_none(context, &question, &row->id, error);
    if (status == ST_OK)
        status = stale_read_retry_open(context, request, STORE_ROW, &tx, error);
    if (status != ST_OK)
        return status;
    audit_event_begin(&act, context, request);
    status = weight_files_remove(context->weight_files, tx, row, error);
    if (status == ST_OK)
        status = audit_trail_append(tx, &act.row, error);
    status = store_end(tx, status, error);
    if (status != ST_OK)
        return status;
    const struct blob_name name = blob_of_weights(&row->id);
    if (!daemon_state_remove(context, &name))
        return error_set(error, ST_INTERNAL,
                         "it is deleted; its file goes with the next start");
    reply_empty(&request->reply, MHD_HTTP_NO_CONTENT);
    return ST_OK;
}
