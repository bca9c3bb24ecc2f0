/*
 * access_key.h - the form of an access key:
 *
 *   dpk_ID_SECRET   ID of 8 and SECRET of 43 digits in base 62
 *
 * The id is not secret: it is stored, listed and logged. The secret comes from the
 * kernel's generator, and only the bearer knows it. The daemon stores its SHA-256.
 * There are 62^43 > 2^256 secrets, so a slower digest is not needed.
 */
#ifndef BASE_ACCESS_KEY_H
#define BASE_ACCESS_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"

enum {
    ACCESS_KEY_ID_LENGTH = 8,
    ACCESS_KEY_SECRET_LENGTH = 43,
    ACCESS_KEY_ID_SIZE = ACCESS_KEY_ID_LENGTH + 1,
    ACCESS_KEY_TEXT_SIZE = 4 + ACCESS_KEY_ID_LENGTH + 1 + ACCESS_KEY_SECRET_LENGTH + 1,
};

/* The prefix of every key. Nothing else should begin with it. */
extern const char access_key_prefix[];

/* Generates a key. A caller that stores text must wipe it (hash_zero). */
void access_key_make(char id[ACCESS_KEY_ID_SIZE], char text[ACCESS_KEY_TEXT_SIZE]);

/* Reads the id of a key. Returns false, and leaves id untouched, if text does not have
 * the form of a key. */
bool access_key_parse(char id[ACCESS_KEY_ID_SIZE], const char *text);

/* digest = SHA-256 of the secret in text, which must have the form of a key. */
void access_key_digest(uint8_t digest[SHA256_SIZE], const char *text);

#endif
