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
 * read_cells encodes the cells in the declared order. Errors name the line and the cell
 * of the file. */
#include <stdlib.h>

#include "base/check.h"
#include "engine/data/encode.h"
#include "engine/data/readers/csv_cells.h"
#include "engine/data/readers/csv_header.h"
#include "engine/data/readers/csv_plain.h"
#include "engine/data/readers/csv_record.h"
#include "engine/data/readers/import_report.h"
#include "engine/data/readers/lines.h"
#include "engine/data/readers/persons.h"
#include "engine/data/readers/reading.h"

struct csv {
    struct reading *reading;
    struct source *source;
    struct lines *lines;
    struct encoder *encoders; /* (columns) */
    struct csv_cell *cells;   /* (columns) cells of the current record, in declared
                                 order */
    /* (columns) places[i] is the declared column that is column i of the file. */
    size_t *places;
    struct csv_plain plain;
    uint64_t records;
    struct error reason; /* why a cell cannot be encoded */
    /* Where the first fault is, if there is a report. Line 0: there is none. */
    struct reading_place first_fault;
};

/* Splits a line into the declared number of cells: cells that it lacks are empty, and
 * further ones are dropped. */
static void cut_any(struct csv *csv, const struct line *line)
{
    struct csv_cursor cursor = csv_cursor_at(line);
    bool ended = false;
    for (; cursor.column < csv->reading->schema->column_count; cursor.column++) {
        struct csv_cell *cut = &csv->cells[csv->places[cursor.column]];
        *cut = (struct csv_cell){{"", 0}, line->number, cursor.column + 1};
        if (ended)
            continue;
        CHECK(csv_cells_cut(csv->reading, &cursor, cut) == ST_OK);
        ended = cursor.at == cursor.end;
        cursor.at += !ended;
    }
}

static enum status add_target(struct csv *csv, const struct csv_target *target)
{
    struct reading *reading = csv->reading;
    return reading->schema->task == TASK_REGRESSION
               ? matrix_writer_value(reading->writer, target->value, reading->error)
               : matrix_writer_class(reading->writer, target->class_index,
                                     reading->error);
}

static enum status add_cell(struct csv *csv, size_t column, float *features,
                            struct csv_target *target)
{
    const struct column *declared = &csv->reading->schema->columns[column];
    const struct cell cell = csv->cells[column].cell;
    if (schema_is_feature(declared))
        return csv_plain_encode(&csv->plain, column, features, cell, &csv->reason);
    if (declared->kind == COLUMN_LABEL)
        return csv_target_encode(target, csv->reading->schema->task,
                                 &csv->encoders[column], cell, &csv->reason);
    if (declared->kind == COLUMN_IGNORED)
        return ST_OK;
    return persons_read_id(&target->id, cell, &csv->reason);
}

/* Encodes a line whatever it holds. */
static void take_cells(struct csv *csv, const struct line *line, float *features,
                       struct csv_target *target)
{
    cut_any(csv, line);
    for (size_t i = 0; i < csv->reading->schema->column_count; i++)
        CHECK(add_cell(csv, i, features, target) == ST_OK);
}

/* Refuses a cell that its encoder has refused. */
static enum status refuse_cell(struct csv *csv, size_t column)
{
    const struct csv_cell *cut = &csv->cells[column];
    struct cell_fault fault = {.column = column,
                               .line = cut->line,
                               .place = cut->column,
                               .reason = csv->reason.text};
    fault.is_word = encoder_lacks_word(&csv->encoders[column], &fault.cell, cut->cell);
    if (csv->reading->report != NULL)
        import_report_add_cell(csv->reading->report, &fault);
    enum status status =
        reading_refuse(csv->reading, cut->line, cut->column, "%s", csv->reason.text);
    csv->reason = (struct error){0};
    return status;
}

/* Returns whether the line is the first record and has another delimiter than the
 * declared one: then every line has, and one fault says so. */
static bool has_other_delimiter(const struct csv *csv, const struct line *line,
                                enum delimiter *other)
{
    return csv->records == 0 && csv_cells_find_delimiter(other, csv->reading, line);
}

/* Encodes the cells of a record that cut has split. The first faulty cell ends the
 * record, unless there is a report, which gets all of them. */
static enum status encode_cells(struct csv *csv, const struct line *line,
                                float *features, struct csv_target *target)
{
    struct reading *reading = csv->reading;
    struct reading_place first = {0};
    for (size_t i = 0; i < reading->schema->column_count; i++) {
        enum delimiter other;
        if (add_cell(csv, i, features, target) == ST_OK)
            continue;
        if (has_other_delimiter(csv, line, &other)) /* commas in numbers */
            return csv_cells_refuse_delimiter(reading, line, other);
        enum status status = refuse_cell(csv, i);
        if (reading->report == NULL)
            return status;
        if (first.line == 0)
            first = reading->place;
    }
    if (first.line == 0)
        return ST_OK;
    reading->place = first;
    return ST_IMPORT_FAILED;
}

