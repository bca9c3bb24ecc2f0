/*
 * csv_header.h - the first line of a csv that has one: it says which declared column stands
 * where in the file.
 *
 * Threads: one import, one thread.
 */
#ifndef ENGINE_DATA_READERS_CSV_HEADER_H
#define ENGINE_DATA_READERS_CSV_HEADER_H

#include <stddef.h>

#include "engine/data/readers/lines.h"
#include "engine/data/readers/reading.h"

/* places (columns): places[i] = the declared column that is column i of the file. The
 * line's text is cut on the way.
 *   ST_IMPORT_FAILED  it does not name all declared columns, each once, and no others
 *   ST_NO_MEMORY */
enum status csv_header_read(struct reading *reading, const struct line *line,
                            size_t *places);

#endif
