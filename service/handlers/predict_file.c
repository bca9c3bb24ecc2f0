#include "service/handlers/predict_file.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <microhttpd.h>

#include "api/json/fault.h"
#include "api/limits.h"
#include "api/views/predict_answer.h"
#include "api/views/predict_csv.h"
#include "base/check.h"
#include "engine/data/readers/csv_rows.h"
#include "engine/data/readers/lines.h"
#include "service/config/config.h"
#include "service/handlers/prediction.h"
#include "service/http/reply.h"
#include "service/models/tokenizers.h"
#include "service/process/daemon_state.h"
#include "service/process/disk_room.h"
#include "store/blobs/blob.h"

_Static_assert((int)PREDICT_FILE_PIECE <= (int)CSV_ROWS_ROOM, "a piece fits");
_Static_assert((int)LIMIT_PREDICT_LINE == (int)LINE_SIZE_MAX, "the same limit");

/* The work of one run: some tenths of a second of a core. */
static const double run_flops = 0x1p33;
enum { RUN_ROWS = 1 << 16 };
static const uint64_t disk_check_every = 4 << 20; /* bytes of the answer */

struct predict_file {
    struct daemon_state *context;
    struct prediction prediction;
    double row_flops;
    struct csv_rows *rows;
    const struct tokenizer *tokenizer; /* of the rows, from the first run on; or NULL */
    float *spare;                      /* (features) of rows that are only checked */
    uint64_t size;                     /* of the body so far */
    size_t waiting;                    /* bytes taken since the last run */
    bool ended;                        /* the body has */
    bool finished;      /* nothing more is read: all rows were, or none can be */
    FILE *answer;       /* NULL: not begun */
    uint64_t stored;    /* bytes of the answer */
    uint64_t predicted; /* rows */
    uint64_t lines[PREDICTOR_ROWS]; /* of the rows that are predicted together */
    struct faults faults;
    struct error error; /* the first fault */
};

/* --- from the headers to the end --- */

static enum status admit(struct daemon_state *context, struct error *error)
{
    if (atomic_fetch_add(&context->predict_files, 1) < LIMIT_PREDICT_FILES)
        return ST_OK;
    atomic_fetch_sub(&context->predict_files, 1);
    return error_set(error, ST_QUEUE_FULL, "%d files are being predicted already",
                     LIMIT_PREDICT_FILES);
}

static enum status check(struct daemon_state *context, const struct request *request,
                         struct prediction *prediction, struct error *error)
{
    enum status status = disk_room_check(context->disk_room, error);
    if (status == ST_OK)
        status = prediction_find(context, request, prediction, error);
    if (status != ST_OK || schema_has_columns(&prediction->schema))
        return status;
    prediction_fini(prediction);
    return error_set(error, ST_INVALID,
                     "the records of this model's dataset have no columns that a csv "
                     "file could hold: send its rows to predict");
}

enum status predict_file_begin(struct predict_file **out, struct daemon_state *context,
                               const struct request *request, struct error *error)
{
    struct prediction prediction = {0};
    enum status status = check(context, request, &prediction, error);
    if (status != ST_OK)
        return status;
    status = admit(context, error);
    if (status != ST_OK) {
        prediction_fini(&prediction);
        return status;
    }
    struct predict_file *file = calloc(1, sizeof *file);
    CHECK(file != NULL);
    file->context = context;
    file->prediction = prediction;
    file->row_flops = prediction_row_flops(&prediction);
    file->error.faults = &file->faults;
    file->spare = calloc(schema_features(&prediction.schema), sizeof *file->spare);
    status = file->spare == NULL
                 ? error_set(error, ST_NO_MEMORY, "no memory for a row")
                 : csv_rows_open(&file->rows, &file->prediction.schema, error);
    if (status == ST_OK)
        *out = file;
    else
        predict_file_abandon(file);
    return status;
}

void predict_file_abandon(struct predict_file *file)
{
    if (file == NULL)
        return;
    if (file->answer != NULL)
        fclose(file->answer);
    csv_rows_close(file->rows);
    tokenizers_give(file->context, file->tokenizer);
    prediction_fini(&file->prediction);
    atomic_fetch_sub(&file->context->predict_files, 1);
    free(file->spare);
    free(file);
}

