/* A copy of the schema, in which columns that make no features are ignored ones, makes
 * the readers of an import (csv_plain.h, csv_cells.h) skip labels and ids. */
#include "engine/data/readers/csv_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/data/readers/csv_cells.h"
#include "engine/data/readers/csv_header.h"
#include "engine/data/readers/csv_plain.h"
#include "engine/data/readers/csv_record.h"
#include "engine/data/readers/foreign.h"
#include "engine/data/readers/lines.h"
#include "engine/data/readers/reading.h"
#include "engine/data/readers/table_row.h"

enum { HEAD_SIZE = 64 }; /* first bytes by which a file of another kind is recognised */

struct csv_rows {
    struct schema schema; /* the caller's, but for the kinds of its columns */
    struct reading reading;
    struct lines *lines;
    struct table_row row;
    struct table_cell *cells; /* (columns) of the current record, in declared order */
    size_t *places;           /* (columns) the declared column of each of the file's */
    struct csv_plain plain;
    bool header_due, stuck; /* stuck: nothing can be read after a fault */
    uint64_t rows;
    size_t head_size;
    char head[HEAD_SIZE];
    struct error reason; /* why a record cannot be read */
};

static enum status copy_columns(struct csv_rows *rows, const struct schema *schema)
{
    size_t count = schema->column_count;
    rows->schema = *schema;
    rows->schema.columns = calloc(count, sizeof *rows->schema.columns);
    if (rows->schema.columns == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        rows->schema.columns[i] = schema->columns[i];
        rows->schema.columns[i].text_bytes = 0; /* a model reads features only */
        if (!schema_is_feature(&schema->columns[i]))
            rows->schema.columns[i].kind = COLUMN_IGNORED;
    }
    return ST_OK;
}

enum status csv_rows_open(struct csv_rows **out, const struct schema *schema,
                          struct error *error)
{
    CHECK(schema_has_columns(schema));
    struct csv_rows *rows = calloc(1, sizeof *rows);
    CHECK(rows != NULL);
    size_t count = schema->column_count;
    enum status status = copy_columns(rows, schema);
    rows->reading = (struct reading){
        .schema = &rows->schema, .error = &rows->reason, .predicts = true};
    rows->header_due = schema->header;
    rows->lines = lines_create(NULL);
    rows->cells = calloc(count, sizeof *rows->cells);
    rows->places = calloc(count, sizeof *rows->places);
    rows->plain = (struct csv_plain){&rows->row, count, rows->places};
    if (rows->lines == NULL || rows->cells == NULL || rows->places == NULL)
        status = ST_NO_MEMORY;
    if (status == ST_OK)
        status = table_row_init(&rows->row, &rows->schema, false, error);
    if (status != ST_OK) {
        csv_rows_close(rows);
        return error_set(error, status, "no memory to read rows");
    }
    *out = rows;
    return ST_OK;
}

void csv_rows_set_tokenizer(struct csv_rows *rows, const struct tokenizer *tokenizer)
{
    table_row_set_tokenizer(&rows->row, tokenizer);
}

void csv_rows_close(struct csv_rows *rows)
{
    if (rows == NULL)
        return;
    table_row_fini(&rows->row);
    lines_destroy(rows->lines);
    free(rows->cells);
    free(rows->places);
    free(rows->schema.columns);
    free(rows);
}

size_t csv_rows_feed(struct csv_rows *rows, const char *text, size_t size)
{
    size_t taken = lines_feed(rows->lines, text, size);
    size_t room = HEAD_SIZE - rows->head_size, more = taken < room ? taken : room;
    memcpy(rows->head + rows->head_size, text, more);
    rows->head_size += more;
    return taken;
}

void csv_rows_feed_end(struct csv_rows *rows)
{
    lines_feed_end(rows->lines);
}

/* Returns the number of cells of a record. Delimiters in quotes separate no cells. */
static size_t count_cells(const struct csv_rows *rows, const struct line *line)
{
    const char delimiter = delimiter_sign(rows->schema.dialect.delimiter);
    size_t count = 1;
    bool quoted = false;
    for (size_t i = 0; i < line->size; i++) {
        quoted ^= line->text[i] == '"';
        count += !quoted && line->text[i] == delimiter;
    }
    return count;
}

/* Sets the order of the columns to that of the declaration. If the first row has as
 * many cells as columns make features, it has only these. */
