/*
 * csv_cells.h - splits a csv record into its cells, in place, and reports records that
 * do not have the declared cells.
 *
 * Threads: one import, one thread.
 */
#ifndef ENGINE_DATA_READERS_CSV_CELLS_H
#define ENGINE_DATA_READERS_CSV_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/data/dialect.h"
#include "engine/data/readers/lines.h"
#include "engine/data/readers/reading.h"
#include "engine/data/readers/table_row.h"

struct csv_cursor { /* the rest of a record that is being split */
    char *at, *end;
    uint64_t line;
    size_t column; /* from 0 */
};

struct csv_cursor csv_cursor_at(const struct line *line);

/* Cuts off the cell at the cursor, in the buffer of the line itself. Blanks around it
 * are dropped, and doubled quotes become single quotes. The cursor is then at the
 * separator, or at the end.
 *   ST_IMPORT_FAILED  the quotes violate RFC 4180. Not if the reading takes any cell: then
 *                     a quoted cell that is never closed ends with the line, text behind
 *                     a closing quote is dropped, and a quote elsewhere is text */
enum status csv_cells_cut(struct reading *reading, struct csv_cursor *cursor,
                          struct table_cell *cut);

/* Splits a record into its count cells. Cell i goes to cells[places[i]].
 *   ST_IMPORT_FAILED  the quotes violate RFC 4180, or there is another number of
 *                     cells */
enum status csv_cells_cut_all(struct reading *reading, const struct line *line,
                              struct table_cell *cells, const size_t *places,
                              size_t count);

/* Finds a delimiter other than the declared one that would split the line into the
 * declared number of cells. Returns false if there is none. */
bool csv_cells_find_delimiter(enum delimiter *other, const struct reading *reading,
                              const struct line *line);

/* Refuse a line whose cells have a delimiter other than the declared one, and a line
 * that has cells cells in place of those that it must have (reading_cells). */
enum status csv_cells_refuse_delimiter(struct reading *reading, const struct line *line,
                                       enum delimiter other);
enum status csv_cells_refuse_count(struct reading *reading, const struct line *line,
                                   size_t cells);

#endif
