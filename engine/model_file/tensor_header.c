/* The header is parsed by jansson, which refuses invalid UTF-8, escapes of lone
 * surrogates and repeated names. Everything else that the format forbids is refused
 * here: is_plain checks the text, read_tensor each description, and check_cover all of
 * them together. */
#include "engine/model_file/tensor_header.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>

#include "base/check.h"

struct entry { /* a tensor as described; its bytes are checked once all are known */
    struct stored_tensor stored;
    uint64_t end;
};

/* Every function below that can fail returns false and leaves the reason in wrong. */
struct reader {
    const char *wrong;
    struct entry *entries;
    size_t count;
};

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {
    [DTYPE_F32] = {"F32", 4},         [DTYPE_F16] = {"F16", 2},
    [DTYPE_BF16] = {"BF16", 2},       [DTYPE_F64] = {"F64", 8},
    [DTYPE_I64] = {"I64", 8},         [DTYPE_U64] = {"U64", 8},
    [DTYPE_I32] = {"I32", 4},         [DTYPE_U32] = {"U32", 4},
    [DTYPE_I16] = {"I16", 2},         [DTYPE_U16] = {"U16", 2},
    [DTYPE_I8] = {"I8", 1},           [DTYPE_U8] = {"U8", 1},
    [DTYPE_BOOL] = {"BOOL", 1},       [DTYPE_F8_E4M3] = {"F8_E4M3", 1},
    [DTYPE_F8_E5M2] = {"F8_E5M2", 1},
};

const char *tensor_dtype_name(enum tensor_dtype dtype)
{
    return dtypes[dtype].name;
}

size_t tensor_dtype_size(enum tensor_dtype dtype)
{
    return dtypes[dtype].size;
}

static bool fail(struct reader *reader, const char *wrong)
{
    reader->wrong = wrong;
    return false;
}

/* Returns whether the text outside of strings has only objects, lists and plain digits:
 * a number with a sign, a fraction or an exponent is refused, even if its value is an
 * integer. */
static bool is_plain(const char *text, size_t size)
{
    static const char outside[] = "{}[],: \t\n\r0123456789";
    bool quoted = false;

    for (size_t i = 0; i < size; i++) {
        if (quoted && text[i] == '\\')
            i++;
        else if (text[i] == '"')
            quoted = !quoted;
        else if (!quoted && memchr(outside, text[i], sizeof outside - 1) == NULL)
            return false;
    }
    return true;
}

/* Reads [N, ...] into counts, which has room for most numbers. */
static bool read_counts(struct reader *reader, const json_t *list, uint64_t *counts,
                        size_t most, size_t *count)
{
    *count = json_array_size(list);
    if (!json_is_array(list))
        return fail(reader, "a list is missing");
    if (*count > most)
        return fail(reader, "a list is too long");
    for (size_t i = 0; i < *count; i++) {
        const json_t *number = json_array_get(list, i);
        if (!json_is_integer(number))
            return fail(reader, "not a whole number of at least 0");
        counts[i] = (uint64_t)json_integer_value(number);
    }
    return true;
}

static bool fill_tensor(struct reader *reader, struct entry *entry, const char *name)
{
    struct tensor *tensor = &entry->stored.tensor;
    uint64_t count = 1, size, begin = entry->stored.begin;

    if (strlen(name) >= TENSOR_NAME_SIZE)
        return fail(reader, "a tensor's name is too long");
    memcpy(tensor->name, name, strlen(name));
    for (size_t i = 0; i < tensor->rank; i++)
        if (__builtin_mul_overflow(count, tensor->shape[i], &count))
            return fail(reader, "a shape is too large");
    if (__builtin_mul_overflow(count, tensor_dtype_size(entry->stored.dtype), &size) ||
        begin > entry->end || size != entry->end - begin)
        return fail(reader, "a shape does not fill its bytes");
    tensor->offset = begin / sizeof(float);
    tensor->count = count;
    return true;
}

static bool is_text(const json_t *value, const char *text)
{
    return json_string_length(value) == strlen(text) &&
           memcmp(json_string_value(value), text, strlen(text)) == 0;
}

