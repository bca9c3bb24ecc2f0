#include "api/predict_request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json_reader.h"
#include "api/limits.h"
#include "api/predict_row.h"
#include "base/check.h"
#include "engine/data/encode.h"

struct predict_request {
    const char *body, *at, *end;
    const struct schema *schema;
    struct encoder *encoders; /* of csv, one a column */
    struct predict_row form;
    size_t rows, rows_max; /* read, and the most that limits allow */
    bool ended;
    struct error *error; /* of the call that is under way */
};

static const struct json_range any_real = {-INFINITY, INFINITY, false, false};

static void skip_blanks(struct predict_request *request)
{
    while (request->at < request->end && memchr(" \t\r\n", *request->at, 4) != NULL)
        request->at++;
}

static bool take(struct predict_request *request, char c)
{
    skip_blanks(request);
    if (request->at == request->end || *request->at != c)
        return false;
    request->at++;
    return true;
}

/* A body of the size of other requests is read once more, whole, to name the member. */
static enum status refuse_frame(struct predict_request *request)
{
    struct json_reader reader;
    struct json_node root;
    size_t size = (size_t)(request->end - request->body);
    if (size <= LIMIT_JSON_BODY) {
        if (json_reader_open(&reader, &root, request->body, size, request->error) ==
            ST_OK) {
            json_read_object(root, (const char *const[]){"inputs", NULL});
            json_read_array(json_member(&root, "inputs"), 1, LIMIT_PREDICT_ROWS);
        }
        enum status status = json_reader_close(&reader);
        if (status != ST_OK)
            return status;
    }
    return error_set(request->error, ST_INVALID,
                     "must be {\"inputs\":[[cells...],...]} and no more");
}

static enum status refuse_row(struct predict_request *request, const char *pointer,
                              const char *text)
{
    char whole[sizeof request->error->pointer];
    snprintf(whole, sizeof whole, "/inputs/%zu%.60s", request->rows, pointer);
    return error_set_at(request->error, ST_INVALID, whole, "%s", text);
}

/* The row that starts here: where it ends, and how many cells it seems to have. False:
 * it does not end, or holds another container. */
