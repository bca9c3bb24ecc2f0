/* idx: 00 00 type dimensions, the sizes as big-endian u32, the values big-endian,
 * row-major. Two files: features (records x shape) and labels (records). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/data/encode.h"
#include "engine/data/reader.h"

enum {
    CHUNK_VALUES = 4096, /* decoded at a time */
    VALUE_SIZE_MAX = 8,
    DIMENSIONS_MAX = UINT8_MAX,
    TYPE_U8 = 0x08,
};

struct idx_type {
    uint8_t code, size; /* size of a value, bytes */
    bool whole;
    double (*decode)(const unsigned char *bytes);
};

static uint64_t big_endian(const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | bytes[i];
    return value;
}

static double decode_u8(const unsigned char *bytes)
{
    return bytes[0];
}

static double decode_i8(const unsigned char *bytes)
{
    return (int8_t)bytes[0];
}

static double decode_i16(const unsigned char *bytes)
{
    return (int16_t)big_endian(bytes, 2);
}

static double decode_i32(const unsigned char *bytes)
{
    return (int32_t)big_endian(bytes, 4);
}

static double decode_f32(const unsigned char *bytes)
{
    uint32_t bits = (uint32_t)big_endian(bytes, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double decode_f64(const unsigned char *bytes)
{
    uint64_t bits = big_endian(bytes, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static const struct idx_type types[] = {
    {TYPE_U8, 1, true, decode_u8}, {0x09, 1, true, decode_i8},
    {0x0b, 2, true, decode_i16},   {0x0c, 4, true, decode_i32},
    {0x0d, 4, false, decode_f32},  {0x0e, 8, false, decode_f64},
};

struct idx { /* one open file, read up to its values */
    struct source *source;
    const struct idx_type *type;
    size_t dimension_count;
    uint32_t dimensions[DIMENSIONS_MAX];
};

static enum status read_header(struct reading *reading, struct idx *idx)
{
    unsigned char head[4], sizes[4 * DIMENSIONS_MAX];
    size_t got;
    enum status status =
        source_read(idx->source, head, sizeof head, &got, reading->error);
    if (status != ST_OK)
        return status;
    if (got < sizeof head || head[0] != 0 || head[1] != 0)
        return reading_refuse(reading, 0, 0, "not an IDX file: it must begin 00 00");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].code == head[2])
            idx->type = &types[i];
    }
    if (idx->type == NULL)
        return reading_refuse(reading, 0, 0, "IDX type 0x%02x is unknown", head[2]);
    idx->dimension_count = head[3];
    status =
        source_read(idx->source, sizes, 4 * idx->dimension_count, &got, reading->error);
    if (status != ST_OK)
        return status;
    if (idx->dimension_count == 0 || got < 4 * idx->dimension_count)
        return reading_refuse(reading, 0, 0, "the IDX header is cut short");
    for (size_t i = 0; i < idx->dimension_count; i++)
        idx->dimensions[i] = (uint32_t)big_endian(sizes + 4 * i, 4);
    return ST_OK;
}

/* Where the size of the file is known before it is read, it must be the header's. */
static enum status check_size(struct reading *reading, const struct idx *idx)
{
    uint64_t size, promised = 4 + 4 * idx->dimension_count, values = idx->type->size;
    if (idx->dimensions[0] == 0)
        return reading_refuse(reading, 0, 0, "the file holds no records");
    if (idx->dimensions[0] > MATRIX_RECORDS_MAX)
        return reading_refuse(reading, 0, 0, "more than %" PRIi32 " records",
                              MATRIX_RECORDS_MAX);
    for (size_t i = 0; i < idx->dimension_count; i++) {
        if (__builtin_mul_overflow(values, idx->dimensions[i], &values))
            return reading_refuse(reading, 0, 0,
                                  "the sizes in the IDX header overflow");
    }
    if (__builtin_add_overflow(promised, values, &promised))
        return reading_refuse(reading, 0, 0, "the sizes in the IDX header overflow");
    if (source_size(idx->source, &size) && size != promised)
        return reading_refuse(reading, 0, 0,
                              "the header promises %" PRIu64
                              " bytes, the file has %" PRIu64,
                              promised, size);
    return ST_OK;
}

static enum status idx_open(struct reading *reading, struct idx *idx, const char *name,
                            const char *path)
{
    enum status status = reading_open(reading, &idx->source, name, path);
    if (status == ST_OK)
        status = read_header(reading, idx);
    if (status == ST_OK)
        status = check_size(reading, idx);
    return status;
}

/* The declared shape, dimensions of size 1 left out of both. */
static bool shape_fits(const struct schema *schema, const struct idx *idx)
{
    size_t at = 1;
    for (size_t i = 0; i < schema->shape_count; i++) {
        if (schema->shape[i] == 1)
            continue;
        while (at < idx->dimension_count && idx->dimensions[at] == 1)
            at++;
        if (at == idx->dimension_count || idx->dimensions[at++] != schema->shape[i])
            return false;
    }
    while (at < idx->dimension_count && idx->dimensions[at] == 1)
        at++;
    return at == idx->dimension_count;
}

static enum status check_features(struct reading *reading, const struct idx *idx)
{
    float scale = (float)reading->schema->scale;
    if (!(scale > 0) || !isfinite(scale) || !isfinite((float)UINT8_MAX / scale))
        return reading_refuse(reading, 0, 0, "the scale is out of float32's range");
    if (!shape_fits(reading->schema, idx))
        return reading_refuse(reading, 0, 0,
                              "the records have another shape than the one declared");
    return ST_OK;
}

static enum status check_labels(struct reading *reading, const struct idx *labels,
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
                              "%" PRIu32 " labels for %" PRIu64 " records of features",
                              labels->dimensions[0], records);
    return ST_OK;
}

