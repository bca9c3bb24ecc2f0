/*
 * object_transfer.h - sends sealed objects to a bucket and gets them back, a chunk at a
 * time.
 *
 * No place is trusted to return what was put: each chunk's SHA-256 is compared with the
 * row's before it is opened, and a chunk that does not open is treated the same way. A
 * place that returned something else is asked again, since the data may have been
 * damaged in transit.
 *
 * Memory: OBJECT_PUT_MAX at most to send, a chunk to receive. Threads: any.
 */
#ifndef STORE_BLOBS_OBJECT_TRANSFER_H
#define STORE_BLOBS_OBJECT_TRANSFER_H

#include "base/bucket.h"
#include "base/hash.h"
#include "store/blobs/encrypted_object.h"

enum {
    OBJECT_PUT_MAX = 64 << 20, /* largest object, in bytes, that is put at once */
    OBJECT_PIECE_CHUNKS = 2,   /* chunks in each piece otherwise */
    OBJECT_ATTEMPTS = 3,       /* to get an intact chunk */
};

/* Puts the object of the open file, whose size is in object, and stores the digest of
 * each chunk in digests (chunks, SHA256_SIZE).
 *   ST_IO  the file cannot be read, or the bucket failed
 *   others as base/bucket.h */
enum status object_send(struct bucket *bucket, const struct encrypted_object *object,
                        int file, uint8_t *digests, struct error *error);

struct object_sink { /* receiver of an object's bytes */
    bool (*take)(void *context, const void *data, size_t size);
    void *context;
    const atomic_bool *cancel; /* ends the transfer when set; or NULL */
};

/* Gets the object and passes the blob's bytes to the sink, in their order; if take
 * returns false the transfer ends.
 *   ST_CANCELLED  the sink's flag was seen set
 *   ST_CORRUPT  the place has something else under that name
 *   ST_IO       take returned false, or the bucket failed
 *   others as base/bucket.h */
enum status object_receive(struct bucket *bucket, const struct encrypted_object *object,
                           const uint8_t *digests, const struct object_sink *sink,
                           struct error *error);

#endif
