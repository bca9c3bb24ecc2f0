/* Both files are opened, and their headers are read and checked before any value. Then
 * the features are read: unsigned bytes directly into the rows of the matrix, other
 * types through decode and encode_value. Then the labels are read. */
#include "engine/data/readers/array.h"

#include <inttypes.h>
#include <math.h>

#include "engine/data/encode.h"

enum {
    CHUNK_VALUES = 4096, /* values decoded at a time */
    VALUE_SIZE_MAX = 8,
};

struct array_file {
    size_t index; /* ARRAY_FEATURES or ARRAY_LABELS */
    array_header_reader *read_header;
};

/* If the file's size is known before it is read, it must agree with the header. */
static enum status check_size(struct reading *reading, const struct array *array)
{
    uint64_t size, promised = array->header_size, values = array->type->size;
    if (array->dimensions[0] == 0)
        return reading_refuse(reading, 0, 0, "the file holds no records");
    if (array->dimensions[0] > MATRIX_RECORDS_MAX)
        return reading_refuse(reading, 0, 0, "more than %" PRIi32 " records",
                              MATRIX_RECORDS_MAX);
    for (size_t i = 0; i < array->dimension_count; i++) {
        if (__builtin_mul_overflow(values, array->dimensions[i], &values))
            return reading_refuse(reading, 0, 0, "the sizes in the header overflow");
    }
    if (__builtin_add_overflow(promised, values, &promised))
        return reading_refuse(reading, 0, 0, "the sizes in the header overflow");
    if (source_size(array->source, &size) && size != promised)
        return reading_refuse(reading, 0, 0,
                              "the header promises %" PRIu64
                              " bytes, the file has %" PRIu64,
                              promised, size);
    return ST_OK;
}

static enum status array_open(struct reading *reading, struct array *array,
                              const struct array_file *file)
{
    enum status status = reading_open(reading, &array->source, file->index);
    if (status == ST_OK)
        status = file->read_header(reading, array);
    if (status == ST_OK)
        status = check_size(reading, array);
    return status;
}

/* Returns whether the array has the declared shape. Dimensions of size 1 are ignored in
 * both. */
static bool shape_fits(const struct schema *schema, const struct array *array)
{
    size_t at = 1;
    for (size_t i = 0; i < schema->shape_count; i++) {
        if (schema->shape[i] == 1)
            continue;
        while (at < array->dimension_count && array->dimensions[at] == 1)
            at++;
        if (at == array->dimension_count || array->dimensions[at++] != schema->shape[i])
            return false;
    }
    while (at < array->dimension_count && array->dimensions[at] == 1)
        at++;
    return at == array->dimension_count;
}

static enum status check_features(struct reading *reading, const struct array *array)
{
    enum status status = reading_check_scale(reading);
    if (status == ST_OK && !shape_fits(reading->schema, array))
        status = reading_refuse(reading, 0, 0,
                                "the records have another shape than the one declared");
    return status;
}

static enum status check_labels(struct reading *reading, const struct array *labels,
                                uint64_t records)
{
    if (labels->dimension_count != 1)
        return reading_refuse(reading, 0, 0, "labels have one dimension, this file %zu",
                              labels->dimension_count);
    if (reading->schema->task == TASK_CLASSIFICATION && !labels->type->whole)
        return reading_refuse(reading, 0, 0, "labels of classes must be whole numbers");
    if (reading->schema->task == TASK_REGRESSION && !reading->schema->has_target_range)
        return reading_refuse(reading, 0, 0, "a regression needs the target's range");
    if (labels->dimensions[0] != records)
        return reading_refuse(reading, 0, 0,
                              "%" PRIu64 " labels for %" PRIu64 " records of features",
                              labels->dimensions[0], records);
    return ST_OK;
}

/* Reads size bytes, which begin with values of record `first` (from 0). */
static enum status read_whole(struct reading *reading, struct array *array, void *out,
                              size_t size, uint64_t first)
{
    size_t got, count = 1;
    enum status status = source_read(array->source, out, size, &got, reading->error);
    if (status != ST_OK || got == size)
        return status;
    for (size_t i = 1; i < array->dimension_count; i++)
        count *= array->dimensions[i];
    return reading_refuse(reading, first + got / (count * array->type->size) + 1, 0,
                          "the file ends inside this record");
}

static enum status read_end(struct reading *reading, struct array *array)
{
    char byte;
    size_t got;
    enum status status = source_read(array->source, &byte, 1, &got, reading->error);
    if (status == ST_OK && got > 0)
        status =
            reading_refuse(reading, 0, 0, "there are bytes behind the last record");
    return status;
}

