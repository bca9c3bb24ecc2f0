/*
 * access_key.h - what a key looks like that lets its bearer in:
 *
 *   dpk_ID_SECRET   ID of 8 and SECRET of 43 digits in base 62
 *
 * The id is no secret: it is stored, listed and logged. The secret is drawn by the kernel,
 * 62^43 > 2^256 of them, and is known to its bearer alone; its SHA-256 is what is kept, and
 * what is drawn from so many needs no slower digest.
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

/* How every key begins, and nothing else should. */
extern const char access_key_prefix[];

/* Draws a key. Whoever keeps text must wipe it (hash_zero). */
void access_key_make(char id[ACCESS_KEY_ID_SIZE], char text[ACCESS_KEY_TEXT_SIZE]);

/* Reads the id of a key. False, and id untouched, where text has not the form of one. */
bool access_key_parse(char id[ACCESS_KEY_ID_SIZE], const char *text);

/* digest = SHA-256 of the secret of text, which has the form of a key. */
void access_key_digest(uint8_t digest[SHA256_SIZE], const char *text);

#endif
