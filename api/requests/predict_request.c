#include "api/requests/predict_request.h"

#include <stdlib.h>
#include <string.h>

#include "api/limits.h"
#include "api/requests/predict_cells.h"
#include "api/requests/predict_faults.h"
#include "base/check.h"
#include "engine/data/encode.h"

struct predict_request {
    const char *body, *at, *end;
    const struct schema *schema;
    struct encoder *encoders; /* one for each column of csv */
    struct predict_row form;
    size_t rows, rows_max; /* read so far, and the largest number that limits allow */
    bool ended;
    struct error *error; /* of the current call */
};

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

/* Reads the body once more, past its faults, so that all of them are reported. */
static enum status refuse(const struct predict_request *request)
{
    const struct predict_text body = {
        request->body, (size_t)(request->end - request->body), request->rows_max};
    return predict_faults(&body, &request->form, request->error);
}

/* Returns false if the row has a fault. */
static bool read_row(struct predict_request *request, float *out)
{
    struct predict_extent extent;
    skip_blanks(request);
    if (request->at == request->end || request->rows == request->rows_max)
        return false;
    const char *behind = NULL;
    if (*request->at == '[')
        behind = predict_row_read(&request->form, out, request->at, request->end);
    if (behind == NULL && predict_extent(&extent, request->at, request->end) &&
        extent.is_flat &&
        predict_cells_read(&request->form, out, request->at, &extent, NULL) == ST_OK)
        behind = request->at + extent.size;
    if (behind == NULL)
        return false;
    request->at = behind;
    request->rows++;
    return true;
}

/* Moves past {"inputs":[ which is the only way for a body to begin. */
static bool read_opening(struct predict_request *request)
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

/* Moves past what follows a row: a comma and the next row, or the end of the body.
 * Returns false if it is neither. */
static bool pass_row(struct predict_request *request)
{
    if (take(request, ','))
        return true;
    if (!take(request, ']') || !take(request, '}'))
        return false;
    skip_blanks(request);
    request->ended = request->at == request->end;
    return request->ended;
}

static enum status open_encoders(struct predict_request *request,
                                 const struct tokenizer *tokenizer)
{
    size_t count = request->schema->column_count;
    enum status status = ST_OK;
    request->encoders = calloc(count > 0 ? count : 1, sizeof *request->encoders);
    if (request->encoders == NULL)
        return error_set(request->error, ST_NO_MEMORY, "no memory for the columns");
    for (size_t i = 0; i < count && status == ST_OK; i++) {
        status = encoder_init(&request->encoders[i], &request->schema->columns[i],
                              request->error);
        request->encoders[i].tokenizer = tokenizer;
    }
    return status;
}

/* Returns how many rows the limits allow. One row is always allowed. */
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
    size_t row = 2 * (cells > 0 ? cells : 1) + 1; /* one-digit cells,
                                                   * commas, brackets */
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
    enum status status = open_encoders(request, body->tokenizer);
    request->form = (struct predict_row){body->schema, request->encoders,
                                         schema_cells(body->schema)};
    if (status == ST_OK && !read_opening(request))
        status = refuse(request);
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
    request->error = error;
    block->rows = 0;
    while (!request->ended && block->rows < block->max) {
        float *out = block->features + block->rows * block->stride;
        if (!read_row(request, out) || !pass_row(request))
            return refuse(request);
        block->rows++;
    }
    return ST_OK;
}