void predict_file_refuse(struct predict_file *file, const struct error *error)
{
    if (file->error.status == ST_OK)
        error_set_at(&file->error, error->status, error->pointer, "%s", error->text);
    file->finished = true;
}

/* --- the body --- */

size_t predict_file_room(const struct predict_file *file)
{
    return file->finished ? SIZE_MAX : PREDICT_FILE_PIECE - file->waiting;
}

enum status predict_file_feed(struct predict_file *file, const char *data, size_t size,
                              struct error *error)
{
    uint64_t max = file->context->config->upload_size_max;
    if (size > max - file->size)
        return error_set(error, ST_BODY_TOO_LARGE,
                         "the file may have at most %llu bytes",
                         (unsigned long long)max);
    file->size += size;
    if (file->finished)
        return ST_OK;
    CHECK(csv_rows_feed(file->rows, data, size) == size); /* it has room for a piece */
    file->waiting += size;
    return ST_OK;
}

void predict_file_end(struct predict_file *file)
{
    file->ended = true;
    csv_rows_feed_end(file->rows);
}

/* --- its rows --- */

/* Notes a fault of a line. The next rows are only checked. */
static void note(struct predict_file *file, const struct csv_rows_place *place,
                 const struct error *why)
{
    struct fault fault = {
        .kind = FAULT_INVALID, .line = place->line, .column = place->column};
    char where[64] = "";
    if (place->line > 0)
        snprintf(where, sizeof where, "line %llu", (unsigned long long)place->line);
    if (place->line > 0 && place->column > 0)
        snprintf(where, sizeof where, "line %llu, column %llu",
                 (unsigned long long)place->line, (unsigned long long)place->column);
    snprintf(fault.text, sizeof fault.text, "%s%s%.190s", where,
             where[0] != '\0' ? ": " : "", why->text);
    error_set(&file->error, why->status, "%s", fault.text);
    fault_add(&file->error, &fault);
    file->finished |= file->faults.count == LIMIT_FAULTS;
}

/* Reads the next rows to features, at most max of them, and returns how many there are
 * before the next fault. *waits says that the text has to go on. */
static size_t read_rows(struct predict_file *file, float *features, size_t stride,
                        size_t max, bool *waits)
{
    size_t rows = 0;
    enum csv_rows_got got = CSV_ROWS_ROW;
    while (rows < max) {
        struct csv_rows_place place;
        struct error why = {0};
        if (csv_rows_next(file->rows, &got, features + rows * stride, &place, &why) !=
            ST_OK) {
            note(file, &place, &why);
            return rows;
        }
        if (got != CSV_ROWS_ROW)
            break;
        file->lines[rows % PREDICTOR_ROWS] = place.line;
        rows++;
    }
    *waits = got == CSV_ROWS_WAIT;
    file->finished |= got == CSV_ROWS_END;
    return rows;
}

static void refuse(struct predict_file *file, enum status status, const char *text)
{
    struct error error = {0};
    error_set(&error, status, "%s", text);
    predict_file_refuse(file, &error);
}

/* Takes what reading and answering need, which may wait for files. */
static void open_answer(struct predict_file *file)
{
    int descriptor = -1;
    struct error error = {0};
    if (prediction_tokenizer(file->context, &file->prediction, &file->tokenizer,
                             &error) != ST_OK) {
        predict_file_refuse(file, &error);
        return;
    }
    csv_rows_set_tokenizer(file->rows, file->tokenizer);
    if (blobs_unnamed_file(file->context->blobs, &descriptor, NULL) == ST_OK)
        file->answer = fdopen(descriptor, "w+");
    if (file->answer == NULL && descriptor >= 0)
        close(descriptor);
    if (file->answer == NULL)
        refuse(file, ST_INTERNAL, "the answer cannot be stored");
    else
        predict_csv_begin(file->answer, &file->prediction.schema);
}

/* Accounts for what was written. */
static void take_room(struct predict_file *file)
{
    struct disk_room *room = file->context->disk_room;
    uint64_t before = file->stored;
    if (ferror(file->answer)) {
        refuse(file, ST_DISK_FULL, "the disk is full");
        return;
    }
    file->stored = (uint64_t)ftello(file->answer);
    disk_room_take(room, file->stored - before);
    if (file->stored / disk_check_every != before / disk_check_every &&
        disk_room_check(room, NULL) != ST_OK)
        refuse(file, ST_DISK_FULL, "the disk has no room for the answer");
}