static enum status read_cells(struct csv *csv, const struct line *line, float *features,
                              struct csv_target *target)
{
    enum status status = csv_cells_cut_all(csv->reading, line, csv->cells, csv->places,
                                           csv->plain.cells);
    return status == ST_OK ? encode_cells(csv, line, features, target) : status;
}

/* Like read_cells, for an import with a report. ST_INVALID: the record is not as
 * declared, and is in the report; the import fails at the end of the file. */
static enum status read_reported(struct csv *csv, const struct line *line,
                                 float *features, struct csv_target *target)
{
    struct reading *reading = csv->reading;
    struct import_report *report = reading->report;
    struct error *error = reading->error, own = {0};
    enum delimiter other;
    const uint64_t before = import_report_faults(report);
    reading->error = &own;
    enum status status = read_cells(csv, line, features, target);
    reading->error = error;
    if (status == ST_OK)
        return ST_OK;
    error_set(error, status, "%s", own.text);
    if (status != ST_IMPORT_FAILED || has_other_delimiter(csv, line, &other))
        return status;
    if (import_report_faults(report) == before)
        import_report_add_line(report, reading->place.line, reading->place.column,
                               own.text);
    if (csv->first_fault.line == 0)
        csv->first_fault = reading->place;
    return ST_INVALID;
}

static enum status add_record(struct csv *csv, const struct csv_record *record)
{
    const struct line *line = &record->line;
    struct matrix_writer *writer = csv->reading->writer;
    struct csv_target target;
    size_t room;
    float *features = matrix_writer_rows(writer, &room);
    bool plain = !record->quoted &&
                 csv_plain_read(&csv->plain, features, &target, line->text, line->size);
    enum status status = ST_OK;
    if (!plain && csv->reading->takes_any)
        take_cells(csv, line, features, &target);
    else if (!plain)
        status = csv->reading->report != NULL
                     ? read_reported(csv, line, features, &target)
                     : read_cells(csv, line, features, &target);
    csv->records++;
    if (status == ST_INVALID)
        return ST_OK;
    if (status == ST_OK)
        status = add_target(csv, &target);
    if (status == ST_OK && csv->reading->persons != NULL)
        status = persons_add(csv->reading->persons, target.id, csv->reading->error);
    if (status == ST_OK)
        status = matrix_writer_advance(writer, 1, csv->reading->error);
    return status;
}

static enum status read_records(struct csv *csv)
{
    struct reading *reading = csv->reading;
    bool header = reading->schema->header;
    for (;;) {
        struct csv_record record;
        bool more;
        enum status status = csv_record_next(reading, csv->lines, &record, &more);
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
    struct reading *reading = csv->reading;
    const struct schema *schema = reading->schema;
    enum status status = reading_open(reading, &csv->source, 0);
    if (status != ST_OK)
        return status;
    csv->lines = lines_create(csv->source);
    csv->encoders = calloc(schema->column_count, sizeof *csv->encoders);
    csv->cells = calloc(schema->column_count, sizeof *csv->cells);
    csv->places = calloc(schema->column_count, sizeof *csv->places);
    if (csv->lines == NULL || csv->encoders == NULL || csv->cells == NULL ||
        csv->places == NULL)
        return error_set(reading->error, ST_NO_MEMORY, "no memory to read a csv");
    for (size_t i = 0; i < schema->column_count; i++)
        csv->places[i] = i;
    for (size_t i = 0; i < schema->column_count && status == ST_OK; i++)
        status = encoder_init(&csv->encoders[i], &schema->columns[i], reading->error);
    for (size_t i = 0; i < schema->column_count; i++) {
        csv->encoders[i].decimal_comma = schema->dialect.decimal_comma;
        csv->encoders[i].takes_any = reading->takes_any;
    }
    if (reading->takes_any)
        lines_cut_long(csv->lines);
    if (status == ST_OK)
        status = csv_plain_init(&csv->plain, schema, csv->encoders, csv->places,
                                reading->error);
    return status == ST_OK ? reading_begin(reading, ELEMENT_F32) : status;
}

static void csv_close(struct csv *csv)
{
    for (size_t i = 0; csv->encoders != NULL && i < csv->reading->schema->column_count;
         i++)
        encoder_fini(&csv->encoders[i]);
    csv_plain_fini(&csv->plain);
    free(csv->encoders);
    free(csv->cells);
    free(csv->places);
    lines_destroy(csv->lines);
    source_close(csv->source);
}

static enum status read_file(struct reading *reading)
{
    CHECK(schema_label(reading->schema) != NULL);
    struct csv csv = {.reading = reading};
    enum status status = csv_open(&csv);
    if (status == ST_OK)
        status = read_records(&csv);
    if (status == ST_OK && csv.first_fault.line > 0) {
        reading->place = csv.first_fault;
        status = ST_IMPORT_FAILED;
    }
    if (status == ST_OK && csv.records == 0)
        status = reading_refuse(reading, 0, 0, "the file holds no records");
    csv_close(&csv);
    return status;
}

const struct reader csv_reader = {
    .name = "csv",
    .form = FORM_COLUMNS,
    .is_text = true,
    .files = {"data"},
    .read = read_file,
};
