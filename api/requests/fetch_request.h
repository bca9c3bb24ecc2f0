/*
 * fetch_request.h - the body of POST .../files/{name}:fetch: the source from which the
 * service downloads a file.
 *
 * Threads: pure.
 */
#ifndef API_REQUESTS_FETCH_REQUEST_H
#define API_REQUESTS_FETCH_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "api/json/json_reader.h"
#include "api/limits.h"
#include "base/hash.h"
#include "base/status.h"

enum { S3_TEXT_SIZE = 257, S3_TOKEN_SIZE = LIMIT_TEXT + 1 };

/* It holds secrets, in the URL too: the caller must zero it after use. */
struct fetch_request {
    char url[LIMIT_URL + 1];
    bool has_sha256;
    char sha256[SHA256_HEX_SIZE]; /* the required digest of the file */
    bool has_s3; /* the request is signed for S3, with the members below */
    char region[64], access_key_id[S3_TEXT_SIZE], secret_access_key[S3_TEXT_SIZE];
    char session_token[S3_TOKEN_SIZE]; /* "": none */
};

/* Reads {"url","sha256","s3":{"region","access_key_id","secret_access_key",
 * "session_token"}}. service/outbound checks later whether the URL may be fetched.
 *   ST_INVALID  the body is malformed; error lists every fault, but no values */
enum status fetch_request_parse(struct fetch_request *request, struct json_text body,
                                struct error *error);

#endif
