/*
 * foreign.h - files that were uploaded by mistake, known by their first bytes: archives,
 * other packers, other formats, text in UTF-16 or with the line ends of an old Mac. It is
 * asked after a file was refused, so that it can only give a better reason, and never
 * refuses a file.
 *
 * Threads: pure function of its arguments.
 */
#ifndef ENGINE_DATA_READERS_FOREIGN_H
#define ENGINE_DATA_READERS_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/data/reader.h"

enum { FOREIGN_SIZE = 4096 }; /* bytes that are looked at */

/* Says in text[0..size) what a file is that begins with these bytes (unpacked, where it
 * is gzip), and what to do with it.
 *   reader  what the file was declared as; NULL: text that is of no format
 * False: it is none of those known, or what was declared; text is as it was. */
bool foreign_name(char *text, size_t size, const struct reader *reader,
                  const void *bytes, size_t byte_count);

#endif
