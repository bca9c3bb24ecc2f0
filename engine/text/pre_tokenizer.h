/*
 * pre_tokenizer.h - cuts a text as GPT-2 does before its merges (Radford et al. 2019). No
 * merge crosses a cut, and the pieces together are the text, byte for byte. Each piece is
 * the first of these that fits (a regular expression of the paper's code):
 *
 *   's 't 're 've 'm 'll 'd     an English ending, in lower case
 *   " "? letters+
 *   " "? numbers+
 *   " "? others+                neither space, letter nor number; also a byte that is
 *                               no UTF-8
 *   spaces+                     if a character follows that is no space, all but the last
 *                               of them, and one of them at least
 *
 * Threads: pure.
 */
#ifndef ENGINE_TEXT_PRE_TOKENIZER_H
#define ENGINE_TEXT_PRE_TOKENIZER_H

#include <stddef.h>

/* Returns the bytes of the first piece of text[0..size), size > 0. Reads the piece and
 * at most two characters more, once each or twice. */
size_t pre_tokenizer_piece(const char *text, size_t size);

#endif
