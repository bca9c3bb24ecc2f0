/*
 * string_index.h - finds the index of a text in a list of declared texts, in
 * logarithmic time.
 *
 * Ownership: the caller keeps the texts, which must outlive the string_index.
 * Threads: any thread may search it.
 */
#ifndef ENGINE_DATA_STRING_INDEX_H
#define ENGINE_DATA_STRING_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct string_index; /* opaque */

#define STRING_INDEX_ABSENT UINT32_MAX

/* Returns NULL if there is no memory. */
struct string_index *string_index_create(char *const *texts, size_t count);
void string_index_destroy(struct string_index *lexicon); /* NULL is allowed */

/* Returns the index of text[0..size) in the list, from 0, or STRING_INDEX_ABSENT. */
uint32_t string_index_find(const struct string_index *lexicon, const char *text,
                           size_t size);

#endif
