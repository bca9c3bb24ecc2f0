#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <microhttpd.h>

#include "api/http/query.h"
#include "api/views/model_view.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/status.h"
#include "service/access/access.h"
#include "service/audit/audit_event.h"
#include "service/audit/download_events.h"
#include "service/handlers/handlers.h"
#include "service/http/byte_range.h"
#include "service/http/entity_tag.h"
#include "service/http/request.h"
#include "service/http/stale_read_retry.h"
#include "service/jobs/job_admin.h"
#include "service/jobs/job_facts.h"
#include "service/models/model_cache.h"
#include "service/models/model_json.h"
#include "service/models/model_parts.h"
#include "service/models/models.h"
#include "service/models/onnx_stream.h"
#include "service/models/verified_file.h"
#include "service/process/daemon_state.h"
#include "store/rows/model_rows.h"

static enum status find(struct daemon_state *context, const struct request *request,
                        const struct model_row **row, struct error *error)
{
    const struct access_question question = handler_question(request);
    return access_find_model(context, &question, request->match.id, row, error);
}

/* Like find, for a request that leaves a row in the audit trail: the row names the
 * dataset. */
static enum status find_for_act(struct daemon_state *context, struct request *request,
                                const struct model_row **row, struct error *error)
{
    enum status status = find(context, request, row, error);
    const struct job *job =
        status == ST_OK ? jobs_find_ever(context->jobs, (*row)->job.text) : NULL;
    if (job != NULL)
        request->about = *job_dataset(job);
    return status;
}

enum status handle_model_get(struct daemon_state *context, struct request *request,
                             struct error *error)
{
    const struct model_row *row;
    enum status status = find(context, request, &row, error);
    if (status == ST_OK)
        request_answer(request, model_json(context, row));
    return status;
}

/* --- delete --- */

/* Once its row is deleted, the model no longer exists. If a crash leaves its file, the
 * next start deletes the file. */
static enum status remove_model(struct daemon_state *context,
                                const struct request *request,
                                const struct model_row *row, struct error *error)
{
    struct audit_event act;
    struct store_tx *tx = NULL;
    struct job *job = jobs_find_ever(context->jobs, row->job.text);
    CHECK(job != NULL);
    enum status status = job_check(job, error);
    if (status != ST_OK)
        return status;
    audit_event_begin(&act, context, request);
    status = stale_read_retry_open(context, request, STORE_JOB, &tx, error);
    if (status != ST_OK)
        return status;
    status = model_remove(context->models, tx, row, error);
    if (status == ST_OK)
        status = job_drop_model(context->jobs, tx, job, error);
    if (status == ST_OK)
        status = audit_trail_append(tx, &act.row, error);
    return store_end(tx, status, error);
}

enum status handle_model_delete(struct daemon_state *context, struct request *request,
                                struct error *error)
{
    const struct model_row *row;
    enum status status = find_for_act(context, request, &row, error);
    if (status == ST_OK)
        status = remove_model(context, request, row, error);
    if (status != ST_OK)
        return status;
    const struct blob_name name = blob_of_model(&row->id);
    model_cache_drop(context->model_cache, &row->id);
    if (!daemon_state_remove(context, &name))
        return error_set(error, ST_INTERNAL,
                         "the model is deleted; its file goes with the next start");
    reply_empty(&request->reply, MHD_HTTP_NO_CONTENT);
    return ST_OK;
}

/* --- content --- */

/* Appends to the audit trail that the file will be sent, before it is sent. A file that
 * is fetched in parts gets one row, and a HEAD request none. */
static enum status tell_download(struct daemon_state *context,
                                 const struct request *request, bool part,
                                 struct error *error)
{
    struct audit_event act;
    audit_event_begin(&act, context, request);
    if (strcmp(request->method, "HEAD") == 0 ||
        (part && download_events_know(context->download_events, &act.row)))
        return ST_OK;
    enum status status = audit_event_keep(context, &act, error);
    if (status == ST_OK && part)
        download_events_remember(context->download_events, &act.row);
    return status;
}

