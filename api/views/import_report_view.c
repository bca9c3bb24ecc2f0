#include "api/views/import_report_view.h"

#include "api/json/json_writer.h"
#include "engine/data/readers/import_report.h"

static void write_place(struct json_writer *writer, const struct reported_cell *fault)
{
    json_write_object(writer, NULL);
    json_write_count(writer, "line", fault->line);
    json_write_count_if(writer, fault->column > 0, "column", fault->column);
    if (fault->text != NULL)
        json_write_text(writer, "cell", fault->text);
    json_write_text(writer, "reason", fault->reason);
    json_write_object_end(writer);
}

static void write_column(struct json_writer *writer, const struct column_report *column,
                         size_t index)
{
    json_write_object(writer, NULL);
    json_write_text(writer, "name", column->name);
    json_write_count(writer, "index", index);
    json_write_count(writer, "faults", column->faults);
    json_write_array(writer, "cells");
    for (size_t i = 0; i < column->cell_count; i++)
        write_place(writer, &column->cells[i]);
    json_write_array_end(writer);
    json_write_array(writer, "words");
    for (size_t i = 0; i < column->word_count; i++)
        json_write_text(writer, NULL, column->words[i]);
    json_write_array_end(writer);
    json_write_flag(writer, "words_complete", !column->words_left);
    json_write_object_end(writer);
}

void import_report_write(struct json_writer *writer, const struct import_report *report)
{
    json_write_object(writer, "report");
    json_write_count(writer, "faults", report->faults);
    json_write_array(writer, "columns");
    for (size_t i = 0; i < report->column_count; i++)
        if (report->columns[i].faults > 0)
            write_column(writer, &report->columns[i], i);
    json_write_array_end(writer);
    json_write_count(writer, "faulty_lines", report->faulty_lines);
    json_write_array(writer, "lines");
    for (size_t i = 0; i < report->line_count; i++)
        write_place(writer, &report->lines[i]);
    json_write_array_end(writer);
    json_write_object_end(writer);
}
