/*
 * unicode.h - what tokenizers ask of Unicode: the characters of UTF-8, their traits,
 * canonical decompositions and lower case, by utf8proc.
 *
 * The tables are those of the utf8proc that is installed (2.8.0 of Debian 12 has Unicode
 * 15.0). Another version of Unicode has other traits for a few hundred rare characters,
 * so the same text may have other ids there (README.md).
 *
 * Threads: pure functions of their arguments.
 */
#ifndef ENGINE_TEXT_UNICODE_H
#define ENGINE_TEXT_UNICODE_H

#include <stddef.h>
#include <stdint.h>

enum {
    UNICODE_INVALID = -1, /* a byte that belongs to no character */
    UNICODE_REPLACEMENT = 0xFFFD,
    UNICODE_SIZE_MAX = 4,      /* bytes of a character in UTF-8 */
    UNICODE_DECOMPOSED_MAX = 4 /* characters in the decomposition of one */
};

/* Traits of a character: sums of these. Letters are the categories Lu, Ll, Lt, Lm and
 * Lo; an unassigned character has no trait. */
enum unicode_trait {
    UNICODE_SPACE = 1,       /* White_Space: Zs, Zl, Zp, U+0009 to U+000D, U+0085 */
    UNICODE_CONTROL = 2,     /* Cc, Cf, Co, Cs: also tabs and ends of lines */
    UNICODE_PUNCTUATION = 4, /* Pc, Pd, Ps, Pe, Pi, Pf, Po, and all ASCII that is no
                              * letter, number, space or control, such as $ and ^ */
    UNICODE_LETTER = 8,
    UNICODE_NUMBER = 16,    /* Nd, Nl, No */
    UNICODE_MARK = 32,      /* Mn: a mark that takes no room of its own */
    UNICODE_IDEOGRAPH = 64, /* the CJK blocks that BERT writes between spaces */
};

/* Reads the first character of text[0..size), size > 0, into code, and returns its
 * bytes, 1 to 4. If no character of UTF-8 begins there, code = UNICODE_INVALID and the
 * result is 1. Surrogates, overlong forms and numbers above U+10FFFF are no characters. */
size_t unicode_decode(int32_t *code, const char *text, size_t size);

/* Writes the character as UTF-8 and returns its bytes; code must be a character. */
size_t unicode_encode(char text[UNICODE_SIZE_MAX], int32_t code);

/* Returns the traits of a character. UNICODE_INVALID has none. */
unsigned unicode_traits(int32_t code);

/* Writes the canonical decomposition of the character (NFD without its reordering), the
 * character itself if it has none. Returns its count. */
size_t unicode_decompose(int32_t out[UNICODE_DECOMPOSED_MAX], int32_t code);

/* Returns the canonical combining class, by which NFD orders adjacent marks; 0 for a
 * character that stays in its place. */
unsigned unicode_combining_class(int32_t code);

/* Returns the simple lower case of the character; the character itself if it has none. */
int32_t unicode_lower(int32_t code);

#endif