/* Reads size bytes, which begin in the values of record first (from 0). */
static enum status read_whole(struct reading *reading, struct idx *idx, void *out,
                              size_t size, uint64_t first)
{
    size_t got, count = 1;
    enum status status = source_read(idx->source, out, size, &got, reading->error);
    if (status != ST_OK || got == size)
        return status;
    for (size_t i = 1; i < idx->dimension_count; i++)
        count *= idx->dimensions[i];
    return reading_refuse(reading, first + got / (count * idx->type->size) + 1, 0,
                          "the file ends inside this record");
}

static enum status read_end(struct reading *reading, struct idx *idx)
{
    char byte;
    size_t got;
    enum status status = source_read(idx->source, &byte, 1, &got, reading->error);
    if (status == ST_OK && got > 0)
        status =
            reading_refuse(reading, 0, 0, "there are bytes behind the last record");
    return status;
}

/* Decodes count values that begin at value first of the file, both from 0. */
static enum status read_values(struct reading *reading, struct idx *idx, float *out,
                               size_t count, uint64_t first)
{
    uint64_t features = schema_features(reading->schema);
    unsigned char bytes[CHUNK_VALUES * VALUE_SIZE_MAX];
    for (size_t done = 0; done < count;) {
        size_t now = count - done < CHUNK_VALUES ? count - done : CHUNK_VALUES;
        enum status status = read_whole(reading, idx, bytes, now * idx->type->size,
                                        (first + done) / features);
        if (status != ST_OK)
            return status;
        for (size_t i = 0; i < now; i++, done++) {
            double value = idx->type->decode(bytes + i * idx->type->size);
            out[done] = encode_value(reading->schema, value);
            if (!isfinite(out[done]))
                return reading_refuse(reading, (first + done) / features + 1,
                                      (first + done) % features + 1,
                                      "not finite, or too large for float32");
        }
    }
    return ST_OK;
}

static enum status read_features(struct reading *reading, struct idx *idx)
{
    uint64_t records = idx->dimensions[0], features = schema_features(reading->schema);
    enum status status = matrix_writer_fits(reading->writer, records, reading->error);
    for (uint64_t done = 0; done < records && status == ST_OK;) {
        size_t count;
        void *rows = matrix_writer_rows(reading->writer, &count);
        if (count > records - done)
            count = (size_t)(records - done);
        if (idx->type->code == TYPE_U8)
            status = read_whole(reading, idx, rows, count * features, done);
        else
            status = read_values(reading, idx, rows, count * features, done * features);
        if (status == ST_OK)
            status = matrix_writer_advance(reading->writer, count, reading->error);
        done += count;
    }
    return status == ST_OK ? read_end(reading, idx) : status;
}

static enum status add_label(struct reading *reading, double value, uint64_t record)
{
    const struct schema *schema = reading->schema;
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

static enum status read_labels(struct reading *reading, struct idx *idx)
{
    unsigned char bytes[CHUNK_VALUES * VALUE_SIZE_MAX];
    uint64_t records = idx->dimensions[0];
    for (uint64_t done = 0; done < records;) {
        size_t now =
            records - done < CHUNK_VALUES ? (size_t)(records - done) : CHUNK_VALUES;
        enum status status =
            read_whole(reading, idx, bytes, now * idx->type->size, done);
        for (size_t i = 0; i < now && status == ST_OK; i++, done++)
            status = add_label(reading, idx->type->decode(bytes + i * idx->type->size),
                               done + 1);
        if (status != ST_OK)
            return status;
    }
    return read_end(reading, idx);
}

static enum status read_both(struct reading *reading, struct idx *features,
                             struct idx *labels)
{
    const struct import_files *files = reading->files;
    enum status status = idx_open(reading, features, "features", files->features);
    if (status == ST_OK)
        status = check_features(reading, features);
    if (status == ST_OK)
        status = idx_open(reading, labels, "labels", files->labels);
    if (status == ST_OK)
        status = check_labels(reading, labels, features->dimensions[0]);
    if (status != ST_OK)
        return status;
    reading->place.file = "features";
    status = reading_begin(reading,
                           features->type->code == TYPE_U8 ? ELEMENT_U8 : ELEMENT_F32);
    if (status == ST_OK)
        status = read_features(reading, features);
    if (status != ST_OK)
        return status;
    reading->place.file = "labels";
    return read_labels(reading, labels);
}

enum status idx_read(struct reading *reading)
{
    struct idx features = {0}, labels = {0};
    enum status status = read_both(reading, &features, &labels);
    source_close(features.source);
    source_close(labels.source);
    return status;
}