static void refuse_outputs(struct predict_file *file, const double *outputs,
                           size_t rows)
{
    const struct schema *schema = &file->prediction.schema;
    size_t width = predict_answer_width(schema);
    struct error why = {0};
    error_set(&why, ST_NO_ANSWER, "the model's outputs for this row are not finite");
    for (size_t i = 0; i < rows && !file->finished; i++)
        if (!predict_answer_is_finite(schema, outputs + i * width))
            note(file, &(struct csv_rows_place){.line = file->lines[i]}, &why);
}

/* Predicts the next rows. Returns false if the text has to go on, or has ended. */
static bool predict_some(struct predict_file *file, struct predictor *predictor,
                         double *outputs)
{
    size_t stride;
    bool waits = false;
    float *features = predictor_input(predictor, &stride);
    size_t rows = read_rows(file, features, stride, PREDICTOR_ROWS, &waits);
    if (file->error.status == ST_OK && rows > 0) {
        predictor_run(predictor, outputs, rows);
        refuse_outputs(file, outputs, rows);
    }
    if (file->error.status == ST_OK) {
        predict_csv_add(file->answer, &file->prediction.schema, outputs, rows);
        file->predicted += rows;
        take_room(file);
    }
    return !waits && !file->finished;
}

/* Returns whether there is more to predict before more text is needed. */
static bool predict(struct predict_file *file)
{
    struct daemon_state *context = file->context;
    struct predictor *predictor = NULL;
    struct error error = {0};
    size_t width = predict_answer_width(&file->prediction.schema);
    double *outputs = calloc(PREDICTOR_ROWS * width, sizeof *outputs);
    if (outputs == NULL)
        error_set(&error, ST_NO_MEMORY, "no memory for the answer");
    else
        prediction_load(context, &file->prediction, &predictor, &error);
    bool more = error.status == ST_OK;
    if (!more)
        predict_file_refuse(file, &error);
    double flops = 0;
    for (size_t rows = 0;
         more && file->error.status == ST_OK && rows < RUN_ROWS && flops < run_flops;
         rows += PREDICTOR_ROWS, flops += PREDICTOR_ROWS * file->row_flops)
        more = predict_some(file, predictor, outputs);
    if (predictor != NULL)
        prediction_unload(context, &file->prediction, predictor);
    free(outputs);
    return more;
}

/* Looks for further faults. */
static bool look_on(struct predict_file *file)
{
    bool waits = false;
    for (size_t rows = 0; rows < RUN_ROWS && !waits && !file->finished; rows++)
        read_rows(file, file->spare, 0, 1, &waits);
    return !waits && !file->finished;
}

bool predict_file_run(struct predict_file *file)
{
    file->waiting = 0;
    if (!file->finished && file->answer == NULL)
        open_answer(file);
    if (file->finished)
        return false;
    return file->error.status == ST_OK ? predict(file) : look_on(file);
}

/* --- the answer --- */

enum status predict_file_reply(struct predict_file *file, struct reply *reply,
                               struct error *error)
{
    CHECK(file->ended && file->finished);
    if (file->error.status == ST_OK && file->predicted == 0)
        refuse(file, ST_INVALID, "the file has no rows");
    if (file->error.status == ST_OK && fflush(file->answer) != 0)
        refuse(file, ST_DISK_FULL, "the disk is full");
    if (file->error.status != ST_OK) {
        struct faults *faults = error->faults;
        if (faults != NULL)
            *faults = file->faults;
        *error = file->error;
        error->faults = faults;
        return error->status;
    }
    int descriptor = dup(fileno(file->answer));
    if (descriptor < 0)
        return error_set(error, ST_INTERNAL, "the answer cannot be sent");
    reply_file(reply, MHD_HTTP_OK, "text/csv; charset=utf-8", descriptor,
               (struct byte_range){0, file->stored});
    reply_header_add(reply, "Cache-Control", "no-store");
    return ST_OK;
}
