#include "engine/model_file/tensor_header.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

struct text { /* decoded, inside the reader's copy of the header */
    char *bytes;
    size_t size;
};

struct entry { /* a tensor as described; its bytes are checked once all are known */
    struct text name;
    struct tensor tensor;
    uint64_t begin, end;
};

/* Every function below that can fail returns false and leaves the reason in wrong. */
struct reader {
    char *next, *end;
    const char *wrong;
    struct entry *entries;
    size_t entry_count, entry_room;
    struct text *keys; /* of __metadata__ */
    size_t key_count, key_room;
    bool has_metadata;
};

static bool fail(struct reader *reader, const char *wrong)
{
    reader->wrong = wrong;
    return false;
}

static void skip_blanks(struct reader *reader)
{
    while (reader->next < reader->end && memchr(" \t\n\r", *reader->next, 4) != NULL)
        reader->next++;
}

static bool peek(struct reader *reader, char wanted)
{
    skip_blanks(reader);
    return reader->next < reader->end && *reader->next == wanted;
}

static bool take(struct reader *reader, char wanted)
{
    if (!peek(reader, wanted))
        return fail(reader, "the header is not the JSON it must be");
    reader->next++;
    return true;
}

static bool read_hex4(struct reader *reader, uint32_t *code)
{
    *code = 0;
    if (reader->end - reader->next < 4)
        return fail(reader, "an escape is cut short");
    for (int i = 0; i < 4; i++) {
        char c = *reader->next++;
        uint32_t digit;
        if (c >= '0' && c <= '9')
            digit = (uint32_t)(c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            digit = (uint32_t)((c | 0x20) - 'a' + 10);
        else
            return fail(reader, "an escape is not hexadecimal");
        *code = *code << 4 | digit;
    }
    return true;
}

/* Reads what follows a "\u": one code point, from one or two units. */
static bool read_code_point(struct reader *reader, uint32_t *code)
{
    uint32_t low;

    if (!read_hex4(reader, code))
        return false;
    if (*code < 0xD800 || *code > 0xDFFF)
        return true;
    if (*code > 0xDBFF || reader->end - reader->next < 2 || reader->next[0] != '\\' ||
        reader->next[1] != 'u')
        return fail(reader, "half of a surrogate pair");
    reader->next += 2;
    if (!read_hex4(reader, &low))
        return false;
    if (low < 0xDC00 || low > 0xDFFF)
        return fail(reader, "half of a surrogate pair");
    *code = 0x10000 + ((*code - 0xD800) << 10) + (low - 0xDC00);
    return true;
}

static char *put_utf8(char *out, uint32_t code)
{
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xC0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        *out++ = (char)(0xE0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
        *out++ = (char)(0x80 | (code & 0x3F));
    } else {
        *out++ = (char)(0xF0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3F));
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
        *out++ = (char)(0x80 | (code & 0x3F));
    }
    return out;
}

static bool read_escape(struct reader *reader, char **out)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    uint32_t code;
    const char *found;
    char name;

    if (reader->next == reader->end)
        return fail(reader, "an escape is cut short");
    name = *reader->next++;
    if (name == 'u') {
        if (!read_code_point(reader, &code))
            return false;
        *out = put_utf8(*out, code);
        return true;
    }
    found = name != '\0' ? strchr(names, name) : NULL;
    if (found == NULL)
        return fail(reader, "an escape that JSON does not have");
    *(*out)++ = values[found - names];
    return true;
}

/* Reads a string and decodes it in place: its meaning is never longer than its text. */
static bool read_text(struct reader *reader, struct text *text)
{
    char *out;

    if (!take(reader, '"'))
        return false;
    text->bytes = out = reader->next;
    while (reader->next < reader->end && *reader->next != '"') {
        unsigned char c = (unsigned char)*reader->next++;
        if (c < 0x20)
            return fail(reader, "a control character in a string");
        if (c != '\\')
            *out++ = (char)c;
        else if (!read_escape(reader, &out))
            return false;
    }
    if (reader->next == reader->end)
        return fail(reader, "a string has no end");
    reader->next++;
    text->size = (size_t)(out - text->bytes);
    return true;
}

