/* Reads npy (numpy.lib.format). A file begins with 93 "NUMPY" major minor, the size of
 * the header as a little-endian u16 (version 1.0) or u32 (2.0, 3.0), and the header, a
 * Python dict written as text:
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 784), }   \n
 * Then come the values, little-endian, row-major. There are two files: features
 * (records x shape) and labels (records). The text must follow this grammar: three
 * keys, each once, in any order; blanks are spaces. */
#include <string.h>

#include "engine/data/readers/array.h"

enum {
    PREFIX_SIZE = 8, /* magic and version */
    SIZE_SIZE_MAX = 4,
    HEADER_SIZE_MAX = 10000, /* limit of numpy.load for files that it does not trust */
    TYPE_NAME_SIZE = 8,
};

static const char magic[] = "\x93NUMPY";

static uint64_t little_endian(const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

static double decode_u1(const unsigned char *bytes)
{
    return bytes[0];
}

static double decode_i1(const unsigned char *bytes)
{
    return (int8_t)bytes[0];
}

static double decode_i2(const unsigned char *bytes)
{
    return (int16_t)little_endian(bytes, 2);
}

static double decode_i4(const unsigned char *bytes)
{
    return (int32_t)little_endian(bytes, 4);
}

static double decode_i8(const unsigned char *bytes)
{
    return (double)(int64_t)little_endian(bytes, 8);
}

static double decode_f4(const unsigned char *bytes)
{
    uint32_t bits = (uint32_t)little_endian(bytes, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double decode_f8(const unsigned char *bytes)
{
    uint64_t bits = little_endian(bytes, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Types by their name, which follows the byte order. */
static const struct {
    char name[3];
    struct array_type type;
} types[] = {
    {"u1", {1, true, true, decode_u1}},   {"i1", {1, true, false, decode_i1}},
    {"i2", {2, true, false, decode_i2}},  {"i4", {4, true, false, decode_i4}},
    {"i8", {8, true, false, decode_i8}},  {"f4", {4, false, false, decode_f4}},
    {"f8", {8, false, false, decode_f8}},
};

struct text { /* the rest of the header */
    const char *at, *end;
};

static bool at_char(struct text *text, char c)
{
    while (text->at < text->end && *text->at == ' ')
        text->at++;
    return text->at < text->end && *text->at == c;
}

static bool take(struct text *text, char c)
{
    bool found = at_char(text, c);
    text->at += found;
    return found;
}

static bool take_word(struct text *text, const char *word)
{
    size_t size = strlen(word);
    if (!at_char(text, word[0]) || (size_t)(text->end - text->at) < size ||
        memcmp(text->at, word, size) != 0)
        return false;
    text->at += size;
    return true;
}

/* Takes a string in either kind of quotes that holds no backslash. */
static bool take_string(struct text *text, char *out, size_t size)
{
    char quote = at_char(text, '"') ? '"' : '\'';
    size_t length = 0;
    if (!take(text, quote))
        return false;
    for (; text->at < text->end && *text->at != quote; text->at++) {
        if (*text->at == '\\' || length + 1 == size)
            return false;
        out[length++] = *text->at;
    }
    out[length] = '\0';
    return take(text, quote);
}

static bool take_count(struct text *text, uint64_t *count)
{
    *count = 0;
    if (take(text, '0'))
        return true;
    const char *start = text->at;
    for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++) {
        if (__builtin_mul_overflow(*count, 10U, count) ||
            __builtin_add_overflow(*count, (unsigned)(*text->at - '0'), count))
            return false;
    }
    return text->at > start;
}

/* Takes a tuple: (), (n,), (n, m), with or without a comma at its end. */
static bool take_shape(struct text *text, struct array *array)
{
    bool comma = true;
    if (!take(text, '('))
        return false;
    while (!at_char(text, ')')) {
        if (!comma || array->dimension_count == ARRAY_DIMENSIONS_MAX ||
            !take_count(text, &array->dimensions[array->dimension_count]))
            return false;
        array->dimension_count++;
        comma = take(text, ',');
    }
    return take(text, ')') && (comma || array->dimension_count > 1);
}

struct header {
    char type[TYPE_NAME_SIZE]; /* the byte order and the name: <f4 */
    bool fortran_order;
    bool has_type, has_order, has_shape;
};

static bool take_order(struct text *text, bool *fortran_order)
{
    *fortran_order = take_word(text, "True");
    return *fortran_order || take_word(text, "False");
}

static bool first(bool *seen)
{
    bool is_first = !*seen;
    *seen = true;
    return is_first;
}

static bool take_member(struct text *text, struct header *header, struct array *array)
{
    char key[sizeof "fortran_order"];
    if (!take_string(text, key, sizeof key) || !take(text, ':'))
        return false;
    if (strcmp(key, "descr") == 0)
        return first(&header->has_type) &&
               take_string(text, header->type, sizeof header->type);
    if (strcmp(key, "fortran_order") == 0)
        return first(&header->has_order) && take_order(text, &header->fortran_order);
    return strcmp(key, "shape") == 0 && first(&header->has_shape) &&
           take_shape(text, array);
}

/* Takes the dict, then blanks, then one line feed at the very end. */
static bool take_header(struct text text, struct header *header, struct array *array)
{
    bool comma = true;
    if (!take(&text, '{'))
        return false;
    while (!at_char(&text, '}')) {
        if (!comma || !take_member(&text, header, array))
            return false;
        comma = take(&text, ',');
    }
    return take(&text, '}') && take(&text, '\n') && text.at == text.end &&
           header->has_type && header->has_order && header->has_shape;
}

static enum status find_type(struct reading *reading, struct array *array,
                             const char *name)
{
    bool byte = strlen(name) == 3 && name[2] == '1';
    if (name[0] == '>')
        return reading_refuse(
            reading, 0, 0, "big-endian values are not read: save little-endian ones");
    if (name[0] == '<' || (byte && name[0] == '|')) {
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            if (strcmp(types[i].name, name + 1) == 0)
                array->type = &types[i].type;
        }
    }
    if (array->type == NULL)
        return reading_refuse(reading, 0, 0,
                              "the type of the values must be u1, i1, i2, i4, i8, f4 "
                              "or f8");
    return ST_OK;
}

static enum status check_header(struct reading *reading, struct array *array,
                                struct text text)
{
    struct header header = {.type = ""};
    if (!take_header(text, &header, array))
        return reading_refuse(reading, 0, 0,
                              "the NPY header is not a dict of a plain type, order "
                              "and shape");
    if (header.fortran_order)
        return reading_refuse(reading, 0, 0,
                              "Fortran order is not read: save the array in C order");
    if (array->dimension_count == 0)
        return reading_refuse(reading, 0, 0, "the file holds one value, not records");
    return find_type(reading, array, header.type);
}

/* Reads size bytes of the header. */
static enum status read_part(struct reading *reading, struct array *array, void *out,
                             size_t size)
{
    size_t got;
    enum status status = source_read(array->source, out, size, &got, reading->error);
    if (status == ST_OK && got < size)
        status = reading_refuse(reading, 0, 0, "the NPY header is cut short");
    array->header_size += size;
    return status;
}

/* Reads magic and version, then the header's size. */
static enum status read_prefix(struct reading *reading, struct array *array,
                               size_t *size)
{
    unsigned char prefix[PREFIX_SIZE], bytes[SIZE_SIZE_MAX];
    enum status status = read_part(reading, array, prefix, sizeof prefix);
    if (status != ST_OK)
        return status;
    if (memcmp(prefix, magic, sizeof magic - 1) != 0)
        return reading_refuse(reading, 0, 0, "not an NPY file: it must begin 93 NUMPY");
    if (prefix[6] < 1 || prefix[6] > 3 || prefix[7] != 0)
        return reading_refuse(reading, 0, 0, "NPY version %d.%d is unknown", prefix[6],
                              prefix[7]);
    size_t size_size = prefix[6] == 1 ? 2 : 4;
    status = read_part(reading, array, bytes, size_size);
    if (status != ST_OK)
        return status;
    *size = (size_t)little_endian(bytes, size_size);
    if (*size > HEADER_SIZE_MAX)
        return reading_refuse(reading, 0, 0, "the NPY header has more than %d bytes",
                              HEADER_SIZE_MAX);
    return ST_OK;
}

static enum status read_header(struct reading *reading, struct array *array)
{
    char text[HEADER_SIZE_MAX];
    size_t size = 0;
    enum status status = read_prefix(reading, array, &size);
    if (status == ST_OK)
        status = read_part(reading, array, text, size);
    if (status == ST_OK)
        status = check_header(reading, array, (struct text){text, text + size});
    return status;
}

static enum status read_files(struct reading *reading)
{
    return array_read_files(reading, read_header);
}

const struct reader npy_reader = {
    .name = "npy",
    .form = FORM_SHAPED,
    .files = ARRAY_FILES,
    .magic = magic,
    .read = read_files,
};
