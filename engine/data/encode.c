#include "engine/data/encode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "engine/data/decimal.h"
#include "engine/data/string_index.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct cell trim(struct cell cell)
{
    while (cell.size > 0 && is_blank(cell.text[0])) {
        cell.text++;
        cell.size--;
    }
    while (cell.size > 0 && is_blank(cell.text[cell.size - 1]))
        cell.size--;
    return cell;
}

static bool read_number(double *value, struct cell cell, bool comma)
{
    const char *end = cell.text + cell.size;
    double read;
    const char *read_to = comma ? decimal_read_comma(&read, cell.text, end)
                                : decimal_read(&read, cell.text, end);
    if (read_to != end || !isfinite(read))
        return false;
    *value = read;
    return true;
}

enum status encode_number(double *value, const char *text, size_t size)
{
    return read_number(value, trim((struct cell){text, size}), false) ? ST_OK
                                                                      : ST_INVALID;
}

/* Maps [low, high] to [-1, 1]; clips values outside. */
static float map_range(double value, double low, double high)
{
    if (value <= low)
        return -1;
    if (value >= high)
        return 1;
    double width = high - low;
    if (isfinite(width))
        return (float)(2 * ((value - low) / width) - 1);
    return (float)(2 * ((value / 2 - low / 2) / (high / 2 - low / 2)) - 1);
}

float encode_value(const struct schema *schema, double value)
{
    enum record_form form = schema->reader->form;
    CHECK(form != FORM_COLUMNS);
    if (form == FORM_SHAPED)
        return (float)(value / (double)(float)schema->scale);
    return schema->has_range ? map_range(value, schema->low, schema->high)
                             : (float)value;
}

float encode_column_value(const struct column *column, double value)
{
    return map_range(value, column->low, column->high);
}

float encode_target(const struct schema *schema, double value)
{
    double low, high;
    CHECK(schema_target_range(schema, &low, &high));
    return map_range(value, low, high);
}

enum status encoder_init(struct encoder *encoder, const struct column *column,
                         struct error *error)
{
    *encoder = (struct encoder){.column = column};
    if (column->value_count == 0)
        return ST_OK;
    encoder->values = string_index_create(column->values, column->value_count);
    if (encoder->values == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for the values of a column");
    return ST_OK;
}

void encoder_fini(struct encoder *encoder)
{
    string_index_destroy(encoder->values);
    *encoder = (struct encoder){0};
}

/* Drops the blanks, and replaces an empty cell by the default. */
static enum status resolve(const struct column *column, struct cell *cell,
                           struct error *error)
{
    *cell = trim(*cell);
    if (cell->size == 0 && column->fallback != NULL)
        *cell = trim((struct cell){column->fallback, strlen(column->fallback)});
    if (cell->size == 0)
        return error_set(
            error, ST_INVALID,
            "column \"%.60s\": the cell is empty and no default is declared",
            column->name);
    return ST_OK;
}

/* Reads a cell's number and maps it by the column's range. A default has a point, as
 * numbers in JSON do. */
static enum status resolve_number(const struct encoder *encoder, float *mapped,
                                  struct cell cell, struct error *error)
{
    double value;
    const struct column *column = encoder->column;
    const bool comma = encoder->decimal_comma && trim(cell).size > 0;
    enum status status = resolve(column, &cell, error);
    if (status != ST_OK)
        return status;
    if (!read_number(&value, cell, comma))
        return error_set(error, ST_INVALID,
                         "column \"%.60s\": the cell is not a finite decimal number%s",
                         column->name, comma ? " with a decimal comma" : "");
    *mapped = encode_column_value(column, value);
    return ST_OK;
}

static uint32_t search(const struct column *column, struct cell cell)
{
    for (size_t i = 0; i < column->value_count; i++) {
        if (strlen(column->values[i]) == cell.size &&
            memcmp(column->values[i], cell.text, cell.size) == 0)
            return (uint32_t)i;
    }
    return STRING_INDEX_ABSENT;
}

static enum status resolve_place(const struct encoder *encoder, uint32_t *place,
                                 struct cell cell, struct error *error)
{
    const struct column *column = encoder->column;
    enum status status = resolve(column, &cell, error);
    if (status != ST_OK)
        return status;
    uint32_t found = encoder->values != NULL
                         ? string_index_find(encoder->values, cell.text, cell.size)
                         : search(column, cell);
    if (found == STRING_INDEX_ABSENT)
        return error_set(error, ST_INVALID,
                         "column \"%.60s\": the cell is none of the values declared",
                         column->name);
    *place = found;
    return ST_OK;
}

enum status encoder_features(const struct encoder *encoder, float *out,
                             struct cell cell, struct error *error)
{
    const struct column *column = encoder->column;
    if (column->kind == COLUMN_NUMERIC)
        return resolve_number(encoder, out, cell, error);
    CHECK(column->kind == COLUMN_CATEGORICAL);
    uint32_t place;
    enum status status = resolve_place(encoder, &place, cell, error);
    if (status != ST_OK)
        return status;
    memset(out, 0, column->value_count * sizeof *out);
    out[place] = 1;
    return ST_OK;
}

enum status encoder_class(const struct encoder *encoder, uint32_t *class_index,
                          struct cell cell, struct error *error)
{
    return resolve_place(encoder, class_index, cell, error);
}

enum status encoder_target(const struct encoder *encoder, float *target,
                           struct cell cell, struct error *error)
{
    return resolve_number(encoder, target, cell, error);
}

enum status encode_cell(float *out, const struct column *column, const char *text,
                        size_t size, struct error *error)
{
    struct encoder encoder = {.column = column};
    return encoder_features(&encoder, out, (struct cell){text, size}, error);
}
