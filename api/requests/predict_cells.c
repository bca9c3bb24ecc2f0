/* How it works: predict_extent finds where a row ends and how many cells it has by
 * counting brackets and commas outside of strings, without parsing anything. A row with
 * the wrong number of cells is refused without parsing, and the message says which
 * columns are counted. The text of any other row is parsed by itself, as JSON of a few
 * kilobytes, and each cell is encoded like a cell of an imported file: read_columns
 * gives texts to the encoders of the columns, read_values uses numbers directly. A row
 * with names is an object, from which read_columns takes each cell by its name.
 * json_reader.h lists every fault with its pointer inside the row. */
#include "api/requests/predict_cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/json/fault.h"
#include "api/json/json_reader.h"
#include "api/limits.h"
#include "base/check.h"

/* Returns the size of the string that starts at text[0] == '"', including its closing
 * quote; 0 if it has none. */
static size_t string_size(const char *text, size_t size)
{
    size_t i = 1;
    while (i < size && text[i] != '"')
        i += text[i] == '\\' ? 2 : 1;
    return i < size ? i + 1 : 0;
}

bool predict_extent(struct predict_extent *extent, const char *text, const char *end)
{
    size_t i = 0, length = (size_t)(end - text), depth = 0, commas = 0;
    bool is_blank = true, done = false;
    bool is_flat = length > 0 && (text[0] == '[' || text[0] == '{');
    while (i < length && !done) {
        bool opens = text[i] == '[' || text[i] == '{';
        bool closes = text[i] == ']' || text[i] == '}';
        if (depth == 0 && (closes || text[i] == ','))
            break; /* after a number, a word or a string */
        commas += depth == 1 && text[i] == ',';
        is_flat = is_flat && !(depth == 1 && opens);
        is_blank =
            is_blank && (depth == 0 || closes || memchr(" \t\r\n", text[i], 4) != NULL);
        depth += opens;
        depth -= closes;
        done = depth == 0 && (closes || text[i] == '"');
        size_t size = text[i] == '"' ? string_size(text + i, length - i) : 1;
        if (size == 0)
            return false;
        i += size;
    }
    *extent = (struct predict_extent){i, is_blank ? 0 : commas + 1, is_flat};
    return depth == 0 && i > 0;
}

/* Refuses the row and lists the cells that are counted. */
static enum status refuse_count(const struct predict_row *row, size_t cells,
                                struct error *error)
{
    const struct schema *schema = row->schema;
    const struct column *first = NULL, *last = NULL;
    struct fault fault = {.kind = FAULT_OUT_OF_RANGE};
    for (size_t i = 0; i < schema->column_count; i++) {
        if (!schema_is_feature(&schema->columns[i]))
            continue;
        first = first == NULL ? &schema->columns[i] : first;
        last = &schema->columns[i];
    }
    if (first == NULL)
        snprintf(fault.text, sizeof fault.text,
                 "has %zu cells, must have %zu: one for each feature of a record",
                 cells, row->cells);
    else
        snprintf(fault.text, sizeof fault.text,
                 "has %zu cells, must have %zu: one for each column that makes "
                 "features in the order declared, \"%.40s\" to \"%.40s\", and none for "
                 "the label or an ignored column",
                 cells, row->cells, first->name, last->name);
    return fault_add(error, &fault);
}

/* Reads a number for a numeric column, true or false for a boolean one, a string for
 * any other, and null as an empty cell of each. */
static void read_cell(const struct encoder *encoder, float *out, struct json_node node)
{
    struct error local = {0};
    char number[40] = "";
    const char *text = number;
    size_t refusals = json_refusals(node);
    if (json_is_null(node.value))
        text = "";
    else if (encoder->column->kind == COLUMN_NUMERIC)
        snprintf(number, sizeof number, "%.17g", json_read_real(node, json_any_real));
    else if (encoder->column->kind == COLUMN_BOOLEAN)
        text = json_read_flag(node) ? "true" : "false";
    else if (encoder->column->kind == COLUMN_TEXT)
        text = json_read_long_text(node, LIMIT_TEXT_CELL);
    else
        text = json_read_text(node);
    if (json_refusals(node) > refusals)
        return;
    struct cell cell = {text, strlen(text)};
    if (encoder_features(encoder, out, cell, &local) != ST_OK)
        json_refuse(node, "%s", local.text);
}

/* Refuses each member that is not the name of a column. Known names are removed from
 * a copy of the object, so that the time is linear in the number of columns. */
static void refuse_unknown_names(const struct predict_row *row,
                                 const struct json_node *object)
{
    const char *name;
    json_t *value, *unknown = json_copy(object->value);
    CHECK(unknown != NULL);
    for (size_t i = 0; i < row->schema->column_count; i++)
        json_object_del(unknown, row->schema->columns[i].name);
    json_object_foreach(unknown, name, value)
    {
        json_refuse_unknown(json_member(object, name),
                            "the dataset declares no column of this name");
    }
    json_decref(unknown);
}

/* Returns the cell of a column. A member that is absent is refused: a name that was
 * forgotten is not an empty cell. */
static struct json_node take_cell(const struct json_node *whole, const char *name,
                                  size_t place)
{
    if (json_is_array(whole->value))
        return json_element(whole, place);
    struct json_node cell = json_member(whole, name);
    if (!json_present(cell))
        json_refuse(cell, "is required; null is an empty cell");
    return cell;
}

static void read_columns(const struct predict_row *row, float *out,
                         const struct json_node *whole)
{
    size_t place = 0;
    for (size_t i = 0; i < row->schema->column_count; i++) {
        const struct column *column = &row->schema->columns[i];
        if (!schema_is_feature(column))
            continue;
        read_cell(&row->encoders[i], out, take_cell(whole, column->name, place++));
        out += schema_column_features(column);
    }
}

static void read_values(const struct predict_row *row, float *out,
                        const struct json_node *array)
{
    for (size_t i = 0; i < row->cells; i++) {
        struct json_node cell = json_element(array, i);
        out[i] = encode_value(row->schema, json_read_real(cell, json_any_real));
        if (!isfinite(out[i]))
            json_refuse(cell, "is too large for this model's input");
    }
}

/* Refuses an object for a record that has no names. */
static enum status refuse_names(const struct predict_row *row, struct error *error)
{
    struct fault fault = {.kind = FAULT_WRONG_TYPE};
    snprintf(fault.text, sizeof fault.text,
             "must be an array of %zu numbers: the values of this dataset's records "
             "have no names",
             row->cells);
    return fault_add(error, &fault);
}

enum status predict_cells_read(const struct predict_row *row, float *out,
                               const char *text, const struct predict_extent *extent,
                               struct error *error)
{
    struct json_reader reader;
    struct json_node whole;
    bool named = text[0] == '{';
    if (named && !schema_has_columns(row->schema))
        return refuse_names(row, error);
    if (!named && extent->cells != row->cells)
        return refuse_count(row, extent->cells, error);
    if (json_reader_open(&reader, &whole, json_text_sized(text, extent->size), error) ==
        ST_OK) {
        if (schema_has_columns(row->schema))
            read_columns(row, out, &whole);
        else
            read_values(row, out, &whole);
        if (named)
            refuse_unknown_names(row, &whole);
    }
    return json_reader_close(&reader);
}
