#include "api/json/json_wide.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static const char point[] = ".0";

enum { POINT_SIZE = sizeof point - 1, INT64_DIGITS = 19 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Returns the size of the string, the number or the single character that text
 * begins with. */
static size_t piece_size(const char *text, size_t size)
{
    size_t i = 1;
    if (text[0] == '"') {
        while (i < size && text[i] != '"')
            i += text[i] == '\\' ? 2 : 1;
        return i < size ? i + 1 : size;
    }
    if (text[0] == '-' || is_digit(text[0]))
        while (i < size && (is_digit(text[i]) || memchr(".eE+-", text[i], 5) != NULL))
            i++;
    return i;
}

/* Returns whether the piece is a whole number beyond an int64. */
static bool is_wide(const char *piece, size_t size)
{
    bool negative = size > 0 && piece[0] == '-';
    const char *digits = piece + negative;
    size_t count = size - negative;
    for (size_t i = 0; i < count; i++)
        if (!is_digit(digits[i]))
            return false;
    const char *last = negative ? "9223372036854775808" : "9223372036854775807";
    return count > INT64_DIGITS ||
           (count == INT64_DIGITS && memcmp(digits, last, INT64_DIGITS) > 0);
}

void json_wide_init(struct json_wide *wide, const char *body, size_t size)
{
    size_t room = size + 1;
    for (size_t at = 0, piece; at < size; at += piece) {
        piece = piece_size(body + at, size - at);
        room += is_wide(body + at, piece) ? POINT_SIZE : 0;
    }
    *wide = (struct json_wide){.text = malloc(room)};
    CHECK(wide->text != NULL);
    for (size_t at = 0, piece; at < size; at += piece) {
        piece = piece_size(body + at, size - at);
        memcpy(wide->text + wide->size, body + at, piece);
        wide->size += piece;
        if (!is_wide(body + at, piece))
            continue;
        memcpy(wide->text + wide->size, point, POINT_SIZE);
        wide->size += POINT_SIZE;
    }
}

void json_wide_fini(struct json_wide *wide)
{
    free(wide->text);
    *wide = (struct json_wide){0};
}

size_t json_wide_inserted(const char *body, size_t size, size_t place)
{
    size_t inserted = 0, written = 0;
    for (size_t at = 0, piece; at < size && written < place; at += piece) {
        piece = piece_size(body + at, size - at);
        size_t more = is_wide(body + at, piece) ? POINT_SIZE : 0;
        inserted = body[at] == '\n' ? 0 : inserted + more;
        written += piece + more;
    }
    return inserted;
}
