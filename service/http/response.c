#include "service/http/response.h"

#include <stdbool.h>

#include "base/check.h"
#include "service/http/cached_response.h"
#include "service/http/reply.h"
#include "service/http/request.h"

enum {
    STREAM_PIECE = 32 << 10, /* the room that a stream gets at a time */
    /* The same if the size is not known: libmicrohttpd then makes it fill the
     * connection's memory; only clients of HTTP/1.0 need it. */
    STREAM_PIECE_UNKNOWN = 1 << 10,
};

_Static_assert(STREAM_END == (int)MHD_CONTENT_READER_END_OF_STREAM,
               "as it is answered");
_Static_assert(STREAM_WAITS == 0, "nothing for now");
_Static_assert(STREAM_BROKEN == (int)MHD_CONTENT_READER_END_WITH_ERROR, "likewise");

/* MHD never writes to a persistent buffer. */
static struct MHD_Response *response_of_constant(const void *bytes, size_t size)
{
    union {
        const void *constant;
        void *buffer;
    } body = {.constant = bytes};
    return MHD_create_response_from_buffer(size, body.buffer, MHD_RESPMEM_PERSISTENT);
}

static struct MHD_Response *response_of_stream(const struct stream *stream)
{
    bool known = stream->size != stream_size_unknown;
    return MHD_create_response_from_callback(
        known ? stream->size : MHD_SIZE_UNKNOWN,
        known ? STREAM_PIECE : STREAM_PIECE_UNKNOWN, stream->pull, stream->context,
        stream->close);
}

/* Makes a response of the reply's body, which it takes. */
static struct MHD_Response *response_of_body(struct reply *reply)
{
    struct MHD_Response *response = NULL;
    switch (reply->body) {
    case REPLY_EMPTY: response = response_of_constant(NULL, 0); break;
    case REPLY_TEXT:
        response = MHD_create_response_from_buffer(
            reply->of.text.size, reply->of.text.bytes, MHD_RESPMEM_MUST_FREE);
        break;
    case REPLY_CONSTANT:
        response =
            response_of_constant(reply->of.constant.bytes, reply->of.constant.size);
        break;
    case REPLY_JOB:
        return reply->status == MHD_HTTP_OK
                   ? cached_response_found(reply->of.job)
                   : cached_response_not_modified(reply->of.job);
    case REPLY_FILE:
        response = MHD_create_response_from_fd_at_offset64(reply->of.file.range.size,
                                                           reply->of.file.descriptor,
                                                           reply->of.file.range.offset);
        break;
    case REPLY_STREAM: response = response_of_stream(&reply->of.stream); break;
    }
    CHECK(response != NULL);
    reply->body = REPLY_EMPTY;
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    return response;
}

/* Makes the response to one request, with headers of its own. */
static struct MHD_Response *response_own(struct request *request)
{
    struct reply *reply = &request->reply;
    struct MHD_Response *response = response_of_body(reply);
    if (reply->type != NULL)
        MHD_add_response_header(response, "Content-Type", reply->type);
    MHD_add_response_header(response, "X-Request-Id", request->caller.request_id);
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
    /* A poll: takes the shortest path. */
    if (reply->body == REPLY_JOB && !request->named)
        return MHD_queue_response(request->connection, reply->status,
                                  reply->status == MHD_HTTP_OK
                                      ? reply->of.job->found
                                      : reply->of.job->not_modified);
    struct MHD_Response *response = response_own(request);
    enum MHD_Result result =
        MHD_queue_response(request->connection, reply->status, response);
    MHD_destroy_response(response);
    return result;
}
