/*
 * foreign.h - files that were uploaded by mistake, known by their first bytes: archives,
 * other packers, other formats, text in UTF-16. It is asked after a file was refused, so
 * that it can only give a better reason, and never refuses a file.
 *
 * Threads: pure function of its arguments.
 */
#ifndef ENGINE_DATA_READERS_FOREIGN_H
#define ENGINE_DATA_READERS_FOREIGN_H

#include <stddef.h>

#include "engine/data/schema.h"

enum { FOREIGN_SIZE = 16 }; /* bytes that are looked at */

/* What a file that begins so (unpacked, where it is gzip) is and what to do with it,
 * static text; NULL: none of those known, or what the format asks for. */
const char *foreign_name(enum data_format format, const void *bytes, size_t size);

#endif
