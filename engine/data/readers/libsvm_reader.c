/* Reads libsvm. A line is `label index:value ...`: indices count from 1 and ascend,
 * separated by blanks, and a `#` makes the rest of the line a comment. There is one
 * file, data. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/data/decimal.h"
#include "engine/data/encode.h"
#include "engine/data/readers/lines.h"
#include "engine/data/readers/reading.h"

struct label {
    double value;
    uint32_t class_index;
};

struct libsvm {
    struct reading *reading;
    struct source *source;
    struct lines *lines;
    struct label *labels; /* (classes) by value; NULL: a class is its number */
    float absent;         /* the feature of an absent index */
    uint64_t records;
};

struct cursor {
    const char *first, *at, *end;
    uint64_t line;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end && is_blank(*cursor->at))
        cursor->at++;
}

static bool token_ended(const struct cursor *cursor)
{
    return cursor->at == cursor->end || is_blank(*cursor->at) || *cursor->at == '#';
}

static bool line_ended(const struct cursor *cursor)
{
    return cursor->at == cursor->end || *cursor->at == '#';
}

static enum status refuse(struct libsvm *libsvm, const struct cursor *cursor,
                          const char *reason)
{
    return reading_refuse(libsvm->reading, cursor->line,
                          (uint64_t)(cursor->at - cursor->first) + 1, "%s", reason);
}

/* Reads a finite number and moves the cursor after it. False, without moving the
 * cursor, if there is none. */
static bool take_number(struct cursor *cursor, double *value)
{
    const char *behind = decimal_read(value, cursor->at, cursor->end);
    if (behind == NULL || !isfinite(*value))
        return false;
    cursor->at = behind;
    return true;
}

static int label_compare(const void *a, const void *b)
{
    const struct label *left = a, *right = b;
    return (left->value > right->value) - (left->value < right->value);
}

static bool find_class(const struct libsvm *libsvm, double value, uint32_t *class_index)
{
    uint32_t classes = libsvm->reading->schema->classes;
    if (libsvm->labels != NULL) {
        struct label key = {.value = value};
        const struct label *found =
            bsearch(&key, libsvm->labels, classes, sizeof key, label_compare);
        if (found != NULL)
            *class_index = found->class_index;
        return found != NULL;
    }
    if (!(value >= 0 && value < classes) || value != floor(value))
        return false;
    *class_index = (uint32_t)value;
    return true;
}

/* Moves the cursor behind the token. */
static void pass_token(struct cursor *cursor)
{
    while (!token_ended(cursor))
        cursor->at++;
}

/* Adds a target whatever the token is: one that is no number is the lower edge of the
 * range, and one that is no label is the first class. */
static enum status take_any_target(struct libsvm *libsvm, struct cursor *cursor)
{
    struct reading *reading = libsvm->reading;
    const struct schema *schema = reading->schema;
    double value;
    const bool is_number = take_number(cursor, &value) && token_ended(cursor);
    uint32_t class_index = 0;
    pass_token(cursor);
    if (schema->task == TASK_REGRESSION)
        return matrix_writer_value(
            reading->writer,
            encode_target(schema, is_number ? value : schema->target_low),
            reading->error);
    if (is_number)
        find_class(libsvm, value, &class_index);
    return matrix_writer_class(reading->writer, class_index, reading->error);
}

static enum status take_target(struct libsvm *libsvm, struct cursor *cursor)
{
    struct reading *reading = libsvm->reading;
    struct cursor before = *cursor;
    double value;
    if (reading->takes_any)
        return take_any_target(libsvm, cursor);
    if (!take_number(cursor, &value) || !token_ended(cursor))
        return refuse(libsvm, &before, "the label is not a finite decimal number");
    if (reading->schema->task == TASK_REGRESSION)
        return matrix_writer_value(
            reading->writer, encode_target(reading->schema, value), reading->error);
    uint32_t class_index;
    if (!find_class(libsvm, value, &class_index))
        return refuse(libsvm, &before, "the label is none of the classes declared");
    return matrix_writer_class(reading->writer, class_index, reading->error);
}

/* Reads `index:` and moves the cursor after it. */
static enum status take_index(struct libsvm *libsvm, struct cursor *cursor,
                              uint64_t *index)
{
    uint64_t before = *index, read = 0;
    struct cursor first = *cursor;
    for (; cursor->at < cursor->end && (unsigned char)(*cursor->at - '0') < 10;
         cursor->at++) {
        if (read <= UINT32_MAX)
            read = read * 10 + (unsigned char)(*cursor->at - '0');
    }
    if (cursor->at == first.at || cursor->at == cursor->end || *cursor->at != ':')
        return refuse(libsvm, &first, "not of the form index:value");
    if (read == 0)
        return refuse(libsvm, &first, "indices begin at 1");
    if (read <= before)
        return refuse(libsvm, &first, "indices must ascend");
    if (read > libsvm->reading->schema->feature_count)
        return refuse(libsvm, &first, "the index is beyond the features declared");
    cursor->at++;
    *index = read;
    return ST_OK;
}

