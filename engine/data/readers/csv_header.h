/*
 * csv_header.h - the header of a csv file, which is optional. It gives the order of the
 * declared columns in the file.
 *
 * Threads: one import, one thread.
 */
#ifndef ENGINE_DATA_READERS_CSV_HEADER_H
#define ENGINE_DATA_READERS_CSV_HEADER_H

#include <stddef.h>

#include "engine/data/readers/lines.h"
#include "engine/data/readers/reading.h"

/* places (columns): places[i] = the declared column that is column i of the file, i <
 * *cells. The function splits the line's text in place. For predictions the header may
 * lack columns that make no features; else *cells is the number of columns.
 *   ST_IMPORT_FAILED  the header does not name each column that it must have once, or
 *                     names others than the declared ones
 *   ST_NO_MEMORY */
enum status csv_header_read(struct reading *reading, const struct line *line,
                            size_t *places, size_t *cells);

#endif
