/*
 * s3.h - a bucket (base/bucket.h) of a server that speaks the protocol of S3: objects
 * under a prefix, addressed by path.
 *
 * Threads: any.
 */
#ifndef SERVICE_OUTBOUND_S3_H
#define SERVICE_OUTBOUND_S3_H

#include "base/bucket.h"
#include "service/outbound/s3_call.h"

enum {
    S3_BUCKET_SIZE = 64,
    S3_PREFIX_SIZE = 256,
    S3_PIECES_MAX = 10000, /* of one object, as the protocol has it */
};

struct s3_location { /* s3://bucket/prefix */
    char bucket[S3_BUCKET_SIZE];
    char prefix[S3_PREFIX_SIZE]; /* "", or it ends with "/" */
};

/* Reads s3://BUCKET or s3://BUCKET/PREFIX: of [a-z0-9.-], the prefix of
 * [A-Za-z0-9._/-].
 *   ST_INVALID  anything else; location is untouched */
enum status s3_location_parse(struct s3_location *location, const char *url,
                              struct error *error);

/* Opens the bucket, without a call to the server. The driver's close releases it.
 *   ST_INVALID  as s3_server_create */
enum status s3_open(struct bucket **out, const struct s3_location *location,
                    const struct s3_setup *setup, struct error *error);

#endif
