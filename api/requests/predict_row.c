#include "api/requests/predict_row.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "api/limits.h"
#include "engine/data/decimal.h"

enum { WHOLE_DIGITS_MAX = 18 }; /* any such number is an int64 */

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

static bool is_digit(const char *at, const char *end)
{
    return at < end && (unsigned char)(*at - '0') < 10;
}

static const char *skip_digits(const char *at, const char *end)
{
    while (is_digit(at, end))
        at++;
    return at;
}

/* Reads a whole number like jansson, which reads it as an integer, so that -0 is 0. */
static double whole_value(const char *first, const char *end, bool negative)
{
    int64_t value = 0;
    for (const char *at = first; at < end; at++)
        value = value * 10 + (*at - '0');
    return (double)(negative ? -value : value);
}

/* Reads a number of JSON (RFC 8259, 6). Returns its end, or NULL. */
static const char *read_number(double *value, const char *text, const char *end)
{
    const char *first = text + (text < end && *text == '-');
    const char *at = skip_digits(first, end);
    if (at == first || at - first > WHOLE_DIGITS_MAX ||
        (*first == '0' && at - first > 1))
        return NULL;
    bool whole = true;
    if (at < end && *at == '.') {
        const char *fraction = at + 1;
        at = skip_digits(fraction, end);
        if (at == fraction)
            return NULL;
        whole = false;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        const char *power = at + 1;
        power += power < end && (*power == '+' || *power == '-');
        at = skip_digits(power, end);
        if (at == power)
            return NULL;
        whole = false;
    }
    if (whole) {
        *value = whole_value(first, at, first > text);
        return at;
    }
    return decimal_read(value, text, at) == at && isfinite(*value) ? at : NULL;
}

/* Reads a text in quotes without escapes. Returns the position after it, or NULL. */
static const char *read_text(struct cell *cell, size_t size_max, const char *text,
                             const char *end)
{
    const char *at = text + 1;
    while (at < end && *at >= ' ' && *at <= '~' && *at != '"' && *at != '\\')
        at++;
    if (at == end || *at != '"' || (size_t)(at - text - 1) > size_max)
        return NULL;
    *cell = (struct cell){text + 1, (size_t)(at - text - 1)};
    return at + 1;
}

/* Returns the position after the word at text, or NULL. */
static const char *pass_word(const char *text, const char *end, const char *word)
{
    const size_t size = strlen(word);
    return (size_t)(end - text) >= size && memcmp(text, word, size) == 0 ? text + size
                                                                         : NULL;
}

static const char *read_flag(struct cell *cell, const char *text, const char *end)
{
    static const char *const flags[] = {"true", "false"};
    for (size_t i = 0; i < 2; i++) {
        const char *behind = pass_word(text, end, flags[i]);
        *cell = (struct cell){flags[i], strlen(flags[i])};
        if (behind != NULL)
            return behind;
    }
    return NULL;
}

/* Reads a cell of a column in the form that the encoder takes. */
static const char *read_cell(struct cell *cell, enum column_kind kind, const char *text,
                             const char *end)
{
    double value;
    const char *behind = pass_word(text, end, "null");
    if (behind != NULL) {
        *cell = (struct cell){"", 0};
        return behind;
    }
    if (kind == COLUMN_BOOLEAN)
        return read_flag(cell, text, end);
    if (kind != COLUMN_NUMERIC)
        return text < end && *text == '"'
                   ? read_text(cell, kind == COLUMN_TEXT ? LIMIT_TEXT_CELL : LIMIT_TEXT,
                               text, end)
                   : NULL;
    behind = read_number(&value, text, end);
    if (behind != NULL)
        *cell = (struct cell){text, (size_t)(behind - text)};
    return behind;
}

/* Returns the position after the separator that must follow a cell, or NULL. */
static const char *pass_separator(const char *at, const char *end, bool last)
{
    at = skip_blanks(at, end);
    return at < end && *at == (last ? ']' : ',') ? at + 1 : NULL;
}

static const char *read_columns(const struct predict_row *row, float *out,
                                const char *at, const char *end)
{
    size_t left = row->cells;
    for (size_t i = 0; i < row->schema->column_count && at != NULL; i++) {
        const struct column *column = &row->schema->columns[i];
        struct cell cell;
        if (!schema_is_feature(column))
            continue;
        at = read_cell(&cell, column->kind, skip_blanks(at, end), end);
        if (at == NULL || encoder_features(&row->encoders[i], out, cell, NULL) != ST_OK)
            return NULL;
        out += schema_column_features(column);
        at = pass_separator(at, end, --left == 0);
    }
    return at;
}

static const char *read_values(const struct predict_row *row, float *out,
                               const char *at, const char *end)
{
    for (size_t i = 0; i < row->cells && at != NULL; i++) {
        double value;
        at = read_number(&value, skip_blanks(at, end), end);
        if (at == NULL)
            return NULL;
        out[i] = encode_value(row->schema, value);
        if (!isfinite(out[i]))
            return NULL;
        at = pass_separator(at, end, i + 1 == row->cells);
    }
    return at;
}

const char *predict_row_read(const struct predict_row *row, float *out,
                             const char *text, const char *end)
{
    if (row->cells == 0) /* [] has no cell that could end it */
        return NULL;
    return schema_has_columns(row->schema) ? read_columns(row, out, text + 1, end)
                                           : read_values(row, out, text + 1, end);
}
