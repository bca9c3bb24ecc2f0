#include "service/http/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <microhttpd.h>

#include "api/http/routes.h"
#include "api/views/problem.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/log.h"
#include "service/http/compression.h"
#include "service/http/entity_tag.h"

/* The header fields that are lists, and that the daemon reads. */
static const char *const lists[REQUEST_LISTS] = {"Accept",         "Accept-Encoding",
                                                 "If-Match",       "If-None-Match",
                                                 "Content-Digest", "Repr-Digest"};

struct joining {
    struct request *request;
    const char *first[REQUEST_LISTS];
};

static void join(char **joined, const char *first, const char *next)
{
    const char *before = *joined != NULL ? *joined : first;
    size_t size = strlen(before) + strlen(next) + 3;
    char *text = malloc(size);
    CHECK(text != NULL);
    snprintf(text, size, "%s, %s", before, next);
    free(*joined);
    *joined = text;
}

static enum MHD_Result join_line(void *context, enum MHD_ValueKind kind,
                                 const char *name, const char *value)
{
    struct joining *joining = context;
    (void)kind;
    for (size_t i = 0; i < REQUEST_LISTS && value != NULL; i++) {
        if (strcasecmp(name, lists[i]) != 0)
            continue;
        if (joining->first[i] != NULL)
            join(&joining->request->joined[i], joining->first[i], value);
        else
            joining->first[i] = value;
    }
    return MHD_YES;
}

void request_join_lists(struct request *request)
{
    struct joining joining = {.request = request};
    MHD_get_connection_values(request->connection, MHD_HEADER_KIND, join_line,
                              &joining);
}

const char *request_header(const struct request *request, const char *name)
{
    for (size_t i = 0; i < REQUEST_LISTS; i++)
        if (request->joined[i] != NULL && strcasecmp(name, lists[i]) == 0)
            return request->joined[i];
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

bool request_knows(struct request *request, const char *tag)
{
    char packed[PACKED_TAG_SIZE];
    const char *known = request_header(request, "If-None-Match");
    bool knows = tag_list_holds(known, tag);
    tag_pack(packed, sizeof packed, tag);
    reply_header_add(&request->reply, "ETag", "%s",
                     tag_list_holds_packed(known, tag) ? packed : tag);
    if (knows) {
        reply_header_add(&request->reply, "Vary", "Accept-Encoding");
        reply_empty(&request->reply, MHD_HTTP_NOT_MODIFIED);
    }
    return knows;
}

void request_tag(char tag[REQUEST_TAG_SIZE], const char *text)
{
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE];
    sha256_of(digest, text, strlen(text));
    sha256_render(hex, digest);
    snprintf(tag, REQUEST_TAG_SIZE, "\"%.*s\"", REQUEST_TAG_SIZE - 3, hex);
}

void request_answer_changed(struct request *request, char *text_take)
{
    char tag[REQUEST_TAG_SIZE];
    request_tag(tag, text_take);
    reply_header_add(&request->reply, "ETag", "%s", tag);
    reply_json(&request->reply, MHD_HTTP_OK, text_take);
}

void request_answer(struct request *request, char *text_take)
{
    char tag[REQUEST_TAG_SIZE];
    request_tag(tag, text_take);
    if (request_knows(request, tag))
        free(text_take);
    else
        reply_json(&request->reply, MHD_HTTP_OK, text_take);
}

bool request_wants_packed(const struct request *request)
{
    return compression_is_wanted(request_header(request, "Accept-Encoding"));
}

bool request_reads(const struct request *request)
{
    return strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
}

void request_pack(struct request *request)
{
    struct reply *reply = &request->reply;
    size_t packed_size;
    if (reply->status != MHD_HTTP_OK || reply->body != REPLY_TEXT ||
        !compression_pays(reply->of.text.size) || !request_reads(request))
        return;
    reply_header_add(reply, "Vary", "Accept-Encoding");
    if (!request_wants_packed(request))
        return;
    char *packed =
        compression_pack(&packed_size, reply->of.text.bytes, reply->of.text.size);
    if (packed != NULL)
        reply_repack(reply, packed, packed_size);
}

void request_refuse(struct request *request, const struct error *error,
                    struct problem *more)
{
    struct problem problem = {0};
    struct reply *reply = &request->reply;
    bool close = reply->close;
    if (more != NULL)
        problem = *more;
    problem.instance = request->caller.request_id;
    request->refused = error->status;
    if (problem_http_status(error->status) >= 500)
        log_event(LOG_ERROR, "request_failed", "id", request->caller.request_id, "code",
                  status_wire(error->status), "detail", error->text, (char *)NULL);
    reply_fini(reply);
    reply->close = close;
    reply_json(reply, problem_http_status(error->status),
               problem_render(error, &problem));
    reply->type = "application/problem+json";
    unsigned retry_after = problem_retry_after(error->status);
    if (retry_after > 0)
        reply_header_add(reply, "Retry-After", "%u", retry_after);
    if (reply->status == MHD_HTTP_UNAUTHORIZED)
        reply_header_add(reply, "WWW-Authenticate", "%s", "Bearer");
    if (error->status == ST_METHOD_NOT_ALLOWED)
        reply_header_add(reply, "Allow", "%s", request->match.allow);
    if (error->status == ST_UPLOAD_OFFSET || error->status == ST_UPLOAD_LENGTH)
        reply_header_add(reply, "Upload-Offset", "%" PRIu64, *request->upload_size);
}

struct json_text request_text(struct request *request)
{
    const char *body = request->body != NULL ? request->body : "";
    if (!request->match.route->keyed)
        return json_text_sized(body, request->body_size);
    if (request->json.root == NULL) {
        request->json = json_text_sized(body, request->body_size);
        json_text_parse(&request->json);
    }
    return request->json;
}

void request_forget_body(struct request *request)
{
    json_text_fini(&request->json);
    free(request->body);
    request->body = NULL;
    request->body_size = request->body_capacity = 0;
}

void request_fini(struct request *request)
{
    reply_fini(&request->reply);
    request_forget_body(request);
    for (size_t i = 0; i < REQUEST_LISTS; i++)
        free(request->joined[i]);
}
