#include "engine/data/readers/csv_cells.h"

#include <stdio.h>
#include <string.h>

struct csv_cursor csv_cursor_at(const struct line *line)
{
    return (struct csv_cursor){line->text, line->text + line->size, line->number, 0};
}

static char delimiter_of(const struct reading *reading)
{
    return delimiter_sign(reading->schema->dialect.delimiter);
}

static void skip_blanks(const struct reading *reading, struct csv_cursor *cursor)
{
    const char second = delimiter_second_blank(reading->schema->dialect.delimiter);
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == second))
        cursor->at++;
}

/* Returns whether a line ends at the cursor: a carriage return before a line feed ends
 * it together with that. */
static bool ends_line(const struct csv_cursor *cursor)
{
    const char *at = cursor->at;
    return *at == '\n' || (*at == '\r' && !(at + 1 < cursor->end && at[1] == '\n'));
}

/* Makes doubled quotes single and moves the text between the quotes to the beginning of
 * the cell. */
static enum status cut_quoted(struct reading *reading, struct csv_cursor *cursor,
                              struct cell *cell)
{
    uint64_t first_line = cursor->line;
    char *out = ++cursor->at;
    cell->text = out;
    for (;; cursor->at++) {
        if (cursor->at == cursor->end && reading->takes_any) {
            cell->size = (size_t)(out - cell->text);
            return ST_OK;
        }
        if (cursor->at == cursor->end)
            return reading_refuse(reading, first_line, cursor->column + 1,
                                  "the quoted cell is never closed");
        if (*cursor->at == '"') {
            if (cursor->at + 1 == cursor->end || cursor->at[1] != '"')
                break;
            cursor->at++;
        }
        cursor->line += ends_line(cursor);
        *out++ = *cursor->at;
    }
    cursor->at++;
    cell->size = (size_t)(out - cell->text);
    skip_blanks(reading, cursor);
    while (reading->takes_any && cursor->at < cursor->end &&
           *cursor->at != delimiter_of(reading))
        cursor->at++;
    if (cursor->at < cursor->end && *cursor->at != delimiter_of(reading))
        return reading_refuse(reading, cursor->line, cursor->column + 1,
                              "text follows the closing quote");
    return ST_OK;
}

static enum status cut_plain(struct reading *reading, struct csv_cursor *cursor,
                             struct cell *cell)
{
    const char delimiter = delimiter_of(reading);
    cell->text = cursor->at;
    while (cursor->at < cursor->end && *cursor->at != delimiter) {
        if (*cursor->at == '"' && !reading->takes_any)
            return reading_refuse(reading, cursor->line, cursor->column + 1,
                                  "a quote stands inside a cell that is not quoted");
        cursor->at++;
    }
    cell->size = (size_t)(cursor->at - cell->text);
    return ST_OK;
}

enum status csv_cells_cut(struct reading *reading, struct csv_cursor *cursor,
                          struct table_cell *cut)
{
    skip_blanks(reading, cursor);
    cut->line = cursor->line;
    cut->column = cursor->column + 1;
    return cursor->at < cursor->end && *cursor->at == '"'
               ? cut_quoted(reading, cursor, &cut->cell)
               : cut_plain(reading, cursor, &cut->cell);
}

enum status csv_cells_cut_all(struct reading *reading, const struct line *line,
                              struct table_cell *cells, const size_t *places,
                              size_t count)
{
    struct csv_cursor cursor = csv_cursor_at(line);
    for (;; cursor.column++, cursor.at++) {
        if (cursor.column == count)
            return csv_cells_refuse_count(reading, line, count + 1);
        enum status status =
            csv_cells_cut(reading, &cursor, &cells[places[cursor.column]]);
        if (status != ST_OK)
            return status;
        if (cursor.at == cursor.end)
            break;
    }
    if (cursor.column + 1 < count)
        return csv_cells_refuse_count(reading, line, cursor.column + 1);
    return ST_OK;
}

static size_t count_of(const struct line *line, char separator)
{
    size_t count = 0;
    for (size_t i = 0; i < line->size; i++)
        count += line->text[i] == separator;
    return count;
}

bool csv_cells_find_delimiter(enum delimiter *other, const struct reading *reading,
                              const struct line *line)
{
    size_t count = reading_cells(reading);
    for (int i = 0; i < DELIMITER_COUNT; i++) {
        *other = (enum delimiter)i;
        if (*other != reading->schema->dialect.delimiter && count > 1 &&
            count_of(line, delimiter_sign(*other)) == count - 1)
            return true;
    }
    return false;
}

enum status csv_cells_refuse_delimiter(struct reading *reading, const struct line *line,
                                       enum delimiter other)
{
    return reading_refuse(reading, line->number, 0,
                          "the cells of the line are separated by %s, not by %s as "
                          "declared: declare this with \"delimiter\"%s",
                          delimiter_name(other),
                          delimiter_name(reading->schema->dialect.delimiter),
                          reading->schema->dialect.decimal_comma
                              ? ""
                              : ", and \"decimal\" if numbers have a comma");
}

/* Writes what the cells of a line are. */
static void describe_cells(char *text, size_t size, const struct reading *reading)
{
    size_t declared = reading->schema->column_count, cells = reading_cells(reading);
    if (!reading->predicts)
        snprintf(text, size,
                 "%zu columns are declared, the label and ignored ones among them",
                 declared);
    else if (reading->cells > 0)
        snprintf(text, size, "the first line has %zu", cells);
    else
        snprintf(
            text, size,
            "a row has the %zu declared columns, or only the %u that make features",
            declared, schema_cells(reading->schema));
}

enum status csv_cells_refuse_count(struct reading *reading, const struct line *line,
                                   size_t cells)
{
    char expected[160];
    size_t count = reading_cells(reading);
    const bool lone = cells == 1 && count > 1;
    enum delimiter other;
    if (csv_cells_find_delimiter(&other, reading, line))
        return csv_cells_refuse_delimiter(reading, line, other);
    describe_cells(expected, sizeof expected, reading);
    return reading_refuse(
        reading, line->number, 0, "the line has %s%zu cells, %s%s%s%s",
        cells > count ? "more than " : "", cells > count ? count : cells, expected,
        lone ? "; it contains no " : "",
        lone ? delimiter_name(reading->schema->dialect.delimiter) : "",
        lone ? ", the delimiter" : "");
}
