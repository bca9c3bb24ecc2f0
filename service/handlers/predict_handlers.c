#include <math.h>
#include <stdlib.h>
#include <microhttpd.h>

#include "api/limits.h"
#include "api/requests/predict_request.h"
#include "api/views/predict_answer.h"
#include "engine/predictor.h"
#include "service/handlers/handlers.h"
#include "service/handlers/predict_file.h"
#include "service/handlers/prediction.h"
#include "service/models/tokenizers.h"

/* For cost estimates: products of a forward pass that a core computes in a
 * nanosecond. */
static const double flops_per_ns = 40;
enum { READING_NS = 8 }; /* per byte of a body, from text to features */

uint64_t cost_model_predict(struct daemon_state *context, const struct request *request)
{
    struct prediction prediction = {0};
    if (prediction_find(context, request, &prediction, NULL) != ST_OK)
        return 0;
    size_t rows = predict_rows_most(request->body_size, &prediction.schema);
    size_t blocks = (rows + PREDICTOR_ROWS - 1) / PREDICTOR_ROWS;
    double flops =
        (double)(blocks * PREDICTOR_ROWS) * prediction_row_flops(&prediction);
    prediction_fini(&prediction);
    /* The rest would be refused. */
    double run_ns = fmin(flops, LIMIT_PREDICT_FLOPS) / flops_per_ns;
    return request->body_size * READING_NS + (uint64_t)run_ns;
}

/* Reads, predicts and writes one block of rows at a time. */
static enum status answer_rows(struct predict_request *rows,
                               struct predictor *predictor,
                               struct predict_answer *answer, double *outputs,
                               struct error *error)
{
    struct predict_block block = {.max = PREDICTOR_ROWS};
    enum status status;
    do {
        block.features = predictor_input(predictor, &block.stride);
        status = predict_request_next(rows, &block, error);
        if (status == ST_OK && block.rows > 0) {
            predictor_run(predictor, outputs, block.rows);
            status = predict_answer_add(answer, outputs, block.rows, error);
        }
    } while (status == ST_OK && block.rows > 0);
    return status;
}

static enum status answer_body(const struct predict_body *body,
                               struct predictor *predictor, char **text,
                               struct error *error)
{
    struct predict_answer answer;
    struct predict_request *rows = NULL;
    enum status status = predict_request_open(&rows, body, error);
    if (status != ST_OK)
        return status;
    double *outputs =
        calloc(PREDICTOR_ROWS * predict_answer_width(body->schema), sizeof *outputs);
    predict_answer_open(&answer, body->schema);
    if (outputs != NULL)
        status = answer_rows(rows, predictor, &answer, outputs, error);
    char *whole = predict_answer_finish(&answer);
    if (status == ST_OK && (outputs == NULL || whole == NULL))
        status = error_set(error, ST_NO_MEMORY, "no memory for the answer");
    free(outputs);
    predict_request_close(rows);
    if (status != ST_OK)
        free(whole);
    else
        *text = whole;
    return status;
}

enum status handle_model_predict(struct daemon_state *context, struct request *request,
                                 struct error *error)
{
    struct prediction prediction = {0};
    struct predictor *predictor = NULL;
    char *text = NULL;
    enum status status = prediction_find(context, request, &prediction, error);
    if (status != ST_OK)
        return status;
    struct predict_body body = {
        .text = request->body != NULL ? request->body : "",
        .size = request->body_size,
        .schema = &prediction.schema,
        .row_flops = prediction_row_flops(&prediction),
    };
    status = prediction_tokenizer(context, &prediction, &body.tokenizer, error);
    if (status == ST_OK)
        status = prediction_load(context, &prediction, &predictor, error);
    if (status == ST_OK) {
        status = answer_body(&body, predictor, &text, error);
        prediction_unload(context, &prediction, predictor);
    }
    tokenizers_give(context, body.tokenizer);
    prediction_fini(&prediction);
    if (status == ST_OK)
        reply_json(&request->reply, MHD_HTTP_OK, text);
    return status;
}

enum status handle_model_predict_file(struct daemon_state *context,
                                      struct request *request, struct error *error)
{
    (void)context;
    return predict_file_reply(request->predict_file, &request->reply, error);
}
