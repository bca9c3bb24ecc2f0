#include "service/http/reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <microhttpd.h>

#include "base/check.h"
#include "service/http/assets.h"
#include "service/http/cached_response.h"
#include "service/http/entity_tag.h"

void reply_header_add(struct reply *reply, const char *name, const char *format, ...)
{
    va_list arguments, again;
    CHECK(reply->header_count < REPLY_HEADERS_MAX);
    struct reply_header *header = &reply->headers[reply->header_count++];
    va_start(arguments, format);
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    CHECK(size >= 0);
    header->value = malloc((size_t)size + 1);
    CHECK(header->value != NULL);
    vsnprintf(header->value, (size_t)size + 1, format, again);
    va_end(again);
    va_end(arguments);
    header->name = name;
}

void reply_repack(struct reply *reply, char *bytes_take, size_t size)
{
    char tag[PACKED_TAG_SIZE];
    CHECK(reply->body == REPLY_TEXT);
    free(reply->of.text.bytes);
    reply->of.text.bytes = bytes_take;
    reply->of.text.size = size;
    reply_header_add(reply, "Content-Encoding", "gzip");
    for (size_t i = 0; i < reply->header_count; i++) {
        struct reply_header *header = &reply->headers[i];
        if (strcmp(header->name, "ETag") != 0)
            continue;
        tag_pack(tag, sizeof tag, header->value);
        free(header->value);
        header->value = strdup(tag);
        CHECK(header->value != NULL);
    }
}

void reply_empty(struct reply *reply, unsigned status)
{
    reply->status = status;
}

void reply_json(struct reply *reply, unsigned status, char *text_take)
{
    reply->status = status;
    reply->type = "application/json";
    reply->body = REPLY_TEXT;
    reply->of.text.bytes = text_take;
    reply->of.text.size = strlen(text_take);
}

void reply_constant(struct reply *reply, const char *type, const void *bytes,
                    size_t size)
{
    reply->status = MHD_HTTP_OK;
    reply->type = type;
    reply->body = REPLY_CONSTANT;
    reply->of.constant.bytes = bytes;
    reply->of.constant.size = size;
}

void reply_asset(struct reply *reply, const struct asset *asset, bool packed)
{
    reply_header_add(reply, "Vary", "Accept-Encoding");
    if (packed)
        reply_header_add(reply, "Content-Encoding", "gzip");
    const char *bytes = packed ? asset->packed : asset->plain;
    const char *end = packed ? asset->packed_end : asset->plain_end;
    reply_constant(reply, asset->type, bytes, (size_t)(end - bytes));
}

void reply_job(struct reply *reply, unsigned status,
               struct cached_response *answer_take)
{
    reply->status = status;
    reply->body = REPLY_JOB;
    reply->of.job = answer_take;
}

void reply_file(struct reply *reply, unsigned status, const char *type,
                int descriptor_take, struct byte_range range)
{
    reply->status = status;
    reply->type = type;
    reply->body = REPLY_FILE;
    reply->of.file.descriptor = descriptor_take;
    reply->of.file.range = range;
}

void reply_stream(struct reply *reply, const char *type,
                  const struct stream *stream_take)
{
    reply->status = MHD_HTTP_OK;
    reply->type = type;
    reply->body = REPLY_STREAM;
    reply->of.stream = *stream_take;
}

bool reply_is_streamed(const struct reply *reply)
{
    return reply->body == REPLY_FILE || reply->body == REPLY_STREAM;
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
    case REPLY_JOB: cached_response_drop(reply->of.job); break;
    case REPLY_FILE: close(reply->of.file.descriptor); break;
    case REPLY_STREAM: reply->of.stream.close(reply->of.stream.context); break;
    }
    *reply = (struct reply){0};
}
