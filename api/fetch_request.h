/*
 * fetch_request.h - the body of POST .../files/{name}:fetch: where the service is to get a
 * file from.
 *
 * Threads: pure.
 */
#ifndef API_FETCH_REQUEST_H
#define API_FETCH_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "api/limits.h"
#include "base/hash.h"
#include "base/status.h"

enum { S3_TEXT_SIZE = 257, S3_TOKEN_SIZE = LIMIT_TEXT + 1 };

/* It holds secrets, in the URL too: whoever is done with it zeroes it. */
struct fetch_request {
    char url[LIMIT_URL + 1];
    bool has_sha256;
    char sha256[SHA256_HEX_SIZE]; /* that the file must have */
    bool has_s3;                  /* the request is signed for S3, by these */
    char region[64], access_key_id[S3_TEXT_SIZE], secret_access_key[S3_TEXT_SIZE];
    char session_token[S3_TOKEN_SIZE]; /* "": none */
};

/* Reads {"url","sha256","s3":{"region","access_key_id","secret_access_key",
 * "session_token"}}. Where the URL leads is for service/outbound to say.
 *   ST_INVALID  it is not so; error lists all that is wrong, and none of its values */
enum status fetch_request_parse(struct fetch_request *request, const char *body,
                                size_t size, struct error *error);

#endif
