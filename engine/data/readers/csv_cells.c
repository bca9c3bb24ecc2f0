#include "engine/data/readers/csv_cells.h"

#include <string.h>

struct csv_cursor csv_cursor_at(const struct line *line)
{
    return (struct csv_cursor){line->text, line->text + line->size, line->number, 0};
}

static void skip_blanks(struct csv_cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t'))
        cursor->at++;
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
        if (cursor->at == cursor->end)
            return reading_refuse(reading, first_line, cursor->column + 1,
                                  "the quoted cell is never closed");
        if (*cursor->at == '"') {
            if (cursor->at + 1 == cursor->end || cursor->at[1] != '"')
                break;
            cursor->at++;
        }
        cursor->line += *cursor->at == '\n';
        *out++ = *cursor->at;
    }
    cursor->at++;
    cell->size = (size_t)(out - cell->text);
    skip_blanks(cursor);
    if (cursor->at < cursor->end && *cursor->at != ',')
        return reading_refuse(reading, cursor->line, cursor->column + 1,
                              "text follows the closing quote");
    return ST_OK;
}

static enum status cut_plain(struct reading *reading, struct csv_cursor *cursor,
                             struct cell *cell)
{
    cell->text = cursor->at;
    while (cursor->at < cursor->end && *cursor->at != ',') {
        if (*cursor->at == '"')
            return reading_refuse(reading, cursor->line, cursor->column + 1,
                                  "a quote stands inside a cell that is not quoted");
        cursor->at++;
    }
    cell->size = (size_t)(cursor->at - cell->text);
    return ST_OK;
}

enum status csv_cells_cut(struct reading *reading, struct csv_cursor *cursor,
                          struct csv_cell *cut)
{
    skip_blanks(cursor);
    cut->line = cursor->line;
    cut->column = cursor->column + 1;
    return cursor->at < cursor->end && *cursor->at == '"'
               ? cut_quoted(reading, cursor, &cut->cell)
               : cut_plain(reading, cursor, &cut->cell);
}

static size_t count_of(const struct line *line, char separator)
{
    size_t count = 0;
    for (size_t i = 0; i < line->size; i++)
        count += line->text[i] == separator;
    return count;
}

const char *csv_cells_separator(const struct reading *reading, const struct line *line)
{
    static const struct {
        char separator;
        const char *name;
    } others[] = {{';', "semicolons"}, {'\t', "tabs"}, {'|', "bars"}};
    size_t count = reading->schema->column_count;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (count > 1 && count_of(line, others[i].separator) == count - 1)
            return others[i].name;
    return NULL;
}

enum status csv_cells_refuse_separator(struct reading *reading, const struct line *line,
                                       const char *name)
{
    return reading_refuse(reading, line->number, 0,
                          "the cells of the line are separated by %s: csv has commas, "
                          "and a point in numbers",
                          name);
}

enum status csv_cells_refuse_count(struct reading *reading, const struct line *line,
                                   size_t cells)
{
    size_t count = reading->schema->column_count;
    const char *other = csv_cells_separator(reading, line);
    if (other != NULL)
        return csv_cells_refuse_separator(reading, line, other);
    return reading_refuse(reading, line->number, 0,
                          "the line has %s%zu cells, %zu columns are declared, the "
                          "label and ignored ones among them",
                          cells > count ? "more than " : "",
                          cells > count ? count : cells, count);
}