static bool read_count(struct reader *reader, uint64_t *count)
{
    const char *first;

    skip_blanks(reader);
    first = reader->next;
    *count = 0;
    while (reader->next < reader->end && *reader->next >= '0' && *reader->next <= '9') {
        uint64_t digit = (uint64_t)(*reader->next++ - '0');
        if (__builtin_mul_overflow(*count, 10, count) ||
            __builtin_add_overflow(*count, digit, count))
            return fail(reader, "a number is too large");
    }
    if (reader->next == first || (*first == '0' && reader->next - first > 1))
        return fail(reader, "not a whole number of at least 0");
    return true;
}

/* Reads [N, ...] into counts, which has room for most of them. */
static bool read_counts(struct reader *reader, uint64_t *counts, size_t most,
                        size_t *count)
{
    *count = 0;
    if (!take(reader, '['))
        return false;
    while (!peek(reader, ']')) {
        if (*count == most)
            return fail(reader, "a list is too long");
        if (*count > 0 && !take(reader, ','))
            return false;
        if (!read_count(reader, &counts[(*count)++]))
            return false;
    }
    return take(reader, ']');
}

static bool text_is(struct text text, const char *name)
{
    return text.size == strlen(name) && memcmp(text.bytes, name, text.size) == 0;
}

static int text_order(const void *a, const void *b)
{
    const struct text *x = a, *y = b;
    size_t shared = x->size < y->size ? x->size : y->size;
    int order = memcmp(x->bytes, y->bytes, shared);
    return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

static void *grown(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return array;
    *room = *room == 0 ? 64 : 2 * *room;
    array = reallocarray(array, *room, size);
    CHECK(array != NULL);
    return array;
}

/* Reads an object. read_member reads each member once its name and colon are taken. */
static bool read_object(struct reader *reader, void *context,
                        bool (*read_member)(struct reader *, void *, struct text))
{
    bool first = true;
    struct text name;

    if (!take(reader, '{'))
        return false;
    while (!peek(reader, '}')) {
        if (!first && !take(reader, ','))
            return false;
        first = false;
        if (!read_text(reader, &name) || !take(reader, ':') ||
            !read_member(reader, context, name))
            return false;
    }
    return take(reader, '}');
}

static bool read_metadata_member(struct reader *reader, void *context, struct text name)
{
    struct text value;
    (void)context;
    reader->keys =
        grown(reader->keys, reader->key_count, &reader->key_room, sizeof *reader->keys);
    reader->keys[reader->key_count++] = name;
    return read_text(reader, &value);
}

struct description { /* members of a tensor seen so far */
    struct entry *entry;
    bool dtype, shape, offsets;
};

static bool read_tensor_member(struct reader *reader, void *context, struct text name)
{
    struct description *seen = context;
    struct tensor *tensor = &seen->entry->tensor;
    uint64_t offsets[2];
    struct text dtype;
    size_t count;

    if (text_is(name, "dtype") && !seen->dtype) {
        seen->dtype = true;
        if (!read_text(reader, &dtype))
            return false;
        return text_is(dtype, "F32") || fail(reader, "a tensor is not of F32");
    }
    if (text_is(name, "shape") && !seen->shape) {
        seen->shape = true;
        return read_counts(reader, tensor->shape, TENSOR_RANK_MAX, &tensor->rank);
    }
    if (text_is(name, "data_offsets") && !seen->offsets) {
        seen->offsets = true;
        if (!read_counts(reader, offsets, 2, &count))
            return false;
        seen->entry->begin = offsets[0];
        seen->entry->end = offsets[1];
        return count == 2 || fail(reader, "data_offsets are not two");
    }
    return fail(reader, "a tensor has an unknown or repeated member");
}

static bool fill_tensor(struct reader *reader, struct entry *entry)
{
    struct tensor *tensor = &entry->tensor;
    uint64_t count = 1, size;

    if (entry->name.size >= TENSOR_NAME_SIZE ||
        memchr(entry->name.bytes, '\0', entry->name.size) != NULL)
        return fail(reader, "a tensor's name is too long");
    memcpy(tensor->name, entry->name.bytes, entry->name.size);
    for (size_t i = 0; i < tensor->rank; i++)
        if (__builtin_mul_overflow(count, tensor->shape[i], &count))
            return fail(reader, "a shape is too large");
    if (__builtin_mul_overflow(count, sizeof(float), &size) ||
        entry->begin > entry->end || size != entry->end - entry->begin)
        return fail(reader, "a shape does not fill its bytes");
    tensor->offset = entry->begin / sizeof(float);
    tensor->count = count;
    return true;
}

static bool read_top_member(struct reader *reader, void *context, struct text name)
{
    struct description seen = {0};
    (void)context;

    if (text_is(name, "__metadata__")) {
        if (reader->has_metadata)
            return fail(reader, "__metadata__ is repeated");
        reader->has_metadata = true;
        return read_object(reader, NULL, read_metadata_member);
    }
    reader->entries = grown(reader->entries, reader->entry_count, &reader->entry_room,
                            sizeof *reader->entries);
    seen.entry = &reader->entries[reader->entry_count++];
    *seen.entry = (struct entry){.name = name};
    if (!read_object(reader, &seen, read_tensor_member))
        return false;
    if (!seen.dtype || !seen.shape || !seen.offsets)
        return fail(reader, "a tensor lacks a member");
    return fill_tensor(reader, seen.entry);
}

static bool check_distinct(struct reader *reader, struct text *texts, size_t count)
{
    if (count > 1)
        qsort(texts, count, sizeof *texts, text_order);
    for (size_t i = 1; i < count; i++)
        if (text_order(&texts[i - 1], &texts[i]) == 0)
            return fail(reader, "a name is repeated");
    return true;
}

static bool check_names(struct reader *reader)
{
    struct text *names = calloc(reader->entry_count + 1, sizeof *names);
    bool distinct;

    CHECK(names != NULL);
    for (size_t i = 0; i < reader->entry_count; i++)
        names[i] = reader->entries[i].name;
    distinct = check_distinct(reader, names, reader->entry_count) &&
               check_distinct(reader, reader->keys, reader->key_count);
    free(names);
    return distinct;
}

static int entry_order(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* Checks that the tensors follow each other from 0 to data_size; then each of them begins
 * at a whole float. */
static bool check_cover(struct reader *reader, uint64_t data_size)
{
    uint64_t covered = 0;

    if (reader->entry_count > 1)
        qsort(reader->entries, reader->entry_count, sizeof *reader->entries,
              entry_order);
    for (size_t i = 0; i < reader->entry_count; i++) {
        if (reader->entries[i].begin != covered)
            return fail(reader, "tensors leave a gap or overlap");
        covered = reader->entries[i].end;
    }
    return covered == data_size || fail(reader, "tensors do not fill the file");
}

/* Length of the UTF-8 sequence at text, 0 if it is none (overlong, surrogate, cut). */
static size_t utf8_length(const unsigned char *text, size_t size)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = text[0] < 0x80             ? 1
                    : (text[0] & 0xE0) == 0xC0 ? 2
                    : (text[0] & 0xF0) == 0xE0 ? 3
                    : (text[0] & 0xF8) == 0xF0 ? 4
                                               : 0;
    uint32_t code = length <= 1 ? text[0] : text[0] & (0x7FU >> length);

    if (length == 0 || length > size)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3F);
    }
    if (code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return 0;
    return length;
}

