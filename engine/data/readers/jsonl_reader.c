/* Reads JSON Lines: each line is one JSON object (json_line.h), whose members are the
 * declared columns, in any order. There is one file, data. A member that the object lacks,
 * or that is null, is a missing cell; a text, a number, true and false are cells with that
 * text, as a csv file would have it. As in the header of a csv file, a member that is not
 * declared is refused, and so is one that the line has twice. Lines of blanks only, and a
 * byte order mark at the beginning, are skipped.
 *
 * If the import takes any record (reading.h), a line that is no such object has only
 * missing cells, and members that are not declared are passed. */
#include <stdlib.h>

#include "engine/data/readers/json_line.h"
#include "engine/data/readers/table.h"
#include "engine/data/string_index.h"

struct jsonl {
    struct reading *reading;
    struct table table;
    struct string_index *names; /* of the declared columns */
};

/* Makes all cells missing ones, whose place is the line as a whole. */
static void clear_cells(struct jsonl *jsonl, uint64_t line)
{
    for (size_t i = 0; i < jsonl->reading->schema->column_count; i++)
        jsonl->table.cells[i] = (struct table_cell){{"", 0}, line, 0};
}

static enum status take_member(struct jsonl *jsonl, uint64_t line,
                               const struct json_member *member)
{
    struct reading *reading = jsonl->reading;
    const uint32_t column =
        string_index_find(jsonl->names, member->name.text, member->name.size);
    if (column == STRING_INDEX_ABSENT && reading->takes_any)
        return ST_OK;
    if (column == STRING_INDEX_ABSENT) {
        jsonl->table.shown = member->name;
        return reading_refuse(reading, line, member->name_at,
                              "a member of the line is not declared: declare a column "
                              "of its name, of kind \"ignored\" if it is not needed");
    }
    if (jsonl->table.cells[column].column > 0)
        return reading_refuse(reading, line, member->name_at,
                              "the line has the member \"%.60s\" twice",
                              reading->schema->columns[column].name);
    jsonl->table.cells[column] =
        (struct table_cell){member->value, line, member->value_at};
    return ST_OK;
}

/* Sets the cells of the record on the line. */
static enum status read_cells(struct jsonl *jsonl, const struct line *line)
{
    struct json_line rest = json_line_at(line);
    struct json_member member;
    enum status status = ST_OK;
    clear_cells(jsonl, line->number);
    while (status == ST_OK && json_line_next(&rest, &member))
        status = take_member(jsonl, line->number, &member);
    if (status == ST_OK && rest.fault != NULL)
        status = reading_refuse(jsonl->reading, line->number, json_line_place(&rest),
                                "%s", rest.fault);
    if (status == ST_OK || !jsonl->reading->takes_any)
        return status;
    table_forget(&jsonl->table);
    clear_cells(jsonl, line->number);
    return ST_OK;
}

static enum status add_record(struct jsonl *jsonl, const struct line *line)
{
    table_begin(&jsonl->table);
    enum status status = read_cells(jsonl, line);
    if (status == ST_OK)
        status = table_encode(&jsonl->table);
    return table_add(&jsonl->table, status);
}

static enum status read_records(struct jsonl *jsonl)
{
    struct reading *reading = jsonl->reading;
    for (;;) {
        struct line line;
        bool more;
        enum status status =
            lines_next(jsonl->table.lines, &line, &more, reading->error);
        reading->place.line = line.number;
        if (status != ST_OK || !more)
            return status;
        line_skip_mark(&line);
        if (reading->takes_any ? line.size == 0 : line_is_blank(&line, '\t'))
            continue;
        status = add_record(jsonl, &line);
        if (status != ST_OK)
            return status;
    }
}

static enum status index_names(struct jsonl *jsonl)
{
    const struct schema *schema = jsonl->reading->schema;
    char **names = calloc(schema->column_count, sizeof *names);
    for (size_t i = 0; names != NULL && i < schema->column_count; i++)
        names[i] = schema->columns[i].name;
    if (names != NULL)
        jsonl->names = string_index_create(names, schema->column_count);
    free(names);
    return jsonl->names != NULL
               ? ST_OK
               : error_set(jsonl->reading->error, ST_NO_MEMORY, "no memory for names");
}

static enum status read_file(struct reading *reading)
{
    struct jsonl jsonl = {.reading = reading};
    enum status status = table_open(&jsonl.table, reading);
    if (status == ST_OK)
        status = index_names(&jsonl);
    if (status == ST_OK)
        status = read_records(&jsonl);
    if (status == ST_OK)
        status = table_end(&jsonl.table);
    string_index_destroy(jsonl.names);
    table_close(&jsonl.table);
    return status;
}

const struct reader jsonl_reader = {
    .name = "jsonl",
    .form = FORM_COLUMNS,
    .is_text = true,
    .files = {"data"},
    .read = read_file,
};