static void take_declared_order(struct csv_rows *rows, const struct line *line)
{
    const struct schema *schema = &rows->schema;
    bool features_only = count_cells(rows, line) == schema_cells(schema);
    size_t count = 0;
    for (size_t i = 0; i < schema->column_count; i++)
        if (!features_only || schema_is_feature(&schema->columns[i]))
            rows->places[count++] = i;
    rows->plain.cells = count;
}

static enum status read_cells(struct csv_rows *rows, float *features,
                              const struct line *line)
{
    struct reading *reading = &rows->reading;
    struct error reason = {0};
    struct table_target target;
    enum status status =
        csv_cells_cut_all(reading, line, rows->cells, rows->places, rows->plain.cells);
    for (size_t i = 0; i < rows->plain.cells && status == ST_OK; i++) {
        size_t column = rows->places[i];
        const struct table_cell *cell = &rows->cells[column];
        if (table_row_encode(&rows->row, column, features, &target, cell->cell,
                             &reason) != ST_OK)
            status =
                reading_refuse(reading, cell->line, cell->column, "%s", reason.text);
    }
    return status;
}

static enum status read_row(struct csv_rows *rows, float *features,
                            const struct csv_record *record)
{
    struct table_target target;
    struct reading *reading = &rows->reading;
    const struct line *line = &record->line;
    if (!rows->schema.header && reading->cells == 0)
        take_declared_order(rows, line);
    bool plain = !record->quoted && csv_plain_read(&rows->plain, features, &target,
                                                   line->text, line->size);
    enum status status = plain ? ST_OK : read_cells(rows, features, line);
    if (status == ST_OK)
        reading->cells = rows->plain.cells;
    return status;
}

static enum status read_header(struct csv_rows *rows, const struct line *line)
{
    enum status status =
        csv_header_read(&rows->reading, line, rows->places, &rows->plain.cells);
    rows->reading.cells = rows->plain.cells;
    rows->header_due = false;
    rows->stuck = status != ST_OK;
    return status;
}

/* Says what the text is instead of rows. Returns false if that is not known. */
static bool name_foreign(const struct csv_rows *rows, char *text, size_t size)
{
    static const char gzip[] = "\x1f\x8b";
    if (rows->head_size >= 2 && memcmp(rows->head, gzip, 2) == 0) {
        snprintf(text, size, "the file is packed with gzip: unpack it");
        return true;
    }
    return foreign_name(text, size, rows->schema.reader, rows->head, rows->head_size);
}

static enum status refuse(struct csv_rows *rows, struct csv_rows_place *place,
                          struct error *error)
{
    const struct reading *reading = &rows->reading;
    enum status status =
        rows->reason.status == ST_NO_MEMORY ? ST_NO_MEMORY : ST_INVALID;
    char text[sizeof rows->reason.text];
    memcpy(text, rows->reason.text, sizeof text);
    place->line = reading->place.line;
    place->column = reading->place.column;
    if (rows->rows == 0 && name_foreign(rows, text, sizeof text)) {
        rows->stuck = true;
        *place = (struct csv_rows_place){0};
    }
    return error_set(error, status, "%s", text);
}

enum status csv_rows_next(struct csv_rows *rows, enum csv_rows_got *got,
                          float *features, struct csv_rows_place *place,
                          struct error *error)
{
    struct csv_record record;
    bool more = true;
    enum status status = ST_OK;
    rows->reason = (struct error){0};
    rows->reading.place = (struct reading_place){0};
    *place = (struct csv_rows_place){0};
    *got = CSV_ROWS_END;
    while (status == ST_OK && !rows->stuck) {
        status = csv_record_next(&rows->reading, rows->lines, &record, &more);
        rows->stuck = status != ST_OK;
        if (status == ST_OK && !more) {
            *got = lines_wait(rows->lines) ? CSV_ROWS_WAIT : CSV_ROWS_END;
            return ST_OK;
        }
        if (status == ST_OK && rows->header_due) {
            status = read_header(rows, &record.line);
        } else if (status == ST_OK) {
            status = read_row(rows, features, &record);
            *got = CSV_ROWS_ROW;
            place->line = record.line.number;
            rows->rows += status == ST_OK;
            if (status == ST_OK)
                return ST_OK;
        }
    }
    return status == ST_OK ? ST_OK : refuse(rows, place, error);
}
