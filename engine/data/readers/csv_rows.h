/*
 * csv_rows.h - the features of rows of csv whose text arrives piece by piece, for
 * predictions. Cells are read as by an import of the same declaration:
 * its dialect, its texts of missing cells, its rule for undeclared words.
 *
 *   csv_rows_open --> csv_rows_feed, csv_rows_next until it waits, ... --> _close
 *                     csv_rows_feed_end, csv_rows_next until the end
 *
 * Only the columns that make features are read. If the declaration has a header, the
 * text begins with one, which names these columns in any order, and may name the other
 * declared columns. Without a header a row has all declared columns in their order, or
 * only those that make features; the first row decides.
 *
 * Memory holds one record and what was fed after it, whatever the length of the text.
 *
 * Threads: one at a time.
 */
#ifndef ENGINE_DATA_READERS_CSV_ROWS_H
#define ENGINE_DATA_READERS_CSV_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/data/schema.h"

struct tokenizer; /* engine/text/tokenizer.h */
struct csv_rows;  /* opaque */

/* schema must have columns and outlive the rows.
 *   ST_NO_MEMORY */
enum status csv_rows_open(struct csv_rows **out, const struct schema *schema,
                          struct error *error);
/* Sets the tokenizer of the column of texts, which must outlive the rows. A schema with
 * such a column needs it before the first row. */
void csv_rows_set_tokenizer(struct csv_rows *rows, const struct tokenizer *tokenizer);
void csv_rows_close(struct csv_rows *rows); /* NULL is allowed; zeroes the text */

/* Takes the next bytes of the text, as many as there is room for, and returns their
 * number. When csv_rows_next waits there is room for CSV_ROWS_ROOM. */
enum { CSV_ROWS_ROOM = 512 << 10 };
size_t csv_rows_feed(struct csv_rows *rows, const char *text, size_t size);
void csv_rows_feed_end(struct csv_rows *rows);

enum csv_rows_got {
    CSV_ROWS_ROW,
    CSV_ROWS_WAIT, /* the text has to go on first */
    CSV_ROWS_END,
};

struct csv_rows_place { /* of a fault or a row, from 1; 0: it has none */
    uint64_t line, column;
};

/* Reads the next row.
 *   features  (schema_features), written for CSV_ROWS_ROW
 *   place     of the row, or of the fault
 *   ST_INVALID    the header, or the row, has a fault: error->text says which, without
 *                 quoting a cell of a row. After a fault of a row the next row may be
 *                 read. After one of the header, or a line that is too long, what
 *                 follows is CSV_ROWS_END. */
enum status csv_rows_next(struct csv_rows *rows, enum csv_rows_got *got,
                          float *features, struct csv_rows_place *place,
                          struct error *error);

#endif
