#include "engine/data/readers/table.h"

#include <stdlib.h>

#include "base/check.h"
#include "engine/data/readers/import_report.h"
#include "engine/data/readers/persons.h"

enum status table_open(struct table *table, struct reading *reading)
{
    const struct schema *schema = reading->schema;
    CHECK(schema_label(schema) != NULL);
    *table = (struct table){.reading = reading};
    enum status status = reading_open(reading, &table->source, 0);
    if (status != ST_OK)
        return status;
    table->lines = lines_create(table->source);
    table->cells = calloc(schema->column_count, sizeof *table->cells);
    if (table->lines == NULL || table->cells == NULL)
        return error_set(reading->error, ST_NO_MEMORY, "no memory to read a table");
    if (reading->takes_any)
        lines_cut_long(table->lines);
    status = table_row_init(&table->row, schema, reading->takes_any, reading->error);
    if (status != ST_OK)
        return status;
    table_row_set_tokenizer(&table->row, reading->tokenizer);
    return reading_begin(reading, ELEMENT_F32);
}

void table_close(struct table *table)
{
    table_row_fini(&table->row);
    free(table->cells);
    lines_destroy(table->lines);
    source_close(table->source);
}

void table_begin(struct table *table)
{
    size_t room;
    const struct import_report *report = table->reading->report;
    table->floats = matrix_writer_rows(table->reading->writer, &room);
    table->faults_before = report != NULL ? import_report_faults(report) : 0;
    table->shown = (struct cell){0};
    table->records++;
}

/* Refuses a cell that its encoder has refused. */
static enum status refuse_cell(struct table *table, size_t column)
{
    const struct table_cell *cut = &table->cells[column];
    struct reading *reading = table->reading;
    struct cell_fault fault = {.column = column,
                               .line = cut->line,
                               .place = cut->column,
                               .reason = table->reason.text};
    fault.is_word =
        encoder_lacks_word(&table->row.encoders[column], &fault.cell, cut->cell);
    if (reading->report != NULL)
        import_report_add_cell(reading->report, &fault);
    enum status status =
        reading_refuse(reading, cut->line, cut->column, "%s", table->reason.text);
    table->reason = (struct error){0};
    return status;
}

enum status table_encode(struct table *table)
{
    struct reading *reading = table->reading;
    struct reading_place first = {0};
    for (size_t i = 0; i < reading->schema->column_count; i++) {
        if (table_row_encode(&table->row, i, table->floats, &table->target,
                             table->cells[i].cell, &table->reason) == ST_OK)
            continue;
        CHECK(!reading->takes_any);
        enum status status = refuse_cell(table, i);
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

void table_forget(struct table *table)
{
    *table->reading->error = (struct error){0};
    table->first_place = (struct reading_place){0};
    if (table->reading->report != NULL)
        import_report_clear(table->reading->report);
}

/* Adds the fault of the current record to the report, unless its cells are there
 * already. */
static void report_fault(struct table *table)
{
    struct reading *reading = table->reading;
    const struct reading_place place = reading->place;
    if (import_report_faults(reading->report) == table->faults_before)
        import_report_add_line(reading->report, place.line, place.column, table->shown,
                               reading->error->text);
    if (table->first_place.line == 0) {
        table->first_place = place;
        table->first_fault = *reading->error;
    }
    *reading->error = (struct error){0};
}

enum status table_add(struct table *table, enum status status)
{
    struct reading *reading = table->reading;
    struct matrix_writer *writer = reading->writer;
    if (status == ST_IMPORT_FAILED && reading->report != NULL) {
        report_fault(table);
        return ST_OK;
    }
    if (status == ST_OK)
        status = reading->schema->task == TASK_REGRESSION
                     ? matrix_writer_value(writer, table->target.value, reading->error)
                     : matrix_writer_class(writer, table->target.class_index,
                                           reading->error);
    if (status == ST_OK && reading->persons != NULL)
        status = persons_add(reading->persons, table->target.id, reading->error);
    return status == ST_OK ? matrix_writer_advance(writer, 1, reading->error) : status;
}

enum status table_end(struct table *table)
{
    struct reading *reading = table->reading;
    if (table->first_place.line > 0) {
        reading->place = table->first_place;
        *reading->error = table->first_fault;
        return ST_IMPORT_FAILED;
    }
    return table->records > 0
               ? ST_OK
               : reading_refuse(reading, 0, 0, "the file holds no records");
}
