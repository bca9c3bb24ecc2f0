/*
 * encrypted_object.h - a blob as the object that leaves the machine: in chunks, each
 * encrypted and authenticated by itself, so that a part can be fetched and checked
 * without the rest.
 *
 *   plain    the blob's bytes, and zeros up to its padded size
 *   chunk i  plain[i * 8 MiB ..), at most 8 MiB, by AES-256-GCM, and its tag: 16 bytes
 *   object   the chunks, one after the other
 *
 *   key      drawn at random for each object, so it seals only one object; the blob's
 *            row holds it, wrapped by the operator's key
 *   nonce    i, as 96 bits, most significant first
 *   bound    "epsilond chunk 1", the object's name, i and the blob's size: a chunk
 *            opens in its own place of its own object of its own length, and nowhere
 *            else
 *   wrapped  a nonce drawn at random (12), the key by AES-256-GCM under the operator's
 *            (32), tag (16); bound to "epsilond key 1" or, if the size is doubled,
 *            "epsilond key 2", and the names of the blob and the object
 *
 * A key is used for one object and a chunk's bytes are what they are, so sealing it
 * twice gives the same bytes: putting an object again is harmless.
 *
 * An observer who may list objects, or sees them come, learns only the padded size of
 * the blob:
 *
 *   SEALED_STEPS    the next whole number of 256 KiB
 *   SEALED_DOUBLED  the first of 256 KiB, 512 KiB, 1 MiB, ..., 128 GiB that has room
 *                   for it, or above that the next whole number of 4 GiB: what follows
 *                   from the rows of a file is known to a factor of two (privacy.md P6)
 *
 * Threads: pure, except for the functions that draw at random.
 */
#ifndef STORE_BLOBS_ENCRYPTED_OBJECT_H
#define STORE_BLOBS_ENCRYPTED_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cipher.h"
#include "store/rows/blob_rows.h"

enum {
    SEALED_CHUNK_SIZE = 8 << 20, /* bytes, before they are sealed */
    SEALED_STEP = 256 << 10,
    SEALED_NAME_SIZE = 33, /* 32 hexadecimal digits, ended */
};

enum sealed_padding { SEALED_STEPS, SEALED_DOUBLED };

struct encrypted_object {
    char name[SEALED_NAME_SIZE];
    uint8_t key[CIPHER_KEY_SIZE];
    uint64_t size; /* the blob's, bytes */
    enum sealed_padding padding;
};

struct sealed_chunk {
    uint64_t offset, plain_offset; /* in the object, and in the blob */
    size_t size, plain_size;       /* sealed, and before that; with zeros */
    size_t own_size;               /* how many of them are the blob's */
};

/* Draws a name and a key for a blob of that size. */
void encrypted_object_make(struct encrypted_object *object, uint64_t size,
                           enum sealed_padding padding);

size_t
encrypted_object_chunks(const struct encrypted_object *object); /* one at least */
uint64_t
encrypted_object_size(const struct encrypted_object *object); /* bytes of all chunks */
struct sealed_chunk encrypted_object_chunk(const struct encrypted_object *object,
                                           size_t index);

/* Seals a chunk in place: bytes has plain_size bytes and room for size. */
void encrypted_object_seal(const struct encrypted_object *object, size_t index,
                           uint8_t *bytes);
/* Opens it in place; returns false if it is not what was sealed there. */
bool encrypted_object_open(const struct encrypted_object *object, size_t index,
                           uint8_t *bytes);

/* wrapped = the object's key under the operator's, for the blob of that name. */
void encrypted_object_wrap(const struct encrypted_object *object, const char *blob,
                           const uint8_t operator_key[CIPHER_KEY_SIZE],
                           uint8_t wrapped[BLOB_WRAPPED_SIZE]);

/* Sets the object of a row. Returns false if the operator's key is another, or the row
 * is not as it was written. */
bool encrypted_object_unwrap(struct encrypted_object *object,
                             const struct blob_row *row,
                             const uint8_t operator_key[CIPHER_KEY_SIZE]);

#endif
