#include "api/json/json_scan.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* Each function below that moves through a text returns its new position, or NULL if
 * the text is not understood. */

static const uint64_t ones = UINT64_C(0x0101010101010101);

/* Sets the high bit of each byte of eight that is zero. The high bit of a byte above a
 * zero byte may also be set. */
static uint64_t zeros(uint64_t eight)
{
    return (eight - ones) & ~eight & 0x80 * ones;
}

/* Returns the first quote or backslash, or end. */
static const char *find_mark(const char *at, const char *end)
{
    uint64_t eight;
    for (; end - at >= (ptrdiff_t)sizeof eight; at += sizeof eight) {
        memcpy(&eight, at, sizeof eight);
        eight = le64toh(eight);
        uint64_t marks = zeros(eight ^ ones * '"') | zeros(eight ^ ones * '\\');
        if (marks != 0)
            return at + __builtin_ctzll(marks) / 8;
    }
    while (at < end && *at != '"' && *at != '\\')
        at++;
    return at;
}

/* Moves from after the first quote of a string to after its last. */
static const char *pass_string(const char *at, const char *end)
{
    for (;;) {
        at = find_mark(at, end);
        if (at == end)
            return NULL;
        if (*at == '"')
            return at + 1;
        if (end - at < 2)
            return NULL;
        at += 2;
    }
}

/* Moves past an array or an object. Does not check that brackets match in kind. */
static const char *pass_brackets(const char *at, const char *end)
{
    size_t depth = 0;
    while (at < end) {
        char c = *at++;
        if (c == '"') {
            at = pass_string(at, end);
            if (at == NULL)
                return NULL;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        if (depth == 0)
            return at;
    }
    return NULL;
}

static bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+' ||
           c == '.' || c == 'E';
}

static const char *pass_value(const char *at, const char *end)
{
    const char *first = at;
    if (at == end)
        return NULL;
    if (*at == '"')
        return pass_string(at + 1, end);
    if (*at == '{' || *at == '[')
        return pass_brackets(at, end);
    while (at < end && is_plain(*at))
        at++;
    return at > first ? at : NULL;
}

/* --- members --- */

struct search { /* for the members of an object */
    struct json_span *spans;
    const char *const *names;
    size_t count, next; /* next: index of the name after the one found last */
};

/* Returns the index of name in the list. It is most often next. Returns count if the
 * name is not in the list. */
static size_t place_of(const struct search *search, struct json_span name)
{
    for (size_t i = 0; i < search->count; i++) {
        size_t place = (search->next + i) % search->count;
        if (json_span_is(name, search->names[place]))
            return place;
    }
    return search->count;
}

/* Moves past a member. Stores its span if the member is wanted. */
static const char *pass_member(struct search *search, const char *at, const char *end)
{
    if (at == end || *at != '"')
        return NULL;
    struct json_span name = {at + 1, 0};
    at = pass_string(at + 1, end);
    if (at == NULL || at == end || *at != ':')
        return NULL;
    name.size = (size_t)(at - name.at) - 1;
    const char *value = at + 1, *behind = pass_value(value, end);
    size_t place = place_of(search, name);
    if (behind == NULL || place == search->count)
        return behind;
    if (search->spans[place].at != NULL)
        return NULL;
    search->spans[place] = (struct json_span){value, (size_t)(behind - value)};
    search->next = place + 1;
    return behind;
}

bool json_scan(struct json_span *spans, const char *const *names, size_t count,
               struct json_span text)
{
    const char *at = text.at, *end = text.at + text.size;
    struct search search = {spans, names, count, 0};
    for (size_t i = 0; i < count; i++)
        spans[i] = (struct json_span){0};
    if (text.size < 2 || *at++ != '{')
        return false;
    if (*at == '}')
        return at + 1 == end;
    for (;; at++) {
        at = pass_member(&search, at, end);
        if (at == NULL || at == end)
            return false;
        if (*at == '}')
            return at + 1 == end;
        if (*at != ',')
            return false;
    }
}

/* --- elements --- */

/* Walks through an array: counts its elements, none for [], and stores the first room
 * of them. */
static bool walk(size_t *count, struct json_span *last, struct json_span *elements,
                 size_t room, struct json_span text)
{
    const char *at = text.at, *end = text.at + text.size;
    *count = 0;
    if (text.at == NULL || text.size < 2 || *at++ != '[')
        return false;
    if (*at == ']')
        return at + 1 == end;
    for (;; at++) {
        const char *first = at;
        at = pass_value(at, end);
        if (at == NULL || at == end)
            return false;
        *last = (struct json_span){first, (size_t)(at - first)};
        if (*count < room)
            elements[*count] = *last;
        ++*count;
        if (*at == ']')
            return at + 1 == end;
        if (*at != ',')
            return false;
    }
}

bool json_scan_array(size_t *count, struct json_span *last, struct json_span text)
{
    *last = (struct json_span){0};
    return walk(count, last, NULL, 0, text);
}

bool json_scan_elements(struct json_span *elements, size_t count, struct json_span text)
{
    size_t found;
    struct json_span last;
    return walk(&found, &last, elements, count, text) && found == count;
}

/* --- values --- */

struct json_span json_span_of(const char *text)
{
    return (struct json_span){text, strlen(text)};
}

bool json_span_is(struct json_span span, const char *text)
{
    return span.at != NULL && strlen(text) == span.size &&
           memcmp(span.at, text, span.size) == 0;
}

bool json_span_count(uint64_t *count, struct json_span span)
{
    enum { DIGITS_MAX = 18 }; /* every number of 18 digits is an int64 */
    uint64_t value = 0;
    if (span.at == NULL || span.size > DIGITS_MAX ||
        (span.size > 1 && span.at[0] == '0'))
        return false;
    for (size_t i = 0; i < span.size; i++) {
        if (span.at[i] < '0' || span.at[i] > '9')
            return false;
        value = 10 * value + (uint64_t)(span.at[i] - '0');
    }
    *count = value;
    return span.size > 0;
}

bool json_span_real(double *real, struct json_span span)
{
    char text[40], *end;
    if (span.at == NULL || span.size == 0 || span.size >= sizeof text)
        return false;
    for (size_t i = 0; i < span.size; i++)
        if (strchr("0123456789+-.eE", span.at[i]) == NULL)
            return false;
    memcpy(text, span.at, span.size);
    text[span.size] = '\0';
    *real = strtod(text, &end);
    return *end == '\0';
}

bool json_span_text(char *out, size_t size, struct json_span span)
{
    if (span.at == NULL || span.size < 2 || span.size - 2 >= size ||
        span.at[0] != '"' || memchr(span.at, '\\', span.size) != NULL)
        return false;
    memcpy(out, span.at + 1, span.size - 2);
    out[span.size - 2] = '\0';
    return true;
}

char *json_span_copy(struct json_span span)
{
    if (span.at == NULL || span.size < 2 || span.at[0] != '"')
        return NULL;
    size_t size = 0;
    char *copy = malloc(span.size);
    for (size_t i = 1; copy != NULL && i + 1 < span.size; i++) {
        bool escaped = span.at[i] == '\\';
        char byte = span.at[i + escaped];
        if (byte < ' ' || byte > '~' || (escaped && byte != '"' && byte != '\\')) {
            free(copy);
            return NULL;
        }
        copy[size++] = byte;
        i += escaped;
    }
    if (copy != NULL)
        copy[size] = '\0';
    return copy;
}