static enum status take_features(struct libsvm *libsvm, struct cursor *cursor,
                                 float *out)
{
    const struct schema *schema = libsvm->reading->schema;
    uint64_t index = 0;
    for (skip_blanks(cursor); !line_ended(cursor); skip_blanks(cursor)) {
        double value;
        enum status status = take_index(libsvm, cursor, &index);
        if (status != ST_OK)
            return status;
        struct cursor before = *cursor;
        if (!take_number(cursor, &value) || !token_ended(cursor))
            return refuse(libsvm, &before, "the value is not a finite decimal number");
        out[index - 1] = encode_value(schema, value);
        if (!isfinite(out[index - 1]))
            return refuse(libsvm, &before, "the value is too large for float32");
    }
    return ST_OK;
}

/* Takes the pairs that are as declared, and drops the others. */
static void take_any_features(struct libsvm *libsvm, struct cursor *cursor, float *out)
{
    const struct schema *schema = libsvm->reading->schema;
    struct error *error = libsvm->reading->error, unused = {0};
    uint64_t index = 0;
    libsvm->reading->error = &unused;
    for (skip_blanks(cursor); !line_ended(cursor); skip_blanks(cursor)) {
        double value;
        if (take_index(libsvm, cursor, &index) == ST_OK &&
            take_number(cursor, &value) && token_ended(cursor)) {
            const float feature = encode_value(schema, value);
            if (isfinite(feature))
                out[index - 1] = feature;
        }
        pass_token(cursor);
    }
    libsvm->reading->error = error;
}

static enum status add_record(struct libsvm *libsvm, struct cursor *cursor)
{
    struct reading *reading = libsvm->reading;
    size_t room;
    float *out = matrix_writer_rows(reading->writer, &room);
    for (uint32_t i = 0; i < reading->schema->feature_count; i++)
        out[i] = libsvm->absent;
    enum status status = take_target(libsvm, cursor);
    if (status == ST_OK && reading->takes_any)
        take_any_features(libsvm, cursor, out);
    else if (status == ST_OK)
        status = take_features(libsvm, cursor, out);
    if (status == ST_OK)
        status = matrix_writer_advance(reading->writer, 1, reading->error);
    libsvm->records++;
    return status;
}

static enum status read_records(struct libsvm *libsvm)
{
    struct reading *reading = libsvm->reading;
    for (;;) {
        struct line line;
        bool more;
        enum status status = lines_next(libsvm->lines, &line, &more, reading->error);
        reading->place.line = line.number;
        if (status != ST_OK || !more)
            return status;
        struct cursor cursor = {line.text, line.text, line.text + line.size,
                                line.number};
        skip_blanks(&cursor);
        bool is_record = reading->takes_any ? line.size > 0 : !line_ended(&cursor);
        if (is_record && (status = add_record(libsvm, &cursor)) != ST_OK)
            return status;
    }
}

static enum status index_labels(struct libsvm *libsvm)
{
    const struct schema *schema = libsvm->reading->schema;
    if (schema->task == TASK_REGRESSION || schema->labels == NULL)
        return ST_OK;
    libsvm->labels = calloc(schema->classes, sizeof *libsvm->labels);
    if (libsvm->labels == NULL)
        return error_set(libsvm->reading->error, ST_NO_MEMORY,
                         "no memory for the labels");
    for (uint32_t i = 0; i < schema->classes; i++)
        libsvm->labels[i] = (struct label){schema->labels[i], i};
    qsort(libsvm->labels, schema->classes, sizeof *libsvm->labels, label_compare);
    return ST_OK;
}

static enum status libsvm_open(struct libsvm *libsvm)
{
    struct reading *reading = libsvm->reading;
    const struct schema *schema = reading->schema;
    enum status status = reading_open(reading, &libsvm->source, 0);
    if (status != ST_OK)
        return status;
    if (schema->task == TASK_REGRESSION && !schema->has_target_range)
        return reading_refuse(reading, 0, 0, "a regression needs the target's range");
    libsvm->absent = encode_value(schema, 0);
    libsvm->lines = lines_create(libsvm->source);
    if (libsvm->lines == NULL)
        return error_set(reading->error, ST_NO_MEMORY, "no memory to read lines");
    if (reading->takes_any)
        lines_cut_long(libsvm->lines);
    status = index_labels(libsvm);
    return status == ST_OK ? reading_begin(reading, ELEMENT_F32) : status;
}

static enum status read_file(struct reading *reading)
{
    struct libsvm libsvm = {.reading = reading};
    enum status status = libsvm_open(&libsvm);
    if (status == ST_OK)
        status = read_records(&libsvm);
    if (status == ST_OK && libsvm.records == 0)
        status = reading_refuse(reading, 0, 0, "the file holds no records");
    free(libsvm.labels);
    lines_destroy(libsvm.lines);
    source_close(libsvm.source);
    return status;
}

const struct reader libsvm_reader = {
    .name = "libsvm",
    .form = FORM_INDEXED,
    .is_text = true,
    .files = {"data"},
    .read = read_file,
};