/* Replies with a range of the file and the digest of the whole. */
static void reply_content(struct request *request, const struct model_row *row,
                          int file_take, unsigned status, struct byte_range range)
{
    char digest[SHA256_BASE64_SIZE];
    sha256_render_base64(digest, row->sha256);
    reply_file(&request->reply, status, "application/octet-stream", file_take, range);
    reply_header_add(&request->reply, "Accept-Ranges", "bytes");
    reply_header_add(&request->reply,
                     status == MHD_HTTP_OK ? "Content-Digest" : "Repr-Digest",
                     "sha-256=:%s:", digest);
    if (status == MHD_HTTP_PARTIAL_CONTENT)
        reply_header_add(&request->reply, "Content-Range", "bytes %llu-%llu/%llu",
                         (unsigned long long)range.offset,
                         (unsigned long long)(range.offset + range.size - 1),
                         (unsigned long long)row->size);
}

/* Makes the reply itself: a 416 says how long the file is (RFC 9110, 15.5.17). */
static enum status refuse_range(struct request *request, const struct model_row *row,
                                struct error *error)
{
    error_set(error, ST_RANGE_NOT_SATISFIABLE, "the file has %llu bytes",
              (unsigned long long)row->size);
    request_refuse(request, error, NULL);
    reply_header_add(&request->reply, "Content-Range", "bytes */%llu",
                     (unsigned long long)row->size);
    return ST_OK;
}

/* Replies with the file as it is stored, or a part of it. */
static enum status send_file(struct daemon_state *context, struct request *request,
                             const struct model_row *row, const char *tag,
                             struct error *error)
{
    const char *if_range = request_header(request, "If-Range");
    bool same = if_range == NULL || strcmp(if_range, tag) == 0;
    struct byte_range range = {.offset = 0, .size = row->size}, part = {0};
    enum byte_range_kind kind =
        same ? byte_range_parse(&part, request_header(request, "Range"), row->size)
             : BYTES_WHOLE;
    int file = -1;
    if (kind == BYTES_UNSATISFIABLE)
        return refuse_range(request, row, error);
    enum status status = models_open_file(
        context->models, context->blobs, row,
        kind == BYTES_PART ? CHECK_REMEMBERED : CHECK_ANEW, &file, error);
    if (status == ST_OK)
        status = tell_download(context, request, kind == BYTES_PART, error);
    if (status != ST_OK) {
        if (file >= 0)
            close(file);
        return status;
    }
    if (kind == BYTES_PART)
        reply_content(request, row, file, MHD_HTTP_PARTIAL_CONTENT, part);
    else
        reply_content(request, row, file, MHD_HTTP_OK, range);
    return ST_OK;
}

/* Streams the file while it is made, always all of it. */
static enum status send_onnx(struct daemon_state *context, struct request *request,
                             const struct model_row *row, struct error *error)
{
    uint8_t sha256[SHA256_SIZE];
    char digest[SHA256_BASE64_SIZE];
    struct stream stream;
    enum status status = onnx_stream_open(&stream, context, row, sha256, error);
    if (status != ST_OK)
        return status;
    status = tell_download(context, request, false, error);
    if (status != ST_OK) {
        stream.close(stream.context);
        return status;
    }
    sha256_render_base64(digest, sha256);
    reply_stream(&request->reply, "application/octet-stream", &stream);
    reply_header_add(&request->reply, "Accept-Ranges", "none");
    reply_header_add(&request->reply, "Content-Digest", "sha-256=:%s:", digest);
    return ST_OK;
}

