#include "api/http/request_target.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/limits.h"
#include "base/check.h"

struct utf8 { /* what may follow inside a character; only if left > 0 */
    unsigned left;
    uint8_t low, high;
};

/* Takes one more byte. Returns false if the text is not UTF-8. */
static bool utf8_take(struct utf8 *utf8, uint8_t byte)
{
    if (utf8->left > 0) {
        bool fits = byte >= utf8->low && byte <= utf8->high;
        *utf8 = (struct utf8){utf8->left - 1, 0x80, 0xbf};
        return fits;
    }
    if (byte < 0x80)
        return true;
    if (byte < 0xc2 || byte > 0xf4)
        return false;
    utf8->left = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    utf8->low = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;
    utf8->high = byte == 0xed ? 0x9f : byte == 0xf4 ? 0x8f : 0xbf;
    return true;
}

/* One character of a target, decoded. */
struct letter {
    const char *at;
    size_t size; /* 1, or 3 if it is encoded; 0: not allowed */
    uint8_t value;
};

static uint8_t digit_value(char digit)
{
    return (uint8_t)(isdigit((unsigned char)digit)
                         ? digit - '0'
                         : tolower((unsigned char)digit) - 'a' + 10);
}

static struct letter letter_at(const char *at, const char *end)
{
    static const char marks[] = "-._~!$&'()*+,;=:@/?";
    struct letter letter = {.at = at, .size = 1, .value = (uint8_t)*at};
    if (*at == '%') {
        bool whole = end - at >= 3 && isxdigit((unsigned char)at[1]) &&
                     isxdigit((unsigned char)at[2]);
        letter.size = whole ? 3 : 0;
        if (whole)
            letter.value = (uint8_t)(digit_value(at[1]) << 4 | digit_value(at[2]));
    } else if (*at == '\0' || letter.value >= 0x80 ||
               (!isalnum(letter.value) && strchr(marks, *at) == NULL)) {
        letter.size = 0;
    }
    return letter;
}

/* Returns whether c is an ordinary character that is not a delimiter, as most are. */
static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           c == '_' || c == '-';
}

static enum status check_letter(const struct letter *letter, bool in_path,
                                struct utf8 *utf8, struct error *error)
{
    if (letter->size == 0)
        return error_set(error, ST_INVALID,
                         "a character in the path or query that must be encoded");
    if (letter->value < ' ' || letter->value == 0x7f)
        return error_set(error, ST_INVALID, "a control character in the path or query");
    if (in_path && letter->size == 3 && (letter->value == '/' || letter->value == '\\'))
        return error_set(error, ST_INVALID,
                         "an encoded slash or backslash in the path");
    if (!utf8_take(utf8, letter->value))
        return error_set(error, ST_INVALID, "the path or query is not UTF-8");
    return ST_OK;
}

/* Checks a complete segment of the path. last: only a query can follow. */
static enum status check_segment(size_t size, size_t dots, bool last,
                                 struct error *error)
{
    if (size == 0 && !last)
        return error_set(error, ST_INVALID, "an empty segment in the path");
    if (size == dots && (dots == 1 || dots == 2))
        return error_set(error, ST_INVALID, "a segment . or .. in the path");
    return ST_OK;
}

static bool is_host_letter(char c)
{
    return isalnum((unsigned char)c) || (c != '\0' && strchr("-._~[]:", c) != NULL);
}

bool request_target_authority(const char *text, size_t size, const char **authority,
                              size_t *authority_size)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t skipped = strlen(schemes[i]), end = skipped;
        if (size < skipped || strncasecmp(text, schemes[i], skipped) != 0)
            continue;
        while (end < size && is_host_letter(text[end]))
            end++;
        *authority = text + skipped;
        *authority_size = end - skipped;
        return true;
    }
    return false;
}

/* Returns how many bytes come before the path. */
static size_t path_start(const char *text, size_t size)
{
    const char *authority;
    size_t length;
    if (!request_target_authority(text, size, &authority, &length))
        return 0;
    return (size_t)(authority - text) + length;
}

char *request_target_path(const char *target)
{
    const char *at = target + path_start(target, strlen(target));
    const char *end = at + strcspn(at, "?");
    char *path = calloc(1, (size_t)(end - at) + 2), *to = path;
    CHECK(path != NULL);
    if (at == end)
        *to++ = '/';
    while (at < end) {
        struct letter letter = letter_at(at, end);
        bool same = letter.size == 3 && letter.value < 0x80 &&
                    (isalnum(letter.value) || strchr("-._~", letter.value) != NULL);
        size_t size = letter.size > 0 ? letter.size : 1;
        if (same)
            *to++ = (char)letter.value;
        else
            memcpy(to, at, size), to += size;
        at += size;
    }
    return path;
}

/* Checks what follows the first slash, or the question mark if there is no path. */
static enum status check_letters(const char *at, const char *end, bool in_path,
                                 struct error *error)
{
    struct utf8 utf8 = {0};
    size_t segment = 0, dots = 0; /* characters of the segment, and how many are dots */
    enum status status = ST_OK;
    while (at < end && status == ST_OK) {
        if (utf8.left == 0 && is_plain(*at)) {
            segment++;
            at++;
            continue;
        }
        struct letter letter = letter_at(at, end);
        bool ends = letter.size == 1 && in_path && (*at == '/' || *at == '?');
        status = check_letter(&letter, in_path, &utf8, error);
        if (status == ST_OK && ends) {
            status = check_segment(segment, dots, *at == '?', error);
            in_path = *at != '?';
            segment = dots = 0;
        } else {
            segment++;
            dots += letter.value == '.';
        }
        at += letter.size;
    }
    if (status == ST_OK && in_path)
        status = check_segment(segment, dots, true, error);
    if (status == ST_OK && utf8.left > 0)
        status = error_set(error, ST_INVALID, "the path or query is not UTF-8");
    return status;
}

enum status request_target_check(const char *text, size_t size, struct error *error)
{
    size_t start = path_start(text, size), host_size;
    const char *at = text + start, *end = text + size, *host;
    if (size > LIMIT_URI)
        return error_set(error, ST_URI_TOO_LONG, "at most %d bytes", LIMIT_URI);
    if (request_target_authority(text, size, &host, &host_size) && host_size == 0)
        return error_set(error, ST_INVALID, "the target names no host");
    if (start > 0 && (at == end || *at == '?')) /* the path is / */
        return check_letters(at == end ? end : at + 1, end, at == end, error);
    if (at == end || *at != '/')
        return error_set(error, ST_INVALID,
                         "a request's target must begin with /, or be "
                         "http://HOST/PATH");
    return check_letters(at + 1, end, true, error);
}

bool request_target_decode(char *to, size_t room, const char *piece, size_t size)
{
    size_t used = 0;
    const char *end = piece + size;
    for (const char *at = piece; at < end; used++) {
        struct letter letter = letter_at(at, end);
        if (used + 1 >= room || letter.size == 0) {
            to[0] = '\0';
            return false;
        }
        to[used] = (char)letter.value;
        at += letter.size;
    }
    to[used] = '\0';
    return true;
}
