/*
 * cipher.h - AES-256-GCM (NIST SP 800-38D), by libcrypto: bytes that nobody reads without
 * the key, and in which nobody changes one without being noticed.
 *
 *   sealed = ciphertext (size) and tag (CIPHER_TAG_SIZE)
 *
 * A nonce must never be used twice with one key: whoever has two such texts reads both. The
 * callers see to it (store/sealed_object.h).
 *
 * Threads: pure.
 */
#ifndef BASE_CIPHER_H
#define BASE_CIPHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CIPHER_KEY_SIZE = 32, CIPHER_NONCE_SIZE = 12, CIPHER_TAG_SIZE = 16 };

struct cipher_use {       /* all of it borrowed */
    const uint8_t *key;   /* (CIPHER_KEY_SIZE) */
    const uint8_t *nonce; /* (CIPHER_NONCE_SIZE) */
    const void *bound; /* not encrypted, but what is sealed opens with the same alone */
    size_t bound_size;
};

/* sealed[0..size + CIPHER_TAG_SIZE) = data[0..size) sealed; sealed may be data. */
void cipher_seal(const struct cipher_use *use, uint8_t *sealed, const void *data,
                 size_t size);

/* data[0..size) = what was sealed as sealed[0..size + CIPHER_TAG_SIZE); data may be sealed.
 * False where a bit of it, of the key, the nonce or what was bound is another: data is
 * then zeros. */
bool cipher_open(const struct cipher_use *use, void *data, const uint8_t *sealed,
                 size_t size);

#endif
