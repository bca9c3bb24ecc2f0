#include "store/blobs/encrypted_object.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/random.h"

enum {
    NAME_BYTES = 16,
    NUMBER_SIZE = 8,
    BOUND_SIZE = 256,
    WRAPPED_NONCE = CIPHER_NONCE_SIZE,
};

/* An object in pieces of 16 MiB has at most 10,000 of them, which is less than 256
 * GiB. */
static const uint64_t doubled_max = UINT64_C(128) << 30;
static const uint64_t step_beyond = UINT64_C(4) << 30;

_Static_assert(BLOB_WRAPPED_SIZE ==
                   CIPHER_NONCE_SIZE + CIPHER_KEY_SIZE + CIPHER_TAG_SIZE,
               "a wrapped key is a nonce, the key and a tag");

void encrypted_object_make(struct encrypted_object *object, uint64_t size,
                           enum sealed_padding padding)
{
    uint8_t name[NAME_BYTES];
    random_bytes(name, sizeof name);
    random_bytes(object->key, sizeof object->key);
    for (size_t i = 0; i < sizeof name; i++)
        snprintf(object->name + 2 * i, 3, "%02x", name[i]);
    object->size = size;
    object->padding = padding;
}

/* --- the layout of chunks --- */

static uint64_t next_whole(uint64_t size, uint64_t step)
{
    return (size + step - 1) / step * step;
}

static uint64_t padded_size(const struct encrypted_object *object)
{
    uint64_t doubled = SEALED_STEP;
    if (object->padding == SEALED_STEPS)
        return next_whole(object->size, SEALED_STEP);
    if (object->size > doubled_max)
        return next_whole(object->size, step_beyond);
    while (doubled < object->size)
        doubled *= 2;
    return doubled;
}

size_t encrypted_object_chunks(const struct encrypted_object *object)
{
    uint64_t chunks = (padded_size(object) + SEALED_CHUNK_SIZE - 1) / SEALED_CHUNK_SIZE;
    return chunks > 0 ? (size_t)chunks : 1;
}

uint64_t encrypted_object_size(const struct encrypted_object *object)
{
    return padded_size(object) + encrypted_object_chunks(object) * CIPHER_TAG_SIZE;
}

static uint64_t at_most(uint64_t size, uint64_t max)
{
    return size < max ? size : max;
}

struct sealed_chunk encrypted_object_chunk(const struct encrypted_object *object,
                                           size_t index)
{
    uint64_t offset = (uint64_t)index * SEALED_CHUNK_SIZE;
    uint64_t own = object->size > offset ? object->size - offset : 0;
    CHECK(index < encrypted_object_chunks(object));
    struct sealed_chunk chunk = {.offset = offset + index * CIPHER_TAG_SIZE,
                                 .plain_offset = offset};
    chunk.plain_size = (size_t)at_most(padded_size(object) - offset, SEALED_CHUNK_SIZE);
    chunk.size = chunk.plain_size + CIPHER_TAG_SIZE;
    chunk.own_size = (size_t)at_most(own, SEALED_CHUNK_SIZE);
    return chunk;
}

/* --- sealing --- */

struct bound { /* the authenticated associated data */
    uint8_t bytes[BOUND_SIZE];
    size_t size;
};

/* Appends a text with its end, so that no two lists of texts give the same bytes. */
static void bind_text(struct bound *bound, const char *text)
{
    size_t size = strlen(text) + 1;
    CHECK(size <= sizeof bound->bytes - bound->size);
    memcpy(bound->bytes + bound->size, text, size);
    bound->size += size;
}

static void encode(uint8_t bytes[NUMBER_SIZE], uint64_t number)
{
    for (int i = 0; i < NUMBER_SIZE; i++)
        bytes[i] = (uint8_t)(number >> (8 * (NUMBER_SIZE - 1 - i)));
}

