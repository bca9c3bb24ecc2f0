#include "api/predict_request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json_reader.h"
#include "api/json_writer.h"
#include "api/limits.h"
#include "engine/data/encode.h"

/* Rows are read one at a time, so that memory holds the features of all and the JSON of
 * one: a body of 64 MiB as a tree of cells would be twenty times its size. */
struct rows {
    const char *body, *at, *end;
    const struct schema *schema;
    struct encoder *encoders; /* of csv, one a column */
    size_t cells, features, capacity;
    struct predict_request *request;
    struct error *error;
};

static const struct json_range any_real = {-INFINITY, INFINITY, false, false};

static void skip_blanks(struct rows *rows)
{
    while (rows->at < rows->end && memchr(" \t\r\n", *rows->at, 4) != NULL)
        rows->at++;
}

static bool take(struct rows *rows, char c)
{
    skip_blanks(rows);
    if (rows->at == rows->end || *rows->at != c)
        return false;
    rows->at++;
    return true;
}

/* A body of the size of other requests is read once more, whole, to name the member. */
static enum status refuse_frame(struct rows *rows)
{
    struct json_reader reader;
    struct json_node root;
    size_t size = (size_t)(rows->end - rows->body);
    if (size <= LIMIT_JSON_BODY) {
        if (json_reader_open(&reader, &root, rows->body, size, rows->error) == ST_OK) {
            json_read_object(root, (const char *const[]){"inputs", NULL});
            json_read_array(json_member(&root, "inputs"), 1, LIMIT_PREDICT_ROWS);
        }
        enum status status = json_reader_close(&reader);
        if (status != ST_OK)
            return status;
    }
    return error_set(rows->error, ST_INVALID,
                     "must be {\"inputs\":[[cells...],...]} and no more");
}

static enum status refuse_row(struct rows *rows, const char *pointer, const char *text)
{
    char whole[sizeof rows->error->pointer];
    snprintf(whole, sizeof whole, "/inputs/%zu%.60s", rows->request->rows, pointer);
    return error_set_at(rows->error, ST_INVALID, whole, "%s", text);
}

/* The row that starts here: where it ends, and how many cells it seems to have. False:
 * it does not end, or holds another container. */
static bool measure_row(const struct rows *rows, size_t *size, size_t *cells)
{
    const char *text = rows->at;
    size_t i = 1, length = (size_t)(rows->end - text), commas = 0;
    bool blank = true;
    for (; i < length && text[i] != ']'; i++) {
        if (text[i] == '[' || text[i] == '{')
            return false;
        commas += text[i] == ',';
        blank = blank && memchr(" \t\r\n", text[i], 4) != NULL;
        if (text[i] == '"')
            for (i++; i < length && text[i] != '"'; i++)
                i += text[i] == '\\';
    }
    *size = i + 1;
    *cells = blank ? 0 : commas + 1;
    return i < length;
}

static enum status reserve_row(struct rows *rows)
{
    struct predict_request *request = rows->request;
    size_t classes = rows->schema->classes;
    size_t width = rows->features > classes ? rows->features : classes;
    if (request->rows == LIMIT_PREDICT_ROWS)
        return error_set_at(rows->error, ST_INVALID, "/inputs", "has more than %d rows",
                            LIMIT_PREDICT_ROWS);
    if ((request->rows + 1) * width > LIMIT_PREDICT_VALUES)
        return error_set_at(rows->error, ST_INVALID, "/inputs",
                            "has more than %zu rows, the most for this model's size",
                            LIMIT_PREDICT_VALUES / width);
    if (request->rows < rows->capacity)
        return ST_OK;
    size_t capacity = rows->capacity > 0 ? 2 * rows->capacity : 16;
    float *grown =
        reallocarray(request->features, capacity, rows->features * sizeof *grown);
    if (grown == NULL)
        return error_set(rows->error, ST_NO_MEMORY, "no memory for the rows");
    request->features = grown;
    rows->capacity = capacity;
    return ST_OK;
}

/* A number for a numeric column, a string for a categorical one, null for an empty
 * cell. */
static void read_cell(const struct encoder *encoder, float *out, struct json_node node)
{
    struct error local = {0};
    char number[40] = "";
    const char *text = number;
    if (!json_is_null(node.value) && encoder->column->kind == COLUMN_CATEGORICAL)
        text = json_read_text(node);
    else if (!json_is_null(node.value))
        snprintf(number, sizeof number, "%.17g", json_read_real(node, any_real));
    if (json_refused(node))
        return;
    struct cell cell = {text, strlen(text)};
    if (encoder_features(encoder, out, cell, &local) != ST_OK)
        json_refuse(node, "%s", local.text);
}

static void read_columns(const struct rows *rows, float *out,
                         const struct json_node *row)
{
    size_t cell = 0;
    for (size_t i = 0; i < rows->schema->column_count; i++) {
        const struct column *column = &rows->schema->columns[i];
        if (column->kind != COLUMN_NUMERIC && column->kind != COLUMN_CATEGORICAL)
            continue;
        read_cell(&rows->encoders[i], out, json_element(row, cell++));
        out += encode_width(column);
    }
}

