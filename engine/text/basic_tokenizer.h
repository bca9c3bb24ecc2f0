/*
 * basic_tokenizer.h - the words of a text as BERT sees them (Devlin et al. 2019): the text
 * is cleaned, and cut at spaces and punctuation.
 *
 *   1. Bytes that are no UTF-8, U+0000, U+FFFD and controls other than tab, line feed and
 *      carriage return are left out; any white space is a space.
 *   2. A CJK ideograph stands between spaces.
 *   3. If `lower`: canonical decomposition (NFD), marks (Mn) are left out, lower case.
 *   4. Words are cut at spaces, and each punctuation character is a word.
 *
 * A text is read once, from left to right, and a word keeps at most
 * BASIC_WORD_CHARACTERS_MAX characters, so the work is proportional to the text.
 *
 * Threads: a basic_tokenizer belongs to one thread.
 */
#ifndef ENGINE_TEXT_BASIC_TOKENIZER_H
#define ENGINE_TEXT_BASIC_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/text/unicode.h"

/* The longest word that BERT cuts into pieces (max_input_chars_per_word). */
enum { BASIC_WORD_CHARACTERS_MAX = 100 };

struct basic_word {
    int32_t codes[BASIC_WORD_CHARACTERS_MAX];
    size_t count;
    bool is_too_long; /* it has more characters; only the first are in codes */
    size_t marks;     /* its last characters from here on are marks in NFD's order */
};

struct basic_tokenizer {
    const char *text;
    size_t size, position;
    bool lower;
    int32_t waiting[UNICODE_DECOMPOSED_MAX + 2]; /* read, in no word yet */
    size_t waiting_count, waiting_next;
};

/* The tokenizer borrows text[0..size) until its last word. */
void basic_tokenizer_init(struct basic_tokenizer *tokenizer, const char *text,
                          size_t size, bool lower);

/* Writes the next word, of at least one character. Returns false after the last. */
bool basic_tokenizer_next(struct basic_tokenizer *tokenizer, struct basic_word *word);

#endif
