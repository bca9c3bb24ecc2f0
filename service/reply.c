#include "service/reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <microhttpd.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/log.h"
#include "service/request.h"

void reply_header_add(struct request *request, const char *name, const char *format,
                      ...)
{
    char value[256];
    struct reply *reply = &request->reply;
    va_list arguments;
    CHECK(reply->header_count < REPLY_HEADERS_MAX);
    struct reply_header *header = &reply->headers[reply->header_count++];
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    header->name = name;
    header->value = strdup(value);
    CHECK(header->value != NULL);
}

void reply_empty(struct request *request, unsigned status)
{
    request->reply.status = status;
}

void reply_json(struct request *request, unsigned status, char *text_take)
{
    struct reply *reply = &request->reply;
    reply->status = status;
    reply->type = "application/json";
    reply->body = REPLY_TEXT;
    reply->of.text.bytes = text_take;
    reply->of.text.size = strlen(text_take);
}

void reply_json_tagged(struct request *request, char *text_take)
{
    enum { TAG_DIGITS = 32 };
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE], tag[TAG_DIGITS + 3];
    sha256_of(digest, text_take, strlen(text_take));
    sha256_render(hex, digest);
    snprintf(tag, sizeof tag, "\"%.*s\"", TAG_DIGITS, hex);
    reply_header_add(request, "ETag", "%s", tag);
    if (tag_list_holds(request_header(request, "If-None-Match"), tag)) {
        free(text_take);
        reply_empty(request, MHD_HTTP_NOT_MODIFIED);
        return;
    }
    reply_json(request, MHD_HTTP_OK, text_take);
}

void reply_constant(struct request *request, const char *type, const void *bytes,
                    size_t size)
{
    struct reply *reply = &request->reply;
    reply->status = MHD_HTTP_OK;
    reply->type = type;
    reply->body = REPLY_CONSTANT;
    reply->of.constant.bytes = bytes;
    reply->of.constant.size = size;
}

void reply_job(struct request *request, unsigned status, struct job_answer *answer_take)
{
    request->reply.status = status;
    request->reply.body = REPLY_JOB;
    request->reply.of.job = answer_take;
}

void reply_file(struct request *request, unsigned status, const char *type,
                int descriptor_take, struct byte_range range)
{
    struct reply *reply = &request->reply;
    CHECK(request->match.route->streamed);
    reply->status = status;
    reply->type = type;
    reply->body = REPLY_FILE;
    reply->of.file.descriptor = descriptor_take;
    reply->of.file.range = range;
}

void reply_stream(struct request *request, const char *type,
                  const struct stream *stream_take)
{
    struct reply *reply = &request->reply;
    CHECK(request->match.route->streamed);
    reply->status = MHD_HTTP_OK;
    reply->type = type;
    reply->body = REPLY_STREAM;
    reply->of.stream = *stream_take;
}

void reply_problem(struct request *request, const struct error *error,
                   struct problem *more)
{
    struct problem problem = {0};
    bool close = request->reply.close;
    if (more != NULL)
        problem = *more;
    problem.instance = request->id;
    if (problem_http_status(error->status) >= 500)
        log_event(LOG_ERROR, "request_failed", "id", request->id, "code",
                  status_wire(error->status), "detail", error->text, (char *)NULL);
    reply_fini(&request->reply);
    request->reply.close = close;
    reply_json(request, problem_http_status(error->status),
               problem_render(error, &problem));
    request->reply.type = "application/problem+json";
    unsigned retry_after = problem_retry_after(error->status);
    if (retry_after > 0)
        reply_header_add(request, "Retry-After", "%u", retry_after);
    if (error->status == ST_METHOD_NOT_ALLOWED)
        reply_header_add(request, "Allow", "%s", request->match.allow);
}

uint64_t reply_size(const struct reply *reply)
{
    const struct stream *stream = &reply->of.stream;
    switch (reply->body) {
    case REPLY_EMPTY: return 0;
    case REPLY_TEXT: return reply->of.text.size;
    case REPLY_CONSTANT: return reply->of.constant.size;
    case REPLY_JOB: return reply->status == MHD_HTTP_OK ? reply->of.job->size : 0;
    case REPLY_FILE: return reply->of.file.range.size;
    case REPLY_STREAM: return stream->size == stream_size_unknown ? 0 : stream->size;
    }
    return 0;
}

uint64_t reply_held(const struct reply *reply)
{
    if (reply->body == REPLY_TEXT)
        return reply->of.text.size;
    return reply->body == REPLY_STREAM ? reply->of.stream.held : 0;
}

void reply_fini(struct reply *reply)
{
    for (size_t i = 0; i < reply->header_count; i++)
        free(reply->headers[i].value);
    switch (reply->body) {
    case REPLY_EMPTY:
    case REPLY_CONSTANT: break;
    case REPLY_TEXT: free(reply->of.text.bytes); break;
    case REPLY_JOB: job_answer_drop(reply->of.job); break;
    case REPLY_FILE: close(reply->of.file.descriptor); break;
    case REPLY_STREAM: reply->of.stream.close(reply->of.stream.context); break;
    }
    *reply = (struct reply){0};
}

bool tag_list_holds(const char *list, const char *tag)
{
    size_t length = strlen(tag);
    while (list != NULL && *list != '\0') {
        list += strspn(list, " \t,");
        if (*list == '*')
            return true;
        if (strncmp(list, "W/", 2) == 0)
            list += 2;
        if (strncmp(list, tag, length) == 0 &&
            (list[length] == '\0' || strchr(" \t,", list[length]) != NULL))
            return true;
        list += strcspn(list, ",");
    }
    return false;
}
