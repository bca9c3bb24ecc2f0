#include "api/http/query.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/json/fault.h"
#include "api/json/json_reader.h"
#include "base/clock.h"

static enum status refuse(struct error *error, enum fault_kind kind, const char *name,
                          const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static enum status refuse(struct error *error, enum fault_kind kind, const char *name,
                          const char *format, ...)
{
    va_list arguments;
    struct fault fault = {.kind = kind};
    snprintf(fault.pointer, sizeof fault.pointer, "?%s", name);
    va_start(arguments, format);
    vsnprintf(fault.text, sizeof fault.text, format, arguments);
    va_end(arguments);
    return fault_add(error, &fault);
}

enum status query_refuse(const char *name, const char *text, struct error *error)
{
    return refuse(error, FAULT_INVALID, name, "query parameter %s %s", name, text);
}

enum status query_take(struct query_seen *seen, const char *name, struct error *error)
{
    const char *takes = seen->route->query;
    int place = route_parameter(seen->route, name);
    if (place < 0)
        return refuse(error, FAULT_UNKNOWN, name,
                      "no query parameter \"%.64s\" here%s%s", name,
                      takes[0] != '\0' ? ", but: " : "", takes);
    if ((seen->places >> place & 1) != 0)
        return refuse(error, FAULT_REPEATED, name, "query parameter %s stands twice",
                      name);
    seen->places |= 1u << place;
    return ST_OK;
}

/* Reads 1 to DIGITS_MAX digits and nothing else, as a number below LIMIT_COUNT. */
static bool read_digits(uint64_t *value, const char *text)
{
    enum { DIGITS_MAX = 16 }; /* of a count, including leading zeros */
    uint64_t sum = 0;
    size_t size = strlen(text);
    if (size == 0 || size > DIGITS_MAX)
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return false;
        sum = 10 * sum + (uint64_t)(*text - '0');
        if (sum >= (uint64_t)LIMIT_COUNT)
            return false;
    }
    *value = sum;
    return true;
}

enum status query_count(uint64_t *value, const char *name, const char *text,
                        struct query_range range, struct error *error)
{
    uint64_t read = range.fallback;
    if (text != NULL &&
        (!read_digits(&read, text) || read < range.low || read > range.high))
        return refuse(error, FAULT_OUT_OF_RANGE, name,
                      "query parameter %s must be a whole number from %" PRIu64
                      " to %" PRIu64,
                      name, range.low, range.high);
    *value = read;
    return ST_OK;
}

enum status query_page_size(size_t *page_size, const char *text, struct error *error)
{
    uint64_t value = 0;
    enum status status = query_count(
        &value, "page_size", text, (struct query_range){0, LIMIT_PAGE_SIZE, 0}, error);
    if (status == ST_OK)
        *page_size = value > 0 ? (size_t)value : LIMIT_PAGE_SIZE_DEFAULT;
    return status;
}

/* Refuses, and lists the values that are allowed: "must be a, b or c". */
static enum status refuse_choice(const char *name, const char *const *names,
                                 struct error *error)
{
    char text[256] = "must be ";
    size_t used = strlen(text);
    for (size_t i = 0; names[i] != NULL && used < sizeof text; i++) {
        const char *before = i == 0 ? "" : names[i + 1] != NULL ? ", " : " or ";
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s", before, names[i]);
    }
    return query_refuse(name, text, error);
}

/* Returns the index of text[0..size) among names; that of the end if it is none
 * of them. */
static unsigned place_among(const char *const *names, const char *text, size_t size)
{
    unsigned place = 0;
    while (names[place] != NULL &&
           (strlen(names[place]) != size || memcmp(names[place], text, size) != 0))
        place++;
    return place;
}

enum status query_choice(unsigned *place, const char *name, const char *text,
                         const char *const *names, struct error *error)
{
    if (text == NULL)
        return ST_OK;
    unsigned found = place_among(names, text, strlen(text));
    if (names[found] == NULL)
        return refuse_choice(name, names, error);
    *place = found;
    return ST_OK;
}

