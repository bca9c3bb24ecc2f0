#include "service/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <microhttpd.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/log.h"

const char *request_header(const struct request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

struct lookup {
    const char *name, *value;
};

static enum MHD_Result match_argument(void *context, enum MHD_ValueKind kind,
                                      const char *key, const char *value)
{
    struct lookup *lookup = context;
    (void)kind;
    if (strcmp(key, lookup->name) != 0)
        return MHD_YES;
    lookup->value = value != NULL ? value : "";
    return MHD_NO;
}

const char *request_query(const struct request *request, const char *name)
{
    struct lookup lookup = {.name = name};
    CHECK(route_parameter(request->match.route, name) >= 0);
    MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND,
                              match_argument, &lookup);
    return lookup.value;
}

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

void reply_json(struct request *request, unsigned status, char *text_take)
{
    request->reply.status = status;
    request->reply.type = "application/json";
    request->reply.body = text_take;
    request->reply.size = strlen(text_take);
}

void reply_job(struct request *request, unsigned status, struct job_answer *answer_take)
{
    request->reply.status = status;
    request->reply.answer = answer_take;
    request->reply.size = status == MHD_HTTP_OK ? answer_take->size : 0;
}

void reply_empty(struct request *request, unsigned status)
{
    request->reply.status = status;
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

static void reply_reset(struct reply *reply)
{
    for (size_t i = 0; i < reply->header_count; i++)
        free(reply->headers[i].value);
    free(reply->body);
    job_answer_drop(reply->answer);
    if (reply->file >= 0)
        close(reply->file);
    *reply = (struct reply){.file = -1, .close = reply->close};
}

void reply_problem(struct request *request, const struct error *error,
                   struct problem *more)
{
    struct problem problem = {0};
    if (more != NULL)
        problem = *more;
    problem.instance = request->id;
    if (problem_http_status(error->status) >= 500)
        log_event(LOG_ERROR, "request_failed", "id", request->id, "code",
                  status_wire(error->status), "detail", error->text, (char *)NULL);
    reply_reset(&request->reply);
    reply_json(request, problem_http_status(error->status),
               problem_render(error, &problem));
    request->reply.type = "application/problem+json";
    unsigned retry_after = problem_retry_after(error->status);
    if (retry_after > 0)
        reply_header_add(request, "Retry-After", "%u", retry_after);
    if (error->status == ST_METHOD_NOT_ALLOWED)
        reply_header_add(request, "Allow", "%s", request->match.allow);
}

void request_destroy(struct request *request)
{
    if (request == NULL)
        return;
    reply_reset(&request->reply);
    free(request->body);
    free(request);
}