static bool check_utf8(struct reader *reader)
{
    const unsigned char *text = (const unsigned char *)reader->next;
    size_t size = (size_t)(reader->end - reader->next);

    for (size_t i = 0, length; i < size; i += length)
        if ((length = utf8_length(text + i, size - i)) == 0)
            return fail(reader, "the header is not UTF-8");
    return true;
}

static bool read_header(struct reader *reader, uint64_t data_size)
{
    if (reader->next == reader->end || *reader->next != '{')
        return fail(reader, "the header does not start with {");
    if (!check_utf8(reader) || !read_object(reader, NULL, read_top_member))
        return false;
    while (reader->next < reader->end)
        if (*reader->next++ != ' ')
            return fail(reader, "something follows the header's end");
    return check_names(reader) && check_cover(reader, data_size);
}

enum status tensor_header_parse(struct tensor_list *list, const char *text, size_t size,
                                uint64_t data_size, struct error *error)
{
    struct reader reader = {0};
    char *copy = malloc(size + 1);
    enum status status = ST_OK;

    if (copy == NULL)
        return error_set(error, ST_CORRUPT, "the header is too large");
    memcpy(copy, text, size);
    reader.next = copy;
    reader.end = copy + size;
    if (read_header(&reader, data_size)) {
        list->count = reader.entry_count;
        list->tensors = calloc(reader.entry_count + 1, sizeof *list->tensors);
        CHECK(list->tensors != NULL);
        for (size_t i = 0; i < reader.entry_count; i++)
            list->tensors[i] = reader.entries[i].tensor;
    } else {
        status = error_set(error, ST_CORRUPT, "%s", reader.wrong);
    }
    free(reader.entries);
    free(reader.keys);
    free(copy);
    return status;
}
