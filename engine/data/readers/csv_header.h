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

/* places (columns): places[i] = the declared column that is column i of the file. The
 * function splits the line's text in place.
 *   ST_IMPORT_FAILED  the header does not name each declared column once, and only
 *                     these
 *   ST_NO_MEMORY */
enum status csv_header_read(struct reading *reading, const struct line *line,
                            size_t *places);

#endif
