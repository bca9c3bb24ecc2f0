/*
 * hash.h - SHA-256, its HMAC, SHA-512, hexadecimal, comparison in constant time and
 * zeroing, by libcrypto.
 *
 * Threads: a running digest belongs to one thread at a time; the rest is pure.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sizes of texts include the terminator. */
enum { SHA256_SIZE = 32, SHA256_HEX_SIZE = 65, SHA256_BASE64_SIZE = 45 };
enum { SHA512_SIZE = 64, SHA512_BASE64_SIZE = 89 };

struct sha256; /* a running digest, opaque */

struct sha256 *sha256_create(void);
void sha256_destroy(struct sha256 *hash); /* NULL is allowed */
void sha256_update(struct sha256 *hash, const void *data, size_t size);
/* Writes the digest of all the data. Afterwards hash may only be destroyed. */
void sha256_finish(struct sha256 *hash, uint8_t digest[SHA256_SIZE]);

/* The same for SHA-512. */
struct sha512;
struct sha512 *sha512_create(void);
void sha512_destroy(struct sha512 *hash); /* NULL is allowed */
void sha512_update(struct sha512 *hash, const void *data, size_t size);
void sha512_finish(struct sha512 *hash, uint8_t digest[SHA512_SIZE]);

/* digest = SHA-256(data) */
void sha256_of(uint8_t digest[SHA256_SIZE], const void *data, size_t size);

/* digest = HMAC-SHA-256 of data under the key (RFC 2104). */
void hmac_sha256(uint8_t digest[SHA256_SIZE], const uint8_t key[SHA256_SIZE],
                 const void *data, size_t size);

/* text = the digest in lower-case hex, terminated. */
void sha256_render(char text[SHA256_HEX_SIZE], const uint8_t digest[SHA256_SIZE]);

/* text = the digest in base 64, terminated (RFC 9530's form). */
void sha256_render_base64(char text[SHA256_BASE64_SIZE],
                          const uint8_t digest[SHA256_SIZE]);
void sha512_render_base64(char text[SHA512_BASE64_SIZE],
                          const uint8_t digest[SHA512_SIZE]);

/* Returns whether the bytes are equal, in a time that depends only on size. */
bool hash_equal(const void *a, const void *b, size_t size);

/* Overwrites secrets with zeros; the compiler does not remove the call. */
void hash_zero(void *data, size_t size);

#endif