/* Sends one whole file of the model and its body. It is made for this answer. */
static enum status send_merged(struct daemon_state *context, struct request *request,
                               const struct model_row *row, struct error *error)
{
    struct file_checksum seal;
    char digest[SHA256_BASE64_SIZE];
    int file = -1;
    enum status status = model_parts_merge(&file, &seal, context, row, error);
    if (status != ST_OK)
        return status;
    status = tell_download(context, request, false, error);
    if (status != ST_OK) {
        close(file);
        return status;
    }
    sha256_render_base64(digest, seal.sha256);
    reply_file(&request->reply, MHD_HTTP_OK, "application/octet-stream", file,
               (struct byte_range){.offset = 0, .size = seal.size});
    reply_header_add(&request->reply, "Accept-Ranges", "none");
    reply_header_add(&request->reply, "Content-Digest", "sha-256=:%s:", digest);
    return ST_OK;
}

enum content_format { CONTENT_SAFETENSORS, CONTENT_ONNX, CONTENT_MERGED };

static enum status read_format(unsigned *format, const struct request *request,
                               struct error *error)
{
    static const char *const names[] = {
        [CONTENT_SAFETENSORS] = "safetensors", [CONTENT_ONNX] = "onnx", NULL};
    *format = CONTENT_SAFETENSORS;
    return query_choice(format, "format", request_query(request, "format"), names,
                        error);
}

/* A file that is whole is sent as it is, merged or not; an ONNX file always is. */
static enum status read_content(unsigned *format, const struct request *request,
                                const struct model_row *row, struct error *error)
{
    static const char *const flags[] = {"false", "true", NULL};
    struct certificate_base base;
    unsigned merged = 0;
    enum status status = read_format(format, request, error);
    if (status == ST_OK)
        status = query_choice(&merged, "merged", request_query(request, "merged"),
                              flags, error);
    if (status == ST_OK && merged == 1 && *format == CONTENT_SAFETENSORS &&
        certificate_base(&base, row))
        *format = CONTENT_MERGED;
    return status;
}

static void content_tag(char tag[ONNX_TAG_SIZE], const struct model_row *row,
                        unsigned format)
{
    char hex[SHA256_HEX_SIZE];
    if (format == CONTENT_ONNX) {
        onnx_stream_tag(tag, row);
        return;
    }
    sha256_render(hex, row->sha256);
    snprintf(tag, ONNX_TAG_SIZE, "\"%s%s\"", hex,
             format == CONTENT_MERGED ? ".merged" : "");
}

enum status handle_model_content(struct daemon_state *context, struct request *request,
                                 struct error *error)
{
    const struct model_row *row;
    char tag[ONNX_TAG_SIZE];
    unsigned format = CONTENT_SAFETENSORS;
    enum status status = find_for_act(context, request, &row, error);
    if (status == ST_OK)
        status = read_content(&format, request, row, error);
    if (status != ST_OK)
        return status;
    content_tag(tag, row, format);
    const char *match = request_header(request, "If-Match");
    if (match != NULL && !tag_list_holds_strongly(match, tag))
        return error_set(error, ST_PRECONDITION_FAILED, "the model has another hash");
    reply_header_add(&request->reply, "ETag", "%s", tag);
    if (tag_list_holds(request_header(request, "If-None-Match"), tag)) {
        reply_empty(&request->reply, MHD_HTTP_NOT_MODIFIED);
        return ST_OK;
    }
    if (format == CONTENT_ONNX)
        return send_onnx(context, request, row, error);
    return format == CONTENT_MERGED ? send_merged(context, request, row, error)
                                    : send_file(context, request, row, tag, error);
}

/* A check reads the file at about this rate; a partial request has usually been checked
 * before. For ONNX the file is read once more, for the digest; for a whole file, that of
 * the body is read and all of it written. */
uint64_t cost_model_content(struct daemon_state *context, const struct request *request)
{
    enum { BYTES_PER_NS = 2 };
    const struct model_row *row;
    unsigned format;
    struct blob_name name;
    struct file_checksum body = {0};
    if (find(context, request, &row, NULL) != ST_OK ||
        read_content(&format, request, row, NULL) != ST_OK)
        return 0;
    if (format != CONTENT_SAFETENSORS)
        model_parts_find_body(&name, &body, context, row, NULL);
    return (row->size + 2 * body.size) * (format == CONTENT_ONNX ? 2 : 1) /
           BYTES_PER_NS;
}
