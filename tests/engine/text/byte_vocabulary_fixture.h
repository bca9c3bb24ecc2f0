/*
 * byte_vocabulary_fixture.h - the vocab.json of a byte-level encoding in which the id of
 * a byte is the byte, and further tokens have the ids from 256 on.
 */
#ifndef TESTS_ENGINE_TEXT_BYTE_VOCABULARY_FIXTURE_H
#define TESTS_ENGINE_TEXT_BYTE_VOCABULARY_FIXTURE_H

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "engine/text/tokenizer_kind.h"

enum { BYTE_VOCABULARY_SIZE = 1 << 16 };

/* The character of a byte, by the table of bytes_to_unicode, as JSON. */
static inline size_t byte_member(char *to, unsigned byte, unsigned *others)
{
    int is_kept = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) ||
                  (byte >= 0xAE && byte <= 0xFF);
    unsigned code = is_kept ? byte : 256 + (*others)++;
    return (size_t)sprintf(to, "%s\"\\u%04x\":%u", byte == 0 ? "" : ",", code, byte);
}

/* Writes the file with further tokens, in JSON's spelling; tokens ends with NULL. */
static inline struct text byte_vocabulary(char to[BYTE_VOCABULARY_SIZE],
                                          const char *const *tokens)
{
    unsigned others = 0;
    size_t size = 1;
    to[0] = '{';
    for (unsigned byte = 0; byte < 256; byte++)
        size += byte_member(to + size, byte, &others);
    for (unsigned id = 256; tokens[id - 256] != NULL; id++) {
        CHECK(size + strlen(tokens[id - 256]) + 32 < BYTE_VOCABULARY_SIZE);
        size += (size_t)sprintf(to + size, ",\"%s\":%u", tokens[id - 256], id);
    }
    to[size++] = '}';
    return (struct text){to, size};
}

#endif
