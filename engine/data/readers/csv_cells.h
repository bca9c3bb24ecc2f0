/*
 * csv_cells.h - the cells of a record of csv, cut apart where it stands, and what is said
 * where it does not come apart as declared.
 *
 * Threads: one import, one thread.
 */
#ifndef ENGINE_DATA_READERS_CSV_CELLS_H
#define ENGINE_DATA_READERS_CSV_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/data/encode.h"
#include "engine/data/readers/lines.h"
#include "engine/data/readers/reading.h"

struct csv_cell {
    struct cell cell;
    uint64_t line;   /* where it begins */
    uint64_t column; /* its column in the file, from 1 */
};

struct csv_cursor { /* the rest of a record that is being cut */
    char *at, *end;
    uint64_t line;
    size_t column; /* from 0 */
};

struct csv_cursor csv_cursor_at(const struct line *line);

/* Cuts the cell that starts here, in the buffer of the line itself: blanks around it go,
 * and doubled quotes become single. The cursor is then at what separates it, or the end.
 *   ST_IMPORT_FAILED  quotes are not as RFC 4180 has them */
enum status csv_cells_cut(struct reading *reading, struct csv_cursor *cursor,
                          struct csv_cell *cut);

/* What would separate the line into as many cells as there are columns, other than commas;
 * or NULL. */
const char *csv_cells_separator(const struct reading *reading, const struct line *line);

/* Refuse a line whose cells are separated by something else, which name says; and one that
 * has another number of cells than there are columns. */
enum status csv_cells_refuse_separator(struct reading *reading, const struct line *line,
                                       const char *name);
enum status csv_cells_refuse_count(struct reading *reading, const struct line *line,
                                   size_t cells);

#endif
