#include "api/requests/predict_faults.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/fault.h"
#include "api/json/json_reader.h"
#include "api/requests/predict_cells.h"

struct reading {
    const struct predict_text *body;
    const struct predict_row *row;
    const char *at, *end;
    float *features; /* one row's, which are not used */
    size_t rows;     /* read so far */
    bool seen;       /* whether "inputs" was read */
    size_t faults;   /* so far */
    struct error *error;
};

static void refuse(struct reading *reading, enum fault_kind kind, const char *pointer,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

static void refuse(struct reading *reading, enum fault_kind kind, const char *pointer,
                   const char *format, ...)
{
    va_list arguments;
    struct fault fault = {.kind = kind};
    snprintf(fault.pointer, sizeof fault.pointer, "%s", pointer);
    va_start(arguments, format);
    vsnprintf(fault.text, sizeof fault.text, format, arguments);
    va_end(arguments);
    fault_add(reading->error, &fault);
    reading->faults++;
}

/* Adds a fault of the current row. */
static void refuse_row(struct reading *reading, const struct fault *fault)
{
    char pointer[sizeof fault->pointer];
    snprintf(pointer, sizeof pointer, "/inputs/%zu%.60s", reading->rows,
             fault->pointer);
    refuse(reading, fault->kind, pointer, "%s", fault->text);
}

static void skip_blanks(struct reading *reading)
{
    while (reading->at < reading->end && memchr(" \t\r\n", *reading->at, 4) != NULL)
        reading->at++;
}

static bool take(struct reading *reading, char c)
{
    skip_blanks(reading);
    if (reading->at == reading->end || *reading->at != c)
        return false;
    reading->at++;
    return true;
}

/* Reports text that ends, or continues, where it must not. A body of the size of other
 * requests is read once more, whole, to find the place. Here and below, false means
 * that reading must stop. */
static bool refuse_text(struct reading *reading)
{
    struct json_reader reader;
    struct json_node root;
    enum fault_kind kind = FAULT_MALFORMED;
    if (reading->body->size <= LIMIT_JSON_BODY) {
        enum status status = json_reader_open(
            &reader, &root, json_text_sized(reading->body->text, reading->body->size),
            reading->error);
        json_reader_close(&reader);
        reading->faults += status != ST_OK;
        if (status != ST_OK)
            return false;
        kind = FAULT_WRONG_TYPE;
    }
    refuse(reading, kind, "", "must be {\"inputs\":[[cells...],...]} and no more");
    return false;
}

/* Moves past a value that cannot be used. */
static bool skip_value(struct reading *reading)
{
    struct predict_extent extent;
    skip_blanks(reading);
    if (!predict_extent(&extent, reading->at, reading->end))
        return refuse_text(reading);
    reading->at += extent.size;
    return reading->faults < LIMIT_FAULTS;
}

static void read_strictly(struct reading *reading, const struct predict_extent *extent)
{
    struct faults faults = {0};
    struct error error = {.faults = &faults};
    if (!extent->is_flat) {
        refuse_row(reading, &(struct fault){
                                .kind = FAULT_WRONG_TYPE,
                                .text = "must be an array or an object of numbers and "
                                        "strings"});
        return;
    }
    predict_cells_read(reading->row, reading->features, reading->at, extent, &error);
    for (size_t i = 0; i < faults.count && reading->faults < LIMIT_FAULTS; i++)
        refuse_row(reading, &faults.list[i]);
}

static bool read_row(struct reading *reading)
{
    struct predict_extent extent;
    skip_blanks(reading);
    if (reading->rows == reading->body->rows_max) {
        refuse(reading, FAULT_OUT_OF_RANGE, "/inputs", "has more than %zu rows%s",
               reading->rows,
               reading->rows < LIMIT_PREDICT_ROWS ? ", the most for this model's size"
                                                  : "");
        return false;
    }
    const char *behind = NULL;
    if (reading->at < reading->end && *reading->at == '[')
        behind = predict_row_read(reading->row, reading->features, reading->at,
                                  reading->end);
    if (behind == NULL) {
        if (!predict_extent(&extent, reading->at, reading->end)) {
            refuse_row(reading,
                       &(struct fault){.kind = FAULT_MALFORMED,
                                       .text = "must be an array or an object of "
                                               "cells"});
            return false;
        }
        read_strictly(reading, &extent);
        behind = reading->at + extent.size;
    }
    reading->at = behind;
    reading->rows++;
    return reading->faults < LIMIT_FAULTS;
}

/* Reads the value of "inputs". */
static bool read_rows(struct reading *reading)
{
    if (!take(reading, '[')) {
        refuse(reading, FAULT_WRONG_TYPE, "/inputs", "must be an array of rows");
        return skip_value(reading);
    }
    if (take(reading, ']')) {
        refuse(reading, FAULT_OUT_OF_RANGE, "/inputs", "must have 1 to %zu rows",
               reading->body->rows_max);
        return true;
    }
    do {
        if (!read_row(reading))
            return false;
    } while (take(reading, ','));
    return take(reading, ']') || refuse_text(reading);
}

static bool read_member(struct reading *reading)
{
    static const char inputs[] = "\"inputs\"";
    char pointer[sizeof reading->error->pointer];
    struct predict_extent name;
    skip_blanks(reading);
    const char *text = reading->at;
    if (text == reading->end || *text != '"' ||
        !predict_extent(&name, text, reading->end))
        return refuse_text(reading);
    reading->at += name.size;
    if (!take(reading, ':'))
        return refuse_text(reading);
    bool named = name.size == strlen(inputs) && memcmp(text, inputs, name.size) == 0;
    if (named && !reading->seen) {
        reading->seen = true;
        return read_rows(reading);
    }
    snprintf(pointer, sizeof pointer, "/%.*s", (int)(name.size - 2), text + 1);
    refuse(reading, named ? FAULT_REPEATED : FAULT_UNKNOWN, pointer, "%s",
           named ? "stands here a second time" : "no such member");
    return skip_value(reading);
}

static bool read_body(struct reading *reading)
{
    if (!take(reading, '{'))
        return refuse_text(reading);
    if (!take(reading, '}')) {
        do {
            if (!read_member(reading))
                return false;
        } while (take(reading, ','));
        if (!take(reading, '}'))
            return refuse_text(reading);
    }
    skip_blanks(reading);
    if (reading->at != reading->end)
        return refuse_text(reading);
    if (!reading->seen)
        refuse(reading, FAULT_MISSING, "/inputs", "is required: an array of rows");
    return true;
}

enum status predict_faults(const struct predict_text *body,
                           const struct predict_row *row, struct error *error)
{
    struct reading reading = {.body = body,
                              .row = row,
                              .at = body->text,
                              .end = body->text + body->size,
                              .error = error};
    reading.features = calloc(schema_features(row->schema), sizeof *reading.features);
    if (reading.features == NULL)
        return error_set(error, ST_NO_MEMORY, "no memory for a row");
    read_body(&reading);
    free(reading.features);
    if (reading.faults == 0) /* memory was short before, but is sufficient now */
        return error_set(error, ST_NO_MEMORY, "no memory to read the rows");
    return ST_INVALID;
}
