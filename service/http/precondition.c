#include "service/http/precondition.h"

#include <stdio.h>
#include <string.h>
#include <microhttpd.h>

#include "service/http/cached_response.h"
#include "service/http/entity_tag.h"

bool precondition_stands(const struct request *request)
{
    return request_header(request, "If-Match") != NULL ||
           request_header(request, "If-None-Match") != NULL;
}

void precondition_tag_of(char tag[PRECONDITION_TAG_SIZE], const struct reply *reply)
{
    tag[0] = '\0';
    if (reply->body == REPLY_JOB)
        snprintf(tag, PRECONDITION_TAG_SIZE, "%s", reply->of.job->tag);
    if (reply->body == REPLY_JOB && reply->of.job->is_packed)
        tag_unpack(tag);
    for (size_t i = 0; i < reply->header_count; i++)
        if (strcmp(reply->headers[i].name, "ETag") == 0)
            snprintf(tag, PRECONDITION_TAG_SIZE, "%s", reply->headers[i].value);
}

static enum status check_match(const struct request *request, const char *tag,
                               struct error *error)
{
    const char *list = request_header(request, "If-Match");
    if (list == NULL || tag_list_holds_any(list))
        return ST_OK;
    if (tag[0] == '\0')
        return error_set(error, ST_PRECONDITION_FAILED,
                         "it has no ETag, so If-Match cannot name it");
    if (!tag_list_holds_strongly(list, tag))
        return error_set(error, ST_PRECONDITION_FAILED,
                         "it is not the version of If-Match");
    return ST_OK;
}

/* Returns whether If-None-Match names the current tag. */
static bool is_known(const struct request *request, const char *tag)
{
    const char *list = request_header(request, "If-None-Match");
    return tag_list_holds_any(list) || (tag[0] != '\0' && tag_list_holds(list, tag));
}

enum status precondition_check(const struct request *request, const char *tag,
                               struct error *error)
{
    enum status status = check_match(request, tag, error);
    if (status == ST_OK && is_known(request, tag))
        status = error_set(error, ST_PRECONDITION_FAILED,
                           "If-None-Match names the version that is there");
    return status;
}

enum status precondition_check_reply(struct request *request, struct error *error)
{
    char tag[PRECONDITION_TAG_SIZE];
    struct reply *reply = &request->reply;
    bool shows = reply->status == MHD_HTTP_OK ||
                 reply->status == MHD_HTTP_NOT_MODIFIED ||
                 reply->status == MHD_HTTP_PARTIAL_CONTENT;
    if (!shows || !precondition_stands(request))
        return ST_OK;
    precondition_tag_of(tag, reply);
    enum status status = check_match(request, tag, error);
    if (status == ST_OK && reply->status == MHD_HTTP_OK && is_known(request, tag)) {
        bool close = reply->close;
        reply_fini(reply);
        reply->close = close;
        reply_empty(reply, MHD_HTTP_NOT_MODIFIED);
        if (tag[0] != '\0')
            reply_header_add(reply, "ETag", "%s", tag);
    }
    return status;
}
