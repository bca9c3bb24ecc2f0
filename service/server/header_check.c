#include "service/server/header_check.h"

#include "service/access/access.h"
#include "service/handlers/handlers.h"
#include "service/handlers/predict_file.h"
#include "service/http/admission.h"
#include "service/http/body_digest.h"
#include "service/http/request.h"
#include "service/http/request_guard.h"
#include "service/identity/authentication.h"
#include "service/ingest/upload.h"
#include "service/process/daemon_state.h"

static enum status begin_upload(struct daemon_state *context, struct request *request,
                                struct error *error)
{
    const struct upload_start start = {
        .place = &request->match,
        .principal = &request->caller.principal,
        .content_length = request_header(request, "Content-Length"),
        .offset = request_header(request, "Upload-Offset"),
        .length = request_header(request, "Upload-Length"),
    };
    if (request->match.id[0] == '\0') { /* of no dataset: it creates a file of its
                                           own */
        struct file_id id;
        file_id_make(&id);
        const struct blob_name name = blob_of_weights(&id);
        return upload_begin_new(context, request->upload, &start, &name, error);
    }
    struct dataset *dataset;
    const struct access_question question = handler_question(request);
    enum status status =
        access_find_own_dataset(context, &question, request->match.id, &dataset, error);
    return status == ST_OK ? upload_begin(context, request->upload, &start, error)
                           : status;
}

static enum status begin_digest(struct body_digest **digest,
                                const struct request *request, struct error *error)
{
    body_digest_destroy(*digest);
    *digest = NULL;
    return body_digest_begin(digest, request_header(request, "Content-Digest"),
                             request_header(request, "Repr-Digest"), error);
}

static enum status check_scope(const struct request *request, struct error *error)
{
    const struct access_question question = handler_question(request);
    return access_check_scope(&question, error);
}

enum status header_check_run(struct daemon_state *context,
                             const struct header_check *check, struct error *error)
{
    struct request *request = check->request;
    enum status status = request_guard_verdict(check->gate, check->number, error);
    if (status == ST_OK)
        status = admission_find(request, context->config, authentication_asks(context),
                                error);
    if (status == ST_OK)
        status = authentication_run(context, request, error);
    if (status == ST_OK)
        status = check_scope(request, error);
    if (status == ST_OK)
        status = admission_check(request, context->config, error);
    if (status == ST_OK)
        status = begin_digest(check->digest, request, error);
    if (status == ST_OK && request->match.route->body == BODY_FILE)
        status = begin_upload(context, request, error);
    if (status == ST_OK && request->match.route->body == BODY_ROWS)
        status = predict_file_begin(&request->predict_file, context, request, error);
    if (status == ST_OK && *check->digest != NULL)
        upload_doubt(request->upload);
    return status;
}