static void read_values(const struct rows *rows, float *out,
                        const struct json_node *row)
{
    for (size_t i = 0; i < rows->cells; i++) {
        struct json_node cell = json_element(row, i);
        double value = json_read_real(cell, any_real);
        if (json_refused(cell))
            return;
        out[i] = encode_value(rows->schema, value);
        if (!isfinite(out[i]))
            json_refuse(cell, "is too large for this model's input");
    }
}

static enum status read_row(struct rows *rows)
{
    struct predict_request *request = rows->request;
    struct json_reader reader;
    struct json_node row;
    struct error local = {0};
    size_t size, cells;
    char text[64];
    if (!measure_row(rows, &size, &cells))
        return refuse_row(rows, "", "must be an array of numbers and strings");
    snprintf(text, sizeof text, "must have %zu cells", rows->cells);
    if (cells != rows->cells)
        return refuse_row(rows, "", text);
    enum status status = reserve_row(rows);
    if (status != ST_OK)
        return status;
    if (json_reader_open(&reader, &row, rows->at, size, &local) == ST_OK) {
        float *out = request->features + request->rows * rows->features;
        if (rows->schema->format == FORMAT_CSV)
            read_columns(rows, out, &row);
        else
            read_values(rows, out, &row);
    }
    if (json_reader_close(&reader) != ST_OK)
        return refuse_row(rows, local.pointer, local.text);
    rows->at += size;
    request->rows++;
    return ST_OK;
}

/* {"inputs":[ as the only way to begin. */
static bool read_head(struct rows *rows)
{
    static const char name[] = "\"inputs\"";
    if (!take(rows, '{'))
        return false;
    skip_blanks(rows);
    if ((size_t)(rows->end - rows->at) < sizeof name - 1 ||
        memcmp(rows->at, name, sizeof name - 1) != 0)
        return false;
    rows->at += sizeof name - 1;
    return take(rows, ':') && take(rows, '[');
}

static enum status read_rows(struct rows *rows)
{
    if (!read_head(rows))
        return refuse_frame(rows);
    do {
        skip_blanks(rows);
        if (rows->at == rows->end || *rows->at != '[')
            return refuse_row(rows, "", "must be an array of cells");
        enum status status = read_row(rows);
        if (status != ST_OK)
            return status;
    } while (take(rows, ','));
    if (!take(rows, ']') || !take(rows, '}'))
        return refuse_frame(rows);
    skip_blanks(rows);
    return rows->at == rows->end ? ST_OK : refuse_frame(rows);
}

static enum status open_encoders(struct rows *rows)
{
    size_t count = rows->schema->column_count;
    enum status status = ST_OK;
    rows->encoders = calloc(count > 0 ? count : 1, sizeof *rows->encoders);
    if (rows->encoders == NULL)
        return error_set(rows->error, ST_NO_MEMORY, "no memory for the columns");
    for (size_t i = 0; i < count && status == ST_OK; i++)
        status =
            encoder_init(&rows->encoders[i], &rows->schema->columns[i], rows->error);
    return status;
}

static void close_encoders(struct rows *rows)
{
    for (size_t i = 0; rows->encoders != NULL && i < rows->schema->column_count; i++)
        encoder_fini(&rows->encoders[i]);
    free(rows->encoders);
}

enum status predict_request_parse(struct predict_request *request, const char *body,
                                  size_t size, const struct schema *schema,
                                  struct error *error)
{
    struct predict_request read = {0};
    struct rows rows = {.body = body,
                        .at = body,
                        .end = body + size,
                        .schema = schema,
                        .cells = schema_cells(schema),
                        .features = schema_features(schema),
                        .request = &read,
                        .error = error};
    enum status status = open_encoders(&rows);
    if (status == ST_OK)
        status = read_rows(&rows);
    close_encoders(&rows);
    if (status == ST_OK)
        *request = read;
    else
        predict_request_fini(&read);
    return status;
}

void predict_request_fini(struct predict_request *request)
{
    free(request->features);
    memset(request, 0, sizeof *request);
}

/* The class as declared: a number in idx and libsvm, a text in csv. */
static void write_class(struct json_writer *writer, const struct schema *schema,
                        uint32_t class_index)
{
    char name[LIMIT_TEXT + 1];
    schema_class_name(schema, class_index, name, sizeof name);
    if (schema->format == FORMAT_CSV)
        json_write_text(writer, "class", name);
    else
        json_write_raw(writer, "class", name);
}

static void write_output(struct json_writer *writer, const struct schema *schema,
                         const double *output)
{
    uint32_t best = 0;
    json_write_object(writer, NULL);
    if (schema->task == TASK_REGRESSION) {
        json_write_real(writer, "value", schema_target(schema, output[0]));
    } else {
        for (uint32_t i = 1; i < schema->classes; i++)
            if (output[i] > output[best])
                best = i;
        write_class(writer, schema, best);
        json_write_reals(writer, "probabilities", output, schema->classes);
    }
    json_write_object_end(writer);
}

char *predict_render(const struct schema *schema, const double *outputs, size_t rows)
{
    struct json_writer writer;
    size_t width = schema->task == TASK_REGRESSION ? 1 : schema->classes;
    json_writer_open(&writer, JSON_SHOWN);
    json_write_object(&writer, NULL);
    json_write_array(&writer, "outputs");
    for (size_t i = 0; i < rows; i++)
        write_output(&writer, schema, outputs + i * width);
    json_write_array_end(&writer);
    json_write_object_end(&writer);
    return json_writer_finish(&writer);
}
