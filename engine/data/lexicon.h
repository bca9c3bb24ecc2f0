/*
 * lexicon.h - finds the place of a text in a list of declared texts, in logarithmic time.
 *
 * Ownership: the texts stay the caller's and must outlive the lexicon.
 * Threads: a lexicon may be searched by any thread.
 */
#ifndef ENGINE_DATA_LEXICON_H
#define ENGINE_DATA_LEXICON_H

#include <stddef.h>
#include <stdint.h>

struct lexicon; /* opaque */

#define LEXICON_ABSENT UINT32_MAX

/* NULL where memory is short. */
struct lexicon *lexicon_create(char *const *texts, size_t count);
void lexicon_destroy(struct lexicon *lexicon); /* NULL is allowed */

/* The place of text[0..size) in the list, from 0, or LEXICON_ABSENT. */
uint32_t lexicon_find(const struct lexicon *lexicon, const char *text, size_t size);

#endif
