/* Reads idx. A file is the bytes 00 00, a byte for the type, one for the number of
 * dimensions, their sizes as big-endian u32, and the values, big-endian and row-major.
 * There are two files: features (records x shape) and labels (records). */
#include <string.h>

#include "engine/data/readers/array.h"

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

static const struct {
    uint8_t code;
    struct array_type type;
} types[] = {
    {0x08, {1, true, true, decode_u8}},    {0x09, {1, true, false, decode_i8}},
    {0x0b, {2, true, false, decode_i16}},  {0x0c, {4, true, false, decode_i32}},
    {0x0d, {4, false, false, decode_f32}}, {0x0e, {8, false, false, decode_f64}},
};

static enum status read_header(struct reading *reading, struct array *array)
{
    unsigned char head[4], sizes[4 * ARRAY_DIMENSIONS_MAX];
    size_t got;
    enum status status =
        source_read(array->source, head, sizeof head, &got, reading->error);
    if (status != ST_OK)
        return status;
    if (got < sizeof head || head[0] != 0 || head[1] != 0)
        return reading_refuse(reading, 0, 0, "not an IDX file: it must begin 00 00");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].code == head[2])
            array->type = &types[i].type;
    }
    if (array->type == NULL)
        return reading_refuse(reading, 0, 0, "IDX type 0x%02x is unknown", head[2]);
    array->dimension_count = head[3];
    size_t size = 4 * array->dimension_count;
    status = source_read(array->source, sizes, size, &got, reading->error);
    if (status != ST_OK)
        return status;
    if (size == 0 || got < size)
        return reading_refuse(reading, 0, 0, "the IDX header is cut short");
    for (size_t i = 0; i < array->dimension_count; i++)
        array->dimensions[i] = big_endian(sizes + 4 * i, 4);
    array->header_size = sizeof head + size;
    return ST_OK;
}

static enum status read_files(struct reading *reading)
{
    return array_read_files(reading, read_header);
}

/* A file's first two bytes, 00 00, do not distinguish it from other files, so there is
 * no magic. */
const struct reader idx_reader = {
    .name = "idx",
    .form = FORM_SHAPED,
    .files = ARRAY_FILES,
    .read = read_files,
};
