/* How it works: predict_extent finds where a row ends and how many cells it has by
 * counting brackets and commas outside of strings, without parsing anything. A row with
 * the wrong number of cells is refused without parsing, and the message says which
 * columns are counted. The text of any other row is parsed by itself, as JSON of a few
 * kilobytes, and each cell is encoded like a cell of an imported file: read_columns
 * gives texts to the encoders of the columns, read_values uses numbers directly.
 * json_reader.h lists every fault with its pointer inside the row. */
#include "api/requests/predict_cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/json/fault.h"
#include "api/json/json_reader.h"

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
    bool is_blank = true, is_flat = length > 0 && text[0] == '[', done = false;
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

static bool takes_cell(const struct column *column)
{
    return column->kind == COLUMN_NUMERIC || column->kind == COLUMN_CATEGORICAL;
}

/* Refuses the row and lists the cells that are counted. */
static enum status refuse_count(const struct predict_row *row, size_t cells,
                                struct error *error)
{
    const struct schema *schema = row->schema;
    const struct column *first = NULL, *last = NULL;
    struct fault fault = {.kind = FAULT_OUT_OF_RANGE};
    for (size_t i = 0; i < schema->column_count; i++) {
        if (!takes_cell(&schema->columns[i]))
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
                 "has %zu cells, must have %zu: one for each numeric or categorical "
                 "column in the order declared, \"%.40s\" to \"%.40s\", and none for "
                 "the label or an ignored column",
                 cells, row->cells, first->name, last->name);
    return fault_add(error, &fault);
}

/* Reads a number for a numeric column, a string for a categorical one, and null as an
 * empty cell of either. */
static void read_cell(const struct encoder *encoder, float *out, struct json_node node)
{
    struct error local = {0};
    char number[40] = "";
    const char *text = number;
    size_t refusals = json_refusals(node);
    if (!json_is_null(node.value) && encoder->column->kind == COLUMN_CATEGORICAL)
        text = json_read_text(node);
    else if (!json_is_null(node.value))
        snprintf(number, sizeof number, "%.17g", json_read_real(node, json_any_real));
    if (json_refusals(node) > refusals)
        return;
    struct cell cell = {text, strlen(text)};
    if (encoder_features(encoder, out, cell, &local) != ST_OK)
        json_refuse(node, "%s", local.text);
}

static void read_columns(const struct predict_row *row, float *out,
                         const struct json_node *array)
{
    size_t cell = 0;
    for (size_t i = 0; i < row->schema->column_count; i++) {
        const struct column *column = &row->schema->columns[i];
        if (!takes_cell(column))
            continue;
        read_cell(&row->encoders[i], out, json_element(array, cell++));
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

enum status predict_cells_read(const struct predict_row *row, float *out,
                               const char *text, const struct predict_extent *extent,
                               struct error *error)
{
    struct json_reader reader;
    struct json_node array;
    if (extent->cells != row->cells)
        return refuse_count(row, extent->cells, error);
    if (json_reader_open(&reader, &array, text, extent->size, error) == ST_OK) {
        if (schema_has_columns(row->schema))
            read_columns(row, out, &array);
        else
            read_values(row, out, &array);
    }
    return json_reader_close(&reader);
}
