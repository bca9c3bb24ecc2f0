/*
 * lines.h - a source cut into lines, each whole in memory for as long as it is the
 * current one. A line ends at a line feed or with the file.
 *
 * Threads: one caller.
 */
#ifndef ENGINE_DATA_READERS_LINES_H
#define ENGINE_DATA_READERS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/data/readers/source.h"

enum { LINE_SIZE_MAX = 1 << 20 }; /* bytes */

struct lines; /* opaque */

struct line {
    char *text;      /* size bytes, which the caller may overwrite; no line feed */
    size_t size;     /* at most LINE_SIZE_MAX */
    uint64_t number; /* the line of the file it begins on, from 1 */
};

/* The source stays the caller's. NULL where memory is short. */
struct lines *lines_create(struct source *source);
void lines_destroy(struct lines *lines); /* NULL is allowed; zeroes */

/* Reads the next line; the one before is gone. *more is false at the end of the file.
 * line->number is set on failure too: 0 where the file itself is at fault.
 *   ST_IMPORT_FAILED  longer than LINE_SIZE_MAX
 *   others            as source_read */
enum status lines_next(struct lines *lines, struct line *line, bool *more,
                       struct error *error);

/* Makes line longer by its line feed and the line behind that. At the end of the file or
 * beyond the limit *more is false, and line is as it was except for its place in
 * memory. */
enum status lines_extend(struct lines *lines, struct line *line, bool *more,
                         struct error *error);

#endif
