/*
 * lines.h - splits text into lines. The text is read from a source, or is fed by the
 * caller as it arrives. The current line is in memory as a whole. A line ends at a line
 * feed, a carriage return, both in this order, or with the text.
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
    char *text;      /* size bytes, which the caller may overwrite; no line end */
    size_t size;     /* at most LINE_SIZE_MAX */
    uint64_t number; /* its first line in the file, from 1 */
};

/* Drops a byte order mark of UTF-8 with which the text begins. */
void line_skip_mark(struct line *line);

/* Returns whether the line has only spaces and the other blank. */
bool line_is_blank(const struct line *line, char blank);

/* The caller keeps the source; NULL: the text is fed. Returns NULL if there is no
 * memory. */
struct lines *lines_create(struct source *source);
void lines_destroy(struct lines *lines); /* NULL is allowed; zeroes */

/* From now on a line longer than LINE_SIZE_MAX is cut there, instead of being refused. */
void lines_cut_long(struct lines *lines);

/* Takes the next bytes of a text that is fed, as many as there is room for, and returns
 * their number. At least LINE_SIZE_MAX bytes that no line has used fit. The current line
 * is then invalid. */
size_t lines_feed(struct lines *lines, const char *text, size_t size);
/* The text that is fed has ended. */
void lines_feed_end(struct lines *lines);

/* Returns how many bytes were read that no line has used. */
size_t lines_held(const struct lines *lines);

/* Returns whether lines_next or lines_extend has just given nothing because bytes were
 * not fed yet. Lines then begin again with the line that lines_next gave last, or was
 * to give. */
bool lines_wait(const struct lines *lines);

/* Reads the next line; the previous line is then invalid. *more is false at the end of
 * the file. line->number is set on failure too: 0 if the fault is in the file as a
 * whole.
 *   ST_IMPORT_FAILED  the line is longer than LINE_SIZE_MAX, and long lines are not cut
 *   others            as source_read */
enum status lines_next(struct lines *lines, struct line *line, bool *more,
                       struct error *error);

/* Extends line by its line end and the following line. At the end of the file, or
 * beyond the limit, *more is false, and line is unchanged except for its address in
 * memory. */
enum status lines_extend(struct lines *lines, struct line *line, bool *more,
                         struct error *error);

#endif