static void bind_number(struct bound *bound, uint64_t number)
{
    CHECK(NUMBER_SIZE <= sizeof bound->bytes - bound->size);
    encode(bound->bytes + bound->size, number);
    bound->size += NUMBER_SIZE;
}

static struct bound bound_of_chunk(const struct encrypted_object *object, size_t index)
{
    struct bound bound = {.size = 0};
    bind_text(&bound, "epsilond chunk 1");
    bind_text(&bound, object->name);
    bind_number(&bound, index);
    bind_number(&bound, object->size);
    return bound;
}

static void nonce_of_chunk(uint8_t nonce[CIPHER_NONCE_SIZE], size_t index)
{
    memset(nonce, 0, CIPHER_NONCE_SIZE);
    encode(nonce + CIPHER_NONCE_SIZE - NUMBER_SIZE, index);
}

void encrypted_object_seal(const struct encrypted_object *object, size_t index,
                           uint8_t *bytes)
{
    uint8_t nonce[CIPHER_NONCE_SIZE];
    const struct bound bound = bound_of_chunk(object, index);
    nonce_of_chunk(nonce, index);
    const struct cipher_use use = {object->key, nonce, bound.bytes, bound.size};
    cipher_seal(&use, bytes, bytes, encrypted_object_chunk(object, index).plain_size);
}

bool encrypted_object_open(const struct encrypted_object *object, size_t index,
                           uint8_t *bytes)
{
    uint8_t nonce[CIPHER_NONCE_SIZE];
    const struct bound bound = bound_of_chunk(object, index);
    nonce_of_chunk(nonce, index);
    const struct cipher_use use = {object->key, nonce, bound.bytes, bound.size};
    return cipher_open(&use, bytes, bytes,
                       encrypted_object_chunk(object, index).plain_size);
}

/* --- the wrapped key --- */

static struct bound bound_of_key(const char *blob,
                                 const struct encrypted_object *object)
{
    struct bound bound = {.size = 0};
    bool is_doubled = object->padding == SEALED_DOUBLED;
    bind_text(&bound, is_doubled ? "epsilond key 2" : "epsilond key 1");
    bind_text(&bound, blob);
    bind_text(&bound, object->name);
    return bound;
}

void encrypted_object_wrap(const struct encrypted_object *object, const char *blob,
                           const uint8_t operator_key[CIPHER_KEY_SIZE],
                           uint8_t wrapped[BLOB_WRAPPED_SIZE])
{
    const struct bound bound = bound_of_key(blob, object);
    random_bytes(wrapped, WRAPPED_NONCE);
    const struct cipher_use use = {operator_key, wrapped, bound.bytes, bound.size};
    cipher_seal(&use, wrapped + WRAPPED_NONCE, object->key, sizeof object->key);
}

/* Opens the key of an object of this name and padding. */
static bool open_key(struct encrypted_object *object, const struct blob_row *row,
                     const uint8_t operator_key[CIPHER_KEY_SIZE])
{
    const struct bound bound = bound_of_key(row->name, object);
    const struct cipher_use use = {operator_key, row->wrapped, bound.bytes, bound.size};
    return cipher_open(&use, object->key, row->wrapped + WRAPPED_NONCE,
                       sizeof object->key);
}

bool encrypted_object_unwrap(struct encrypted_object *object,
                             const struct blob_row *row,
                             const uint8_t operator_key[CIPHER_KEY_SIZE])
{
    struct encrypted_object found = {.size = row->size, .padding = SEALED_DOUBLED};
    if (strlen(row->object) >= sizeof found.name || strlen(row->name) > BOUND_SIZE / 2)
        return false;
    memcpy(found.name, row->object, strlen(row->object) + 1);
    bool opened = open_key(&found, row, operator_key);
    if (!opened) {
        found.padding = SEALED_STEPS;
        opened = open_key(&found, row, operator_key);
    }
    if (opened)
        *object = found;
    hash_zero(found.key, sizeof found.key);
    return opened && encrypted_object_chunks(object) == row->chunk_count;
}