enum status query_choices(unsigned *places, const char *name, const char *text,
                          const char *const *names, struct error *error)
{
    unsigned found = 0;
    if (text == NULL)
        return ST_OK;
    for (;; text++) {
        size_t size = strcspn(text, ",");
        unsigned place = place_among(names, text, size);
        if (names[place] == NULL)
            return refuse_choice(name, names, error);
        found |= 1u << place;
        text += size;
        if (*text == '\0')
            break;
    }
    *places = found;
    return ST_OK;
}

/* A text is a valid time if rendering the time that it parses to gives the
 * same text. */
enum status query_time(int64_t *wall_ms, const char *name, const char *text,
                       struct error *error)
{
    struct tm parts = {0};
    char again[CLOCK_TEXT_SIZE] = "";
    int64_t read = 0;
    if (text == NULL)
        return ST_OK;
    if (strlen(text) == CLOCK_TEXT_SIZE - 1 &&
        sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2dZ", &parts.tm_year, &parts.tm_mon,
               &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec) == 6) {
        parts.tm_year -= 1900;
        parts.tm_mon -= 1;
        read = (int64_t)timegm(&parts) * 1000;
        clock_render(again, read);
    }
    if (again[0] == '\0' || strcmp(again, text) != 0)
        return query_refuse(name, "must be a time such as 2026-01-31T12:00:00Z", error);
    *wall_ms = read;
    return ST_OK;
}

void page_mark_render(char token[PAGE_TOKEN_SIZE], const struct page_mark *mark)
{
    uint64_t bits;
    int used =
        snprintf(token, PAGE_TOKEN_SIZE, "%c%" PRIx64, mark->order, mark->position);
    memcpy(&bits, &mark->number, sizeof bits);
    if (mark->has_number)
        snprintf(token + used, PAGE_TOKEN_SIZE - (size_t)used, ".%016" PRIx64, bits);
}

/* A token is valid if rendering what it parses to gives the same token. */
enum status page_mark_parse(struct page_mark *mark, const char *text,
                            struct error *error)
{
    char again[PAGE_TOKEN_SIZE];
    char *end = NULL;
    struct page_mark read = {.order = text[0]};
    if (text[0] >= 'a' && text[0] <= 'z')
        read.position = strtoull(text + 1, &end, 16);
    if (end != NULL && *end == '.') {
        uint64_t bits = strtoull(end + 1, NULL, 16);
        memcpy(&read.number, &bits, sizeof bits);
        read.has_number = true;
    }
    page_mark_render(again, &read);
    if (strcmp(again, text) != 0 || read.position >= (uint64_t)LIMIT_COUNT ||
        isnan(read.number))
        return query_refuse("page_token", "is not one that was given out", error);
    if (read.order != mark->order || read.has_number != mark->has_number)
        return query_refuse("page_token", "is of a list in another order", error);
    *mark = read;
    return ST_OK;
}

enum status body_fingerprint(uint8_t fingerprint[SHA256_SIZE],
                             const struct request_line *line, struct json_text body,
                             struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    if (json_reader_open(&reader, &root, body, error) == ST_OK) {
        char *text = json_dumps(reader.root, JSON_SORT_KEYS | JSON_COMPACT |
                                                 JSON_REAL_PRECISION(17));
        if (text == NULL) {
            json_reader_close(&reader);
            return error_set(error, ST_NO_MEMORY,
                             "no memory for the body's canonical form");
        }
        struct sha256 *hash = sha256_create();
        sha256_update(hash, line->method, strlen(line->method) + 1);
        sha256_update(hash, line->path, strlen(line->path) + 1);
        sha256_update(hash, text, strlen(text));
        sha256_finish(hash, fingerprint);
        sha256_destroy(hash);
        free(text);
    }
    return json_reader_close(&reader);
}
