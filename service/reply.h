/*
 * reply.h - what a request is answered with: a status, headers, and a body that is bytes,
 * a range of a file, or a stream.
 *
 * Ownership: a reply owns its body from the call that sets it on, until response.h takes
 * it to send it, or another reply takes its place.
 *
 * Threads: one at a time, the request's.
 */
#ifndef SERVICE_REPLY_H
#define SERVICE_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "service/assets.h"
#include "service/byte_range.h"
#include "service/job_answer.h"

enum {
    REPLY_HEADERS_MAX = 10,
    STREAM_WAITS = 0, /* what pull answers where it has had the connection suspended, */
    STREAM_END = -1,  /* behind the last byte, */
    STREAM_BROKEN = -2, /* and where there should be more but is not: no more is sent */
};

static const uint64_t stream_size_unknown = UINT64_MAX;

/* A body that is made piece by piece while it is sent, and is never in memory as a whole.
 * pull puts what comes at position, where the last piece ended, into to[0..room) and
 * answers how much that is, at least one byte. It runs on the HTTP server's thread and
 * waits for nothing; where nothing comes for now it has the request's connection suspended
 * (sessions.h), and is called again when that is resumed. close is called once, whether all was sent, some or nothing. */
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
    REPLY_JOB,      /* a job as answered: the reply of 200 or 304, headers and all */
    REPLY_FILE,     /* a range of an open file */
    REPLY_STREAM,   /* made while it is sent */
};

struct reply_header {
    const char *name; /* static text */
    char *value;      /* owned */
};

struct reply {        /* zeroed: none yet */
    unsigned status;  /* HTTP; 0: no reply yet */
    const char *type; /* static text; NULL: the body has none, or REPLY_JOB its own */
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
        struct job_answer *job;
        struct {
            int descriptor;
            struct byte_range range;
        } file;
        struct stream stream;
    } of;
    size_t header_count;
    struct reply_header headers[REPLY_HEADERS_MAX];
    bool close; /* the connection cannot go on */
};

/* Adds a header to the reply. */
void reply_header_add(struct reply *reply, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The text of the reply becomes the same by gzip, which is taken: with Content-Encoding,
 * and where it has an ETag with that of the packed form. */
void reply_repack(struct reply *reply, char *bytes_take, size_t size);

void reply_empty(struct reply *reply, unsigned status);

/* The reply is JSON text, taken. */
void reply_json(struct reply *reply, unsigned status, char *text_take);

/* The reply of 200 is bytes[0..size) of a type, which outlive every request. */
void reply_constant(struct reply *reply, const char *type, const void *bytes,
                    size_t size);

/* The reply of 200 is a file of the program, packed or plain. */
void reply_asset(struct reply *reply, const struct asset *asset, bool packed);

/* The reply is the job as answered: 200, or 304. */
void reply_job(struct reply *reply, unsigned status, struct job_answer *answer_take);

/* The reply is a range of an open file, whose descriptor is taken. */
void reply_file(struct reply *reply, unsigned status, const char *type,
                int descriptor_take, struct byte_range range);

/* The reply of 200 is a stream, whose context is taken. */
void reply_stream(struct reply *reply, const char *type,
                  const struct stream *stream_take);

/* Tells whether the body is a file or a stream, which the row of the route has to say
 * (api/routes.h). */
bool reply_is_streamed(const struct reply *reply);

/* Answers the size of the body in bytes, 0 where it is not known. */
uint64_t reply_size(const struct reply *reply);

/* Answers how many bytes of memory the body takes, beside what it shares with
 * others. */
uint64_t reply_held(const struct reply *reply);

/* Lets go of the body and the headers. */
void reply_fini(struct reply *reply);

#endif
