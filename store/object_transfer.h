/*
 * object_transfer.h - sealed objects on their way to a bucket and back, a chunk at a time.
 *
 * What comes back is believed of no place: each chunk's SHA-256 is compared with the row's
 * before it is opened, and a chunk that does not open is as bad. A place that gave something
 * else is asked again, since what came may have been damaged on its way.
 *
 * Memory: OBJECT_PUT_MAX at most to send, a chunk to receive. Threads: any.
 */
#ifndef STORE_OBJECT_TRANSFER_H
#define STORE_OBJECT_TRANSFER_H

#include "base/bucket.h"
#include "base/hash.h"
#include "store/sealed_object.h"

enum {
    OBJECT_PUT_MAX = 64 << 20, /* bytes of an object that is put at once */
    OBJECT_PIECE_CHUNKS = 2,   /* of one in pieces, a piece */
    OBJECT_ATTEMPTS = 3,       /* to get a chunk that is whole */
};

/* Puts the object of the open file, whose size object has, and notes the digest of each
 * chunk in digests (chunks, SHA256_SIZE).
 *   ST_IO  the file cannot be read, or the bucket failed
 *   others as base/bucket.h */
enum status object_send(struct bucket *bucket, const struct sealed_object *object,
                        int file, uint8_t *digests, struct error *error);

struct object_sink { /* where an object goes */
    bool (*take)(void *context, const void *data, size_t size);
    void *context;
    const atomic_bool *cancel; /* ends the transfer once it is set; NULL: nobody does */
};

/* Gets the object and hands the blob's bytes to the sink, in their order; false from it ends
 * the transfer.
 *   ST_CANCELLED  the sink's flag was seen set
 *   ST_CORRUPT  the place has something else under that name
 *   ST_IO       take answered false, or the bucket failed
 *   others as base/bucket.h */
enum status object_receive(struct bucket *bucket, const struct sealed_object *object,
                           const uint8_t *digests, const struct object_sink *sink,
                           struct error *error);

#endif
