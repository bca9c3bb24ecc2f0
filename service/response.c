#include "service/response.h"

#include "base/check.h"

static struct MHD_Response *response_create(struct reply *reply)
{
    struct MHD_Response *response;
    if (reply->file >= 0) {
        response = MHD_create_response_from_fd_at_offset64(
            reply->file_size, reply->file, reply->file_offset);
        reply->file = -1;
    } else if (reply->fixed != NULL) {
        /* MHD never writes to a persistent buffer. */
        union {
            const void *fixed;
            void *buffer;
        } body = {.fixed = reply->fixed};
        response = MHD_create_response_from_buffer(reply->size, body.buffer,
                                                   MHD_RESPMEM_PERSISTENT);
    } else {
        response = MHD_create_response_from_buffer(reply->size, reply->body,
                                                   MHD_RESPMEM_MUST_FREE);
        reply->body = NULL;
    }
    CHECK(response != NULL);
    return response;
}

/* The response to one request, with its own headers. */
static struct MHD_Response *response_own(struct request *request)
{
    struct MHD_Response *response;
    struct reply *reply = &request->reply;
    if (reply->answer != NULL) {
        response = reply->status == MHD_HTTP_OK
                       ? job_answer_found(reply->answer)
                       : job_answer_not_modified(reply->answer);
    } else {
        response = response_create(reply);
        MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    }
    if (reply->type != NULL)
        MHD_add_response_header(response, "Content-Type", reply->type);
    MHD_add_response_header(response, "X-Request-Id", request->id);
    for (size_t i = 0; i < reply->header_count; i++)
        MHD_add_response_header(response, reply->headers[i].name,
                                reply->headers[i].value);
    if (reply->close)
        MHD_add_response_header(response, "Connection", "close");
    return response;
}

enum MHD_Result response_queue(struct request *request)
{
    const struct reply *reply = &request->reply;
    if (reply->answer != NULL && !request->named) /* a poll: as short as can be */
        return MHD_queue_response(request->connection, reply->status,
                                  reply->status == MHD_HTTP_OK
                                      ? reply->answer->found
                                      : reply->answer->not_modified);
    struct MHD_Response *response = response_own(request);
    enum MHD_Result result =
        MHD_queue_response(request->connection, reply->status, response);
    MHD_destroy_response(response);
    return result;
}
