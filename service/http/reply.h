/*
 * reply.h - the reply to a request: a status, headers, and a body that is bytes, a
 * range of a file, or a stream.
 *
 * Ownership: a reply owns its body from the call that sets it until response.h takes it
 * to send it, or another reply replaces it.
 *
 * Threads: one at a time, the request's.
 */
#ifndef SERVICE_HTTP_REPLY_H
#define SERVICE_HTTP_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "service/http/byte_range.h"

struct asset;

enum {
    REPLY_HEADERS_MAX = 10,
    STREAM_WAITS = 0,   /* pull returns it after it has suspended the connection, */
    STREAM_END = -1,    /* after the last byte, */
    STREAM_BROKEN = -2, /* and if more bytes should come but cannot: no more is sent */
};

static const uint64_t stream_size_unknown = UINT64_MAX;

/* A body that is made piece by piece while it is sent, and is never in memory as a
 * whole. pull writes the bytes at position, where the last piece ended, to to[0..room)
 * and returns their number, at least one. It runs on the HTTP server's thread and never
 * waits; if it has no bytes yet, it has the request's connection suspended
 * (sessions.h), and is called again when that is resumed. close is called once, whether
 * all was sent, some or nothing. */
struct stream {
    uint64_t size; /* all pieces together, or stream_size_unknown */
    uint64_t held; /* bytes of memory that context takes until close */
    ssize_t (*pull)(void *context, uint64_t position, char *to, size_t room);
    void (*close)(void *context);
    void *context;
};

enum reply_body {
    REPLY_EMPTY,
    REPLY_TEXT,     /* bytes that the reply owns */
    REPLY_CONSTANT, /* bytes that outlive every request */
    REPLY_JOB,      /* a job as answered: the whole 200 or 304, with headers */
    REPLY_FILE,     /* a range of an open file */
    REPLY_STREAM,   /* made while it is sent */
};

struct reply_header {
    const char *name; /* static text */
    char *value;      /* owned */
};

struct reply {       /* zeroed: no reply yet */
    unsigned status; /* HTTP; 0: no reply yet */
    /* Static text; NULL: the body has no type, or REPLY_JOB brings its own. */
    const char *type;
    enum reply_body body;
    union {
        struct {
            char *bytes;
            size_t size;
        } text;
        struct {
            const void *bytes;
            size_t size;
        } constant;
        struct cached_response *job;
        struct {
            int descriptor;
            struct byte_range range;
        } file;
        struct stream stream;
    } of;
    size_t header_count;
    struct reply_header headers[REPLY_HEADERS_MAX];
    bool close; /* close the connection afterwards */
};

/* Adds a header to the reply. */
void reply_header_add(struct reply *reply, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Replaces the text of the reply by its gzip form, which is taken. Adds
 * Content-Encoding and, if the reply has an ETag, changes it to that of the compressed
 * form. */
void reply_repack(struct reply *reply, char *bytes_take, size_t size);

void reply_empty(struct reply *reply, unsigned status);

/* Sets the reply to JSON text, which is taken. */
void reply_json(struct reply *reply, unsigned status, char *text_take);

/* Sets the reply to a 200 with bytes[0..size) of a type, which outlive every
 * request. */
void reply_constant(struct reply *reply, const char *type, const void *bytes,
                    size_t size);

/* Sets the reply to a 200 with a file of the program, compressed or plain. */
void reply_asset(struct reply *reply, const struct asset *asset, bool packed);

/* Sets the reply to the job as answered: 200, or 304. */
void reply_job(struct reply *reply, unsigned status,
               struct cached_response *answer_take);

/* Sets the reply to a range of an open file, whose descriptor is taken. */
void reply_file(struct reply *reply, unsigned status, const char *type,
                int descriptor_take, struct byte_range range);

/* Sets the reply to a 200 with a stream, whose context is taken. */
void reply_stream(struct reply *reply, const char *type,
                  const struct stream *stream_take);

/* Returns whether the body is a file or a stream, which the row of the route must
 * declare (api/http/routes.h). */
bool reply_is_streamed(const struct reply *reply);

/* Returns the size of the body in bytes, 0 if it is not known. */
uint64_t reply_size(const struct reply *reply);

/* Returns how many bytes of memory the body takes, without memory that it shares with
 * other replies. */
uint64_t reply_held(const struct reply *reply);

/* Frees the body and the headers. */
void reply_fini(struct reply *reply);

#endif
