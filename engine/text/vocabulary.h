/*
 * vocabulary.h - the tokens of a vocabulary, sorted: the id of a token, and the tokens
 * that begin with given bytes.
 *
 * Tokens are found by bisection, not by hashing, so no vocabulary and no text is slow.
 *
 * Ownership: a vocabulary keeps a copy of its tokens.
 * Threads: any thread may search it.
 */
#ifndef ENGINE_TEXT_VOCABULARY_H
#define ENGINE_TEXT_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Published vocabularies have 28,996 to 256,000 tokens of up to 256 bytes. An id is below
 * 2^24, so float32 holds it exactly. */
enum { VOCABULARY_TOKENS_MAX = 1 << 20, VOCABULARY_TOKEN_SIZE_MAX = 1024 };

#define VOCABULARY_ABSENT UINT32_MAX

struct vocabulary; /* opaque */

struct token {
    const char *bytes;
    uint32_t size; /* 1 to VOCABULARY_TOKEN_SIZE_MAX */
};

/* The id of tokens[i] is i; count is 1 to VOCABULARY_TOKENS_MAX.
 *   ST_INVALID    two tokens are equal: repeated has their ids, the smaller one first
 *   ST_NO_MEMORY */
enum status vocabulary_create(struct vocabulary **out, const struct token *tokens,
                              uint32_t count, uint32_t repeated[2]);
void vocabulary_destroy(struct vocabulary *vocabulary); /* NULL is allowed */

/* Returns the id of the token text[0..size), or VOCABULARY_ABSENT. */
uint32_t vocabulary_find(const struct vocabulary *vocabulary, const char *text,
                         size_t size);

/* The tokens that begin with the same `size` bytes. */
struct token_range {
    uint32_t first, last; /* places in the sorted order, first to last - 1 */
    uint32_t size;
};

/* All tokens; of no common byte. */
struct token_range vocabulary_all(const struct vocabulary *vocabulary);

/* Reduces the range to the tokens whose next byte is this one. Returns whether any are
 * left. Takes a logarithm of the range's tokens. */
bool vocabulary_narrow(const struct vocabulary *vocabulary, struct token_range *range,
                       unsigned char byte);

/* Returns the id of the token that is the common bytes and no more, or
 * VOCABULARY_ABSENT. */
uint32_t vocabulary_whole(const struct vocabulary *vocabulary,
                          const struct token_range *range);

#endif