static bool measure_row(const struct predict_request *request, size_t *size,
                        size_t *cells)
{
    const char *text = request->at;
    size_t i = 1, length = (size_t)(request->end - text), commas = 0;
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

static enum status check_room(const struct predict_request *request)
{
    if (request->rows < request->rows_max)
        return ST_OK;
    if (request->rows_max == LIMIT_PREDICT_ROWS)
        return error_set_at(request->error, ST_INVALID, "/inputs",
                            "has more than %d rows", LIMIT_PREDICT_ROWS);
    return error_set_at(request->error, ST_INVALID, "/inputs",
                        "has more than %zu rows, the most for this model's size",
                        request->rows_max);
}

static bool takes_cell(const struct column *column)
{
    return column->kind == COLUMN_NUMERIC || column->kind == COLUMN_CATEGORICAL;
}

/* Says which cells are counted. */
static enum status refuse_count(struct predict_request *request, size_t cells)
{
    const struct schema *schema = request->schema;
    const struct column *first = NULL, *last = NULL;
    char text[sizeof request->error->text];
    for (size_t i = 0; i < schema->column_count; i++) {
        if (!takes_cell(&schema->columns[i]))
            continue;
        first = first == NULL ? &schema->columns[i] : first;
        last = &schema->columns[i];
    }
    if (first == NULL)
        snprintf(text, sizeof text,
                 "has %zu cells, must have %zu: one for each feature of a record",
                 cells, request->form.cells);
    else
        snprintf(text, sizeof text,
                 "has %zu cells, must have %zu: one for each numeric or categorical "
                 "column in the order declared, \"%.40s\" to \"%.40s\", and none for "
                 "the label or an ignored column",
                 cells, request->form.cells, first->name, last->name);
    return refuse_row(request, "", text);
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

static void read_columns(const struct predict_request *request, float *out,
                         const struct json_node *row)
{
    size_t cell = 0;
    for (size_t i = 0; i < request->schema->column_count; i++) {
        const struct column *column = &request->schema->columns[i];
        if (!takes_cell(column))
            continue;
        read_cell(&request->encoders[i], out, json_element(row, cell++));
        out += encode_width(column);
    }
}

static void read_values(const struct predict_request *request, float *out,
                        const struct json_node *row)
{
    for (size_t i = 0; i < request->form.cells; i++) {
        struct json_node cell = json_element(row, i);
        double value = json_read_real(cell, any_real);
        if (json_refused(cell))
            return;
        out[i] = encode_value(request->schema, value);
        if (!isfinite(out[i]))
            json_refuse(cell, "is too large for this model's input");
    }
}

/* A row as strict JSON: slow, and able to say what is wrong. */
static enum status read_strictly(struct predict_request *request, float *out)
{
    struct json_reader reader;
    struct json_node row;
    struct error local = {0};
    size_t size, cells;
    if (!measure_row(request, &size, &cells))
        return refuse_row(request, "", "must be an array of numbers and strings");
    if (cells != request->form.cells)
        return refuse_count(request, cells);
    if (json_reader_open(&reader, &row, request->at, size, &local) == ST_OK) {
        if (request->schema->format == FORMAT_CSV)
            read_columns(request, out, &row);
        else
            read_values(request, out, &row);
    }
    if (json_reader_close(&reader) != ST_OK)
        return refuse_row(request, local.pointer, local.text);
    request->at += size;
    return ST_OK;
}

static enum status read_row(struct predict_request *request, float *out)
{
    skip_blanks(request);
    if (request->at == request->end || *request->at != '[')
        return refuse_row(request, "", "must be an array of cells");
    enum status status = check_room(request);
    if (status != ST_OK)
        return status;
    const char *behind =
        predict_row_read(&request->form, out, request->at, request->end);
    if (behind != NULL)
        request->at = behind;
    else
        status = read_strictly(request, out);
    request->rows += status == ST_OK;
    return status;
}

/* {"inputs":[ as the only way to begin. */
static bool read_head(struct predict_request *request)
{
    static const char name[] = "\"inputs\"";
    if (!take(request, '{'))
        return false;
    skip_blanks(request);
    if ((size_t)(request->end - request->at) < sizeof name - 1 ||
        memcmp(request->at, name, sizeof name - 1) != 0)
        return false;
    request->at += sizeof name - 1;
    return take(request, ':') && take(request, '[');
}

/* Behind a row: the next one, or the end of the whole. */
static enum status pass_row(struct predict_request *request)
{
    if (take(request, ','))
        return ST_OK;
    if (!take(request, ']') || !take(request, '}'))
        return refuse_frame(request);
    skip_blanks(request);
    if (request->at != request->end)
        return refuse_frame(request);
    request->ended = true;
    return ST_OK;
}

static enum status open_encoders(struct predict_request *request)
{
    size_t count = request->schema->column_count;
    enum status status = ST_OK;
    request->encoders = calloc(count > 0 ? count : 1, sizeof *request->encoders);
    if (request->encoders == NULL)
        return error_set(request->error, ST_NO_MEMORY, "no memory for the columns");
    for (size_t i = 0; i < count && status == ST_OK; i++)
        status = encoder_init(&request->encoders[i], &request->schema->columns[i],
                              request->error);
    return status;
}

/* One row is always taken. */
static size_t rows_allowed(const struct predict_body *body, size_t features)
{
    size_t classes = body->schema->classes;
    size_t most = LIMIT_PREDICT_VALUES / (features > classes ? features : classes);
    if (body->row_flops * (double)most > LIMIT_PREDICT_FLOPS)
        most = (size_t)(LIMIT_PREDICT_FLOPS / body->row_flops);
    if (most > LIMIT_PREDICT_ROWS)
        return LIMIT_PREDICT_ROWS;
    return most > 0 ? most : 1;
}

size_t predict_rows_most(size_t size, const struct schema *schema)
{
    size_t cells = schema_cells(schema);
    size_t row = 2 * (cells > 0 ? cells : 1) + 1; /* cells of a digit, and marks */
    size_t most = size / row + 1;
    return most < LIMIT_PREDICT_ROWS ? most : LIMIT_PREDICT_ROWS;
}

enum status predict_request_open(struct predict_request **out,
                                 const struct predict_body *body, struct error *error)
{
    struct predict_request *request = calloc(1, sizeof *request);
    CHECK(request != NULL);
    *request = (struct predict_request){
        .body = body->text,
        .at = body->text,
        .end = body->text + body->size,
        .schema = body->schema,
        .rows_max = rows_allowed(body, schema_features(body->schema)),
        .error = error,
    };
    enum status status = open_encoders(request);
    request->form = (struct predict_row){body->schema, request->encoders,
                                         schema_cells(body->schema)};
    if (status == ST_OK && !read_head(request))
        status = refuse_frame(request);
    if (status != ST_OK) {
        predict_request_close(request);
        return status;
    }
    *out = request;
    return ST_OK;
}

void predict_request_close(struct predict_request *request)
{
    if (request == NULL)
        return;
    for (size_t i = 0; request->encoders != NULL && i < request->schema->column_count;
         i++)
        encoder_fini(&request->encoders[i]);
    free(request->encoders);
    free(request);
}

enum status predict_request_next(struct predict_request *request,
                                 struct predict_block *block, struct error *error)
{
    enum status status = ST_OK;
    request->error = error;
    block->rows = 0;
    while (status == ST_OK && !request->ended && block->rows < block->max) {
        status = read_row(request, block->features + block->rows * block->stride);
        if (status == ST_OK)
            status = pass_row(request);
        block->rows += status == ST_OK;
    }
    return status;
}
