#include "store/blobs/object_transfer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"

/* --- sending --- */

struct sending {
    struct bucket *bucket;
    const struct encrypted_object *object;
    int file;
    uint8_t *digests;
    uint8_t *buffer;
};

static enum status read_all(int file, uint8_t *bytes, size_t size, uint64_t offset,
                            struct error *error)
{
    while (size > 0) {
        ssize_t got = pread(file, bytes, size, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return error_set(error, ST_IO, "the file cannot be read: %s",
                             got < 0 ? strerror(errno) : "it is shorter than it was");
        bytes += got;
        size -= (size_t)got;
        offset += (uint64_t)got;
    }
    return ST_OK;
}

/* Seals a chunk into bytes, which has room for it. */
static enum status seal(const struct sending *sending, size_t index, uint8_t *bytes,
                        struct error *error)
{
    const struct sealed_chunk chunk = encrypted_object_chunk(sending->object, index);
    enum status status =
        read_all(sending->file, bytes, chunk.own_size, chunk.plain_offset, error);
    if (status != ST_OK)
        return status;
    memset(bytes + chunk.own_size, 0, chunk.plain_size - chunk.own_size);
    encrypted_object_seal(sending->object, index, bytes);
    sha256_of(sending->digests + index * SHA256_SIZE, bytes, chunk.size);
    return ST_OK;
}

/* Seals chunks [first, last) one after the other into the buffer. */
static enum status seal_some(const struct sending *sending, size_t first, size_t last,
                             size_t *size, struct error *error)
{
    enum status status = ST_OK;
    *size = 0;
    for (size_t i = first; status == ST_OK && i < last; i++) {
        status = seal(sending, i, sending->buffer + *size, error);
        *size += encrypted_object_chunk(sending->object, i).size;
    }
    return status;
}

static enum status send_at_once(const struct sending *sending, struct error *error)
{
    size_t size;
    enum status status =
        seal_some(sending, 0, encrypted_object_chunks(sending->object), &size, error);
    if (status != ST_OK)
        return status;
    return sending->bucket->driver->put(sending->bucket, sending->object->name,
                                        sending->buffer, size, error);
}

static enum status send_pieces(const struct sending *sending, struct error *error)
{
    const struct bucket_driver *driver = sending->bucket->driver;
    size_t chunks = encrypted_object_chunks(sending->object), size;
    struct bucket_upload *upload = NULL;
    enum status status =
        driver->put_begin(sending->bucket, sending->object->name, &upload, error);
    if (status != ST_OK)
        return status;
    for (size_t i = 0; status == ST_OK && i < chunks; i += OBJECT_PIECE_CHUNKS) {
        size_t last =
            chunks - i < OBJECT_PIECE_CHUNKS ? chunks : i + OBJECT_PIECE_CHUNKS;
        status = seal_some(sending, i, last, &size, error);
        if (status == ST_OK)
            status = driver->put_add(upload, sending->buffer, size, error);
    }
    if (status == ST_OK)
        return driver->put_finish(upload, error);
    driver->put_abandon(upload);
    return status;
}

enum status object_send(struct bucket *bucket, const struct encrypted_object *object,
                        int file, uint8_t *digests, struct error *error)
{
    uint64_t whole = encrypted_object_size(object);
    bool at_once = whole <= OBJECT_PUT_MAX;
    size_t size =
        at_once ? (size_t)whole
                : (size_t)OBJECT_PIECE_CHUNKS * (SEALED_CHUNK_SIZE + CIPHER_TAG_SIZE);
    struct sending sending = {bucket, object, file, digests, malloc(size)};
    if (sending.buffer == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory to send a file");
    enum status status =
        at_once ? send_at_once(&sending, error) : send_pieces(&sending, error);
    hash_zero(sending.buffer, size); /* after a read that failed it holds plain bytes */
    free(sending.buffer);
    return status;
}

/* --- receiving --- */

struct receiving {
    struct bucket *bucket;
    const struct encrypted_object *object;
    const uint8_t *digests;
    const atomic_bool *cancel;
    uint8_t *bytes; /* buffer for a chunk */
};

/* Gets a chunk and opens it. */
static enum status get(const struct receiving *receiving, size_t index,
                       struct error *error)
{
    uint8_t found[SHA256_SIZE];
    struct bucket *bucket = receiving->bucket;
    const struct encrypted_object *object = receiving->object;
    const uint8_t *digest = receiving->digests + index * SHA256_SIZE;
    const struct sealed_chunk chunk = encrypted_object_chunk(object, index);
    const struct bucket_range range = {chunk.offset, chunk.size, receiving->cancel};
    enum status status =
        bucket->driver->get(bucket, object->name, &range, receiving->bytes, error);
    if (status != ST_OK)
        return status;
    sha256_of(found, receiving->bytes, chunk.size);
    if (!hash_equal(found, digest, sizeof found) ||
        !encrypted_object_open(object, index, receiving->bytes))
        return error_set(error, ST_CORRUPT,
                         "chunk %zu of object %s is not what was put there", index,
                         object->name);
    return ST_OK;
}

static enum status get_whole(const struct receiving *receiving, size_t index,
                             struct error *error)
{
    struct error last = {0};
    enum status status = ST_CORRUPT;
    for (int i = 0; status == ST_CORRUPT && i < OBJECT_ATTEMPTS; i++) {
        last = (struct error){0};
        status = get(receiving, index, &last);
    }
    return status == ST_OK ? ST_OK : error_set(error, status, "%s", last.text);
}

enum status object_receive(struct bucket *bucket, const struct encrypted_object *object,
                           const uint8_t *digests, const struct object_sink *sink,
                           struct error *error)
{
    enum status status = ST_OK;
    uint8_t *bytes = malloc(SEALED_CHUNK_SIZE + CIPHER_TAG_SIZE);
    const struct receiving receiving = {bucket, object, digests, sink->cancel, bytes};
    if (bytes == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory to receive a file");
    for (size_t i = 0; status == ST_OK && i < encrypted_object_chunks(object); i++) {
        status = get_whole(&receiving, i, error);
        size_t own = encrypted_object_chunk(object, i).own_size;
        if (status == ST_OK && own > 0 && !sink->take(sink->context, bytes, own))
            status = error_set(error, ST_IO, "what was received is not taken");
    }
    hash_zero(bytes, SEALED_CHUNK_SIZE);
    free(bytes);
    return status;
}
