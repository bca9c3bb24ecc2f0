/*
 * id_text.h - checks that the bytes of a person's id are text that people can read. An
 * id with an invisible character differs from the same id without it, so one person
 * would count as two (privacy.md P1).
 *
 * Threads: pure.
 */
#ifndef ENGINE_DATA_READERS_ID_TEXT_H
#define ENGINE_DATA_READERS_ID_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the name of the first thing in text[0..size) that an id must not hold, or
 * NULL if there is none. An id must be UTF-8. It must hold none of Unicode's control
 * and format characters, no space but U+0020, and no other character that is displayed
 * as nothing (Default_Ignorable_Code_Point). */
const char *id_text_fault(const char *text, size_t size);

/* Returns whether text[0..size) is UTF-8. */
bool id_text_is_utf8(const char *text, size_t size);

#endif
