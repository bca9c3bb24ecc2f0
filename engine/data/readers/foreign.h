/*
 * foreign.h - recognises files that were uploaded by mistake by their first bytes:
 * archives, other compressors, other formats, text in UTF-16. It is called only after
 * a file was refused: it improves the reason, and never refuses a file.
 *
 * Threads: pure function of its arguments.
 */
#ifndef ENGINE_DATA_READERS_FOREIGN_H
#define ENGINE_DATA_READERS_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/data/reader.h"

enum { FOREIGN_SIZE = 4096 }; /* first bytes that are examined */

/* Writes to text[0..size) the kind of a file that begins with these bytes (unpacked if
 * it is gzip), and what to do with it.
 *   reader  the declared format of the file; NULL: text of no format
 * False if the kind is unknown, or is the declared one; text is then unchanged. */
bool foreign_name(char *text, size_t size, const struct reader *reader,
                  const void *bytes, size_t byte_count);

#endif