static bool read_dtype(struct reader *reader, enum tensor_dtype *dtype,
                       const json_t *value)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (is_text(value, dtypes[i].name)) {
            *dtype = (enum tensor_dtype)i;
            return true;
        }
    return fail(reader, "a tensor has a dtype that the format does not have");
}

static bool read_tensor(struct reader *reader, const char *name, const json_t *value)
{
    struct entry *entry = &reader->entries[reader->count++];
    const json_t *dtype = json_object_get(value, "dtype");
    uint64_t offsets[2];
    size_t count;

    if (json_object_size(value) != 3 || dtype == NULL)
        return fail(reader, "a tensor has not the three members it must have");
    if (!read_dtype(reader, &entry->stored.dtype, dtype))
        return false;
    struct tensor *tensor = &entry->stored.tensor;
    if (!read_counts(reader, json_object_get(value, "shape"), tensor->shape,
                     TENSOR_RANK_MAX, &tensor->rank) ||
        !read_counts(reader, json_object_get(value, "data_offsets"), offsets, 2,
                     &count))
        return false;
    if (count != 2)
        return fail(reader, "data_offsets are not two");
    entry->stored.begin = offsets[0];
    entry->end = offsets[1];
    return fill_tensor(reader, entry, name);
}

static bool check_metadata(struct reader *reader, json_t *metadata)
{
    const char *key;
    json_t *value;

    if (!json_is_object(metadata))
        return fail(reader, "__metadata__ is not an object");
    json_object_foreach(metadata, key, value)
    {
        if (!json_is_string(value))
            return fail(reader, "__metadata__ holds something but strings");
    }
    return true;
}

static int entry_order(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->stored.begin != y->stored.begin)
        return x->stored.begin < y->stored.begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* Checks that the tensors follow each other from 0 to data_size. */
static bool check_cover(struct reader *reader, uint64_t data_size)
{
    uint64_t covered = 0;

    if (reader->count > 1)
        qsort(reader->entries, reader->count, sizeof *reader->entries, entry_order);
    for (size_t i = 0; i < reader->count; i++) {
        if (reader->entries[i].stored.begin != covered)
            return fail(reader, "tensors leave a gap or overlap");
        covered = reader->entries[i].end;
    }
    return covered == data_size || fail(reader, "tensors do not fill the file");
}

static bool read_header(struct reader *reader, json_t *root, uint64_t data_size)
{
    const char *name;
    json_t *value;

    reader->entries = calloc(json_object_size(root) + 1, sizeof *reader->entries);
    CHECK(reader->entries != NULL);
    json_object_foreach(root, name, value)
    {
        bool is_metadata = strcmp(name, "__metadata__") == 0;
        if (!(is_metadata ? check_metadata(reader, value)
                          : read_tensor(reader, name, value)))
            return false;
    }
    return check_cover(reader, data_size);
}

/* The header as an object, or NULL: text must begin with it, followed only by
 * blanks. */
static json_t *parse(const char *text, size_t size)
{
    while (size > 0 && text[size - 1] == ' ')
        size--;
    if (size < 2 || text[0] != '{' || text[size - 1] != '}' || !is_plain(text, size))
        return NULL;
    return json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
}

enum status tensor_header_parse(struct tensor_list *list, const char *text, size_t size,
                                uint64_t data_size, struct error *error)
{
    struct reader reader = {.wrong = "the header is not the JSON it must be"};
    json_t *root = parse(text, size);
    enum status status = ST_OK;

    if (root != NULL && read_header(&reader, root, data_size)) {
        list->count = reader.count;
        list->tensors = calloc(reader.count + 1, sizeof *list->tensors);
        CHECK(list->tensors != NULL);
        for (size_t i = 0; i < reader.count; i++)
            list->tensors[i] = reader.entries[i].stored;
    } else {
        status = error_set(error, ST_CORRUPT, "%s", reader.wrong);
    }
    json_decref(root);
    free(reader.entries);
    return status;
}
