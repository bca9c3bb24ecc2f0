/*
 * bucket.h - a place on another machine that keeps objects by name: the functions that a
 * kind of such a place has (service/outbound/s3.h), for whoever keeps something there
 * (store/blob_objects.h).
 *
 * An object is there whole or not at all, and another may take its place. Nothing is
 * believed of what a place gives back: whoever gets an object checks it.
 *
 * Names are of [a-z0-9/-], and relative to the prefix that the bucket was opened with.
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
struct bucket_upload; /* an object that is put in pieces */

struct bucket_listed {
    char name[BUCKET_NAME_SIZE];
    int64_t modified_s; /* when it was put, by the place's clock, since 1970 */
};

struct bucket_range {
    uint64_t offset;
    size_t size;               /* bytes */
    const atomic_bool *cancel; /* ends the call once it is set; NULL: nobody does */
};

/* Each function that answers a status may answer
 *   ST_FORBIDDEN  the place does not let us
 *   ST_NOT_FOUND  there is no such object, or no such bucket
 *   ST_IO         the place cannot be reached or failed, more than once */
struct bucket_driver {
    enum status (*put)(struct bucket *bucket, const char *name, const void *data,
                       size_t size, struct error *error);

    /* In pieces, which are of one size but for the last. After a failure of add or finish
     * it is abandoned; finish and abandon end it. put_add also returns ST_INVALID if the
     * place takes no more pieces of one object. */
    enum status (*put_begin)(struct bucket *bucket, const char *name,
                             struct bucket_upload **out, struct error *error);
    enum status (*put_add)(struct bucket_upload *upload, const void *data, size_t size,
                           struct error *error);
    enum status (*put_finish)(struct bucket_upload *upload, struct error *error);
    void (*put_abandon)(struct bucket_upload *upload);

    /* data[0..size) = the object's bytes from offset on; an object without all of them is
     * ST_CORRUPT, and retried as a failure is. ST_CANCELLED where *cancel was seen set. */
    enum status (*get)(struct bucket *bucket, const char *name,
                       const struct bucket_range *range, void *data,
                       struct error *error);

    /* Hands out at most max objects whose names come after the name after, in the order
     * of their names. *count: how many; fewer than max are the last. *now_s = the place's
     * clock. */
    enum status (*list)(struct bucket *bucket, const char *after,
                        struct bucket_listed *listed, size_t max, size_t *count,
                        int64_t *now_s, struct error *error);

    /* Removes it; one that is not there is ST_OK. */
    enum status (*remove)(struct bucket *bucket, const char *name, struct error *error);

    void (*close)(struct bucket *bucket);
};

struct bucket {
    const struct bucket_driver *driver;
};

#endif
