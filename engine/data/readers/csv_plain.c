/* A number is read from the beginning of its cell, and must be followed by characters
 * that may follow a cell, so the end of the cell need not be found first. A numeric
 * cell that is not a number may be an empty cell with a default. Like the texts of
 * other columns it is cut off, and its encoder decides. */
#include "engine/data/readers/csv_plain.h"

#include <math.h>
#include <string.h>

#include "engine/data/decimal.h"

struct record { /* the record being read */
    const struct table_row *row;
    float *features;
    struct table_target *target;
    const char *end;
    bool decimal_comma;
    char delimiter, second_blank; /* dialect.h */
};

static const char *skip_blanks(const struct record *record, const char *at)
{
    while (at < record->end && (*at == ' ' || *at == record->second_blank))
        at++;
    return at;
}

/* Reads a finite number that fills the cell at text except for blanks around it.
 * Returns the end of the cell, or NULL if there is no such number. */
static const char *read_number(const struct record *record, double *value,
                               const char *text)
{
    const char *at = skip_blanks(record, text);
    at = record->decimal_comma ? decimal_read_comma(value, at, record->end)
                               : decimal_read(value, at, record->end);
    if (at == NULL || !isfinite(*value))
        return NULL;
    at = skip_blanks(record, at);
    return at == record->end || *at == record->delimiter ? at : NULL;
}

static const char *cell_end(const struct record *record, const char *text)
{
    const char *end = memchr(text, record->delimiter, (size_t)(record->end - text));
    return end != NULL ? end : record->end;
}

/* Encodes the cell at *text as a cell of the column. *text is then the cell's end. */
static bool read_cell(const struct record *record, size_t column, const char **text)
{
    const struct table_row *row = record->row;
    double value;
    if (row->encoders[column].is_plain_number) {
        const char *behind = read_number(record, &value, *text);
        if (behind != NULL) {
            record->features[row->offsets[column]] =
                encode_column_value(&row->schema->columns[column], value);
            *text = behind;
            return true;
        }
    }
    struct cell cell = {.text = *text};
    *text = cell_end(record, *text);
    cell.size = (size_t)(*text - cell.text);
    return table_row_encode(row, column, record->features, record->target, cell,
                            NULL) == ST_OK;
}

bool csv_plain_read(const struct csv_plain *plain, float *features,
                    struct table_target *target, const char *text, size_t size)
{
    const struct dialect dialect = plain->row->schema->dialect;
    const struct record record = {plain->row,
                                  features,
                                  target,
                                  text + size,
                                  dialect.decimal_comma,
                                  delimiter_sign(dialect.delimiter),
                                  delimiter_second_blank(dialect.delimiter)};
    for (size_t i = 0; i < plain->cells; i++, text++) {
        if (!read_cell(&record, plain->places[i], &text))
            return false;
        if (text == record.end)
            return i + 1 == plain->cells;
    }
    return false; /* there is a delimiter after the last cell */
}
