/* Reads csv: RFC 4180, except that a line feed without carriage return also ends a
 * line, as does a carriage return without line feed, and blanks outside quotes are
 * dropped. The dialect (dialect.h) gives the sign between cells and the decimal sign.
 * There is one file, data. Its cells are
 * the declared columns, in the declared order or in the order of the file's header.
 *
 * The text comes record by record (csv_record.h). A header, if declared, gives the order
 * of the columns in the file (csv_header.h). A record without quotes is read in one pass
 * (csv_plain.h). A record with quotes, or with a fault, takes the slower path: it is
 * split (csv_cells.h) and each cell stored at the index of its declared column, so that
 * table_encode encodes the cells in the declared order. Errors name the line and the
 * cell of the file. */
#include <stdlib.h>

#include "base/check.h"
#include "engine/data/readers/csv_cells.h"
#include "engine/data/readers/csv_header.h"
#include "engine/data/readers/csv_plain.h"
#include "engine/data/readers/csv_record.h"
#include "engine/data/readers/table.h"

struct csv {
    struct reading *reading;
    struct table table;
    /* (columns) places[i] is the declared column that is column i of the file. */
    size_t *places;
    struct csv_plain plain;
};

/* Splits a line into the declared number of cells, for an import that takes any: cells
 * that it lacks are empty, and further ones are dropped. */
static void cut_any(struct csv *csv, const struct line *line)
{
    struct csv_cursor cursor = csv_cursor_at(line);
    bool ended = false;
    for (; cursor.column < csv->reading->schema->column_count; cursor.column++) {
        struct table_cell *cut = &csv->table.cells[csv->places[cursor.column]];
        *cut = (struct table_cell){{"", 0}, line->number, cursor.column + 1};
        if (ended)
            continue;
        CHECK(csv_cells_cut(csv->reading, &cursor, cut) == ST_OK);
        ended = cursor.at == cursor.end;
        cursor.at += !ended;
    }
}

static enum status cut(struct csv *csv, const struct line *line)
{
    if (!csv->reading->takes_any)
        return csv_cells_cut_all(csv->reading, line, csv->table.cells, csv->places,
                                 csv->plain.cells);
    cut_any(csv, line);
    return ST_OK;
}

static enum status add_record(struct csv *csv, const struct csv_record *record)
{
    const struct line *line = &record->line;
    struct table *table = &csv->table;
    enum delimiter other;
    table_begin(table);
    if (!record->quoted && csv_plain_read(&csv->plain, table->floats, &table->target,
                                          line->text, line->size))
        return table_add(table, ST_OK);
    enum status status = cut(csv, line);
    if (status == ST_OK)
        status = table_encode(table);
    /* If the first record has another delimiter than the declared one, every line has,
     * and one fault says so. */
    if (status == ST_IMPORT_FAILED && table->records == 1 &&
        csv_cells_find_delimiter(&other, csv->reading, line)) {
        table_forget(table);
        return csv_cells_refuse_delimiter(csv->reading, line, other);
    }
    return table_add(table, status);
}

static enum status read_records(struct csv *csv)
{
    struct reading *reading = csv->reading;
    bool header = reading->schema->header;
    for (;;) {
        struct csv_record record;
        bool more;
        enum status status = csv_record_next(reading, csv->table.lines, &record, &more);
        if (status != ST_OK || !more)
            return status;
        /* A first line that is no header could be a record. If no record may decide
         * anything about the others, the columns have the declared order. */
        if (header && !reading->takes_any)
            status =
                csv_header_read(reading, &record.line, csv->places, &csv->plain.cells);
        else if (!header)
            status = add_record(csv, &record);
        header = false;
        if (status != ST_OK)
            return status;
    }
}

static enum status csv_open(struct csv *csv)
{
    const size_t count = csv->reading->schema->column_count;
    enum status status = table_open(&csv->table, csv->reading);
    if (status != ST_OK)
        return status;
    csv->places = calloc(count, sizeof *csv->places);
    if (csv->places == NULL)
        return error_set(csv->reading->error, ST_NO_MEMORY, "no memory to read a csv");
    for (size_t i = 0; i < count; i++)
        csv->places[i] = i;
    csv->plain = (struct csv_plain){&csv->table.row, count, csv->places};
    return ST_OK;
}

static enum status read_file(struct reading *reading)
{
    struct csv csv = {.reading = reading};
    enum status status = csv_open(&csv);
    if (status == ST_OK)
        status = read_records(&csv);
    if (status == ST_OK)
        status = table_end(&csv.table);
    free(csv.places);
    table_close(&csv.table);
    return status;
}

const struct reader csv_reader = {
    .name = "csv",
    .form = FORM_COLUMNS,
    .is_text = true,
    .has_dialect = true,
    .files = {"data"},
    .read = read_file,
};