/* Decodes count values from value `first` of the file on (from 0). */
static enum status read_values(struct reading *reading, struct array *array, float *out,
                               size_t count, uint64_t first)
{
    uint64_t features = schema_features(reading->schema);
    unsigned char bytes[CHUNK_VALUES * VALUE_SIZE_MAX];
    for (size_t done = 0; done < count;) {
        size_t now = count - done < CHUNK_VALUES ? count - done : CHUNK_VALUES;
        enum status status = read_whole(reading, array, bytes, now * array->type->size,
                                        (first + done) / features);
        if (status != ST_OK)
            return status;
        for (size_t i = 0; i < now; i++, done++) {
            double value = array->type->decode(bytes + i * array->type->size);
            out[done] = encode_value(reading->schema, value);
            if (!isfinite(out[done]) && reading->takes_any)
                out[done] = 0;
            if (!isfinite(out[done]))
                return reading_refuse(reading, (first + done) / features + 1,
                                      (first + done) % features + 1,
                                      "not finite, or too large for float32");
        }
    }
    return ST_OK;
}

static enum status read_features(struct reading *reading, struct array *array)
{
    uint64_t records = array->dimensions[0];
    uint64_t features = schema_features(reading->schema);
    enum status status = matrix_writer_fits(reading->writer, records, reading->error);
    for (uint64_t done = 0; done < records && status == ST_OK;) {
        size_t count;
        void *rows = matrix_writer_rows(reading->writer, &count);
        if (count > records - done)
            count = (size_t)(records - done);
        if (array->type->kept)
            status = read_whole(reading, array, rows, count * features, done);
        else
            status =
                read_values(reading, array, rows, count * features, done * features);
        if (status == ST_OK)
            status = matrix_writer_advance(reading->writer, count, reading->error);
        done += count;
    }
    return status == ST_OK ? read_end(reading, array) : status;
}

/* Returns a label that is not refused: the nearest class; the lower edge of the range for
 * a target that is not finite. */
static double nearest_label(const struct schema *schema, double value)
{
    if (schema->task == TASK_REGRESSION)
        return isfinite(value) ? value : schema->target_low;
    return fmin(fmax(value, 0), schema->classes - 1.0);
}

static enum status add_label(struct reading *reading, double value, uint64_t record)
{
    const struct schema *schema = reading->schema;
    if (reading->takes_any)
        value = nearest_label(schema, value);
    if (schema->task == TASK_REGRESSION) {
        if (!isfinite(value))
            return reading_refuse(reading, record, 0, "the target is not finite");
        return matrix_writer_value(reading->writer, encode_target(schema, value),
                                   reading->error);
    }
    if (value < 0 || value >= schema->classes)
        return reading_refuse(reading, record, 0,
                              "the label is not between 0 and %" PRIu32,
                              schema->classes - 1);
    return matrix_writer_class(reading->writer, (uint32_t)value, reading->error);
}

static enum status read_labels(struct reading *reading, struct array *array)
{
    unsigned char bytes[CHUNK_VALUES * VALUE_SIZE_MAX];
    uint64_t records = array->dimensions[0];
    for (uint64_t done = 0; done < records;) {
        size_t now =
            records - done < CHUNK_VALUES ? (size_t)(records - done) : CHUNK_VALUES;
        enum status status =
            read_whole(reading, array, bytes, now * array->type->size, done);
        for (size_t i = 0; i < now && status == ST_OK; i++, done++)
            status = add_label(
                reading, array->type->decode(bytes + i * array->type->size), done + 1);
        if (status != ST_OK)
            return status;
    }
    return read_end(reading, array);
}

static enum status read_both(struct reading *reading, struct array *features,
                             struct array *labels, array_header_reader *read_header)
{
    const struct array_file of_features = {ARRAY_FEATURES, read_header};
    const struct array_file of_labels = {ARRAY_LABELS, read_header};
    enum status status = array_open(reading, features, &of_features);
    if (status == ST_OK)
        status = check_features(reading, features);
    if (status == ST_OK)
        status = array_open(reading, labels, &of_labels);
    if (status == ST_OK)
        status = check_labels(reading, labels, features->dimensions[0]);
    if (status != ST_OK)
        return status;
    reading->place.file = ARRAY_FEATURES;
    status = reading_begin(reading, features->type->kept ? ELEMENT_U8 : ELEMENT_F32);
    if (status == ST_OK)
        status = read_features(reading, features);
    if (status != ST_OK)
        return status;
    reading->place.file = ARRAY_LABELS;
    return read_labels(reading, labels);
}

enum status array_read_files(struct reading *reading, array_header_reader *read_header)
{
    struct array features = {0}, labels = {0};
    enum status status = read_both(reading, &features, &labels, read_header);
    source_close(features.source);
    source_close(labels.source);
    return status;
}
