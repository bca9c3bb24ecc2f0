/*
 * bucket.h - a bucket on another machine that stores objects by name: the functions
 * that each kind of bucket implements (service/outbound/s3.h) and that the store of
 * blobs calls (store/blobs/blob_objects.h).
 *
 * An object is stored whole or not at all, and can be overwritten. The bucket is not
 * trusted: the caller checks every object that it gets.
 *
 * Names consist of [a-z0-9/-] and are relative to the prefix that the bucket was
 * opened with.
 * Threads: any.
 */
#ifndef BASE_BUCKET_H
#define BASE_BUCKET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { BUCKET_NAME_SIZE = 128 };

struct bucket;
struct bucket_upload; /* an object that is uploaded in pieces */

struct bucket_listed {
    char name[BUCKET_NAME_SIZE];
    int64_t modified_s; /* time of the upload by the bucket's clock, since 1970 */
};

struct bucket_range {
    uint64_t offset;
    size_t size;               /* bytes */
    const atomic_bool *cancel; /* stops the call once set; NULL: cannot be stopped */
};

/* Each function that returns a status may return
 *   ST_FORBIDDEN  the bucket refuses our credentials
 *   ST_NOT_FOUND  there is no such object, or no such bucket
 *   ST_IO         the bucket could not be reached or failed, more than once */
struct bucket_driver {
    enum status (*put)(struct bucket *bucket, const char *name, const void *data,
                       size_t size, struct error *error);

    /* Uploads an object in pieces, all of one size except the last. If add or finish
     * fails, the caller must abandon the upload; finish and abandon end it. put_add
     * also returns ST_INVALID if the bucket takes no more pieces for one object. */
    enum status (*put_begin)(struct bucket *bucket, const char *name,
                             struct bucket_upload **out, struct error *error);
    enum status (*put_add)(struct bucket_upload *upload, const void *data, size_t size,
                           struct error *error);
    enum status (*put_finish)(struct bucket_upload *upload, struct error *error);
    void (*put_abandon)(struct bucket_upload *upload);

    /* data[0..size) = the object's bytes from offset on. An object that does not have
     * all of them is ST_CORRUPT, and is retried like a failure. Returns ST_CANCELLED if
     * *cancel was set. */
    enum status (*get)(struct bucket *bucket, const char *name,
                       const struct bucket_range *range, void *data,
                       struct error *error);

    /* Lists at most max objects whose names sort after the name in after, in the order
     * of their names. *count = the number of objects listed; fewer than max means that
     * there are no more. *now_s = the bucket's clock. */
    enum status (*list)(struct bucket *bucket, const char *after,
                        struct bucket_listed *listed, size_t max, size_t *count,
                        int64_t *now_s, struct error *error);

    /* Removes the object. Returns ST_OK if there is none. */
    enum status (*remove)(struct bucket *bucket, const char *name, struct error *error);

    void (*close)(struct bucket *bucket);
};

struct bucket {
    const struct bucket_driver *driver;
};

#endif
