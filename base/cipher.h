/*
 * cipher.h - authenticated encryption with AES-256-GCM (NIST SP 800-38D), by libcrypto.
 * Without the key the bytes cannot be read, and any change to them is detected.
 *
 *   sealed = ciphertext (size) and tag (CIPHER_TAG_SIZE)
 *
 * A nonce must never be used twice with one key: an attacker who has two such
 * ciphertexts can read both. The callers ensure this (store/blobs/encrypted_object.h).
 *
 * Threads: pure.
 */
#ifndef BASE_CIPHER_H
#define BASE_CIPHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CIPHER_KEY_SIZE = 32, CIPHER_NONCE_SIZE = 12, CIPHER_TAG_SIZE = 16 };

struct cipher_use {       /* all members are borrowed */
    const uint8_t *key;   /* (CIPHER_KEY_SIZE) */
    const uint8_t *nonce; /* (CIPHER_NONCE_SIZE) */
    const void *bound;    /* not encrypted, but cipher_open needs the same bytes */
    size_t bound_size;
};

/* sealed[0..size + CIPHER_TAG_SIZE) = data[0..size), encrypted. sealed may be data. */
void cipher_seal(const struct cipher_use *use, uint8_t *sealed, const void *data,
                 size_t size);

/* Decrypts sealed[0..size + CIPHER_TAG_SIZE) into data[0..size). data may be sealed.
 * Returns false if any bit of sealed, the key, the nonce or the bound bytes differs;
 * data is then zeroed. */
bool cipher_open(const struct cipher_use *use, void *data, const uint8_t *sealed,
                 size_t size);

#endif
