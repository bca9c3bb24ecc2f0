/*
 * s3_call.h - one call of a server that speaks the protocol of S3, by libcurl, signed
 * by AWS Signature Version 4 and repeated if it failed.
 *
 * libcurl signs the query and the headers as they are given, so a query must be sorted
 * by name and percent-encoded, each name with its "="; this file sets
 * x-amz-content-sha256, because libcurl leaves out a body that it has not read; and no
 * header is disabled by "Name:", which would be signed and not sent. A redirection is
 * returned as the answer: a signature is for one host.
 *
 * A call is made up to S3_ATTEMPTS times if the server cannot be reached, breaks off,
 * or answers 408, 429 or 5xx, with growing random pauses in between. Every call must be
 * one that may be made twice.
 *
 * Threads: any.
 */
#ifndef SERVICE_OUTBOUND_S3_CALL_H
#define SERVICE_OUTBOUND_S3_CALL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { S3_ATTEMPTS = 4, S3_TAG_SIZE = 128, S3_QUERY_SIZE = 4096 };

struct s3_setup {         /* all of it borrowed, and copied by s3_server_create */
    const char *endpoint; /* https://host[:port], or http:// of a loopback address */
    const char *region;
    const char *access_key_id, *secret_access_key;
    const char *session_token; /* "": none */
    const char *ca_file;       /* file of certificates; "": the system's */
};

struct s3_server; /* with its connections, opaque */

/*   ST_INVALID  the endpoint is no URL, or plain HTTP beyond loopback; or something is
 *               missing */
enum status s3_server_create(struct s3_server **out, const struct s3_setup *setup,
                             struct error *error);
void s3_server_destroy(struct s3_server *server); /* NULL is allowed */

struct s3_call {
    const char *method;
    const char *path;  /* "/bucket/object", of unreserved characters and "/" */
    const char *query; /* "" or "a=1&b=2" */
    const void *body;
    size_t body_size;
    uint64_t range_offset;
    size_t range_size;         /* 0: all of it */
    void *answer;              /* receives the body of a good answer */
    size_t answer_max;         /* bytes */
    const atomic_bool *cancel; /* setting it ends the call; NULL: it cannot be
                                  cancelled */
};

struct s3_answer {
    size_t size;           /* of the body of a good answer */
    int64_t date_s;        /* the server's clock; 0: it did not say */
    char tag[S3_TAG_SIZE]; /* its ETag, with quotes; "": none */
};

/* Makes the call.
 *   ST_NOT_FOUND  404
 *   ST_FORBIDDEN  another answer of 3xx or 4xx
 *   ST_CORRUPT    416, or more bytes than were asked for
 *   ST_CANCELLED  the call's flag was seen set, within a second
 *   ST_IO         it failed, each time */
enum status s3_call(struct s3_server *server, const struct s3_call *call,
                    struct s3_answer *answer, struct error *error);

/* Appends name=value, percent-encoded, to a query; names come in their order. */
void s3_query_add(char query[S3_QUERY_SIZE], const char *name, const char *value);

#endif
