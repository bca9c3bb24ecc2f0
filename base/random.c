#include "base/random.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <openssl/evp.h>

#include "base/check.h"
#include "base/stream_lanes.h"

struct stream {
    EVP_CIPHER_CTX *context;
};

void random_bytes(void *out, size_t size)
{
    uint8_t *next = out;
    while (size > 0) {
        ssize_t got = getrandom(next, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        CHECK(got > 0);
        next += got;
        size -= (size_t)got;
    }
}

struct stream *stream_create(void)
{
    struct stream *stream = malloc(sizeof *stream);
    CHECK(stream != NULL);
    stream->context = EVP_CIPHER_CTX_new();
    CHECK(stream->context != NULL);
    CHECK(EVP_EncryptInit_ex(stream->context, EVP_chacha20(), NULL, NULL, NULL) == 1);
    return stream;
}

void stream_destroy(struct stream *stream)
{
    if (stream == NULL)
        return;
    EVP_CIPHER_CTX_free(stream->context);
    free(stream);
}

static void put_little_endian(uint8_t out[8], uint64_t value)
{
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

/* Reads the stream by the cipher library. */
static void read_by_cipher(struct stream *stream, void *out, size_t size,
                           const struct stream_position *from)
{
    uint8_t iv[16];
    int written = 0;

    CHECK(size <= INT_MAX);
    put_little_endian(iv, from->block);
    put_little_endian(iv + 8, from->nonce);
    memset(out, 0, size);
    CHECK(EVP_EncryptInit_ex(stream->context, NULL, NULL, from->key, iv) == 1);
    CHECK(EVP_EncryptUpdate(stream->context, out, &written, out, (int)size) == 1);
    CHECK((size_t)written == size);
}

void stream_read(struct stream *stream, void *out, size_t size,
                 const struct stream_position *from)
{
    struct stream_position rest = *from;
    size_t done = 0;
    if (size >= STREAM_LANES_SIZE && stream_lanes_available())
        done = stream_lanes_read(out, size, from);
    rest.block += done / STREAM_BLOCK_SIZE;
    if (done < size)
        read_by_cipher(stream, (uint8_t *)out + done, size - done, &rest);
}
