#include "api/query.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/fault.h"
#include "api/json_reader.h"

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

/* Reads digits and nothing else, as a number below LIMIT_COUNT. */
static bool read_digits(uint64_t *value, const char *text)
{
    uint64_t sum = 0;
    if (*text == '\0')
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

void page_token_render(char token[PAGE_TOKEN_SIZE], uint64_t position)
{
    snprintf(token, PAGE_TOKEN_SIZE, "p%" PRIx64, position);
}

enum status page_token_parse(uint64_t *position, const char *text, struct error *error)
{
    char again[PAGE_TOKEN_SIZE];
    uint64_t read = 0;
    if (text != NULL) {
        if (text[0] == 'p')
            read = strtoull(text + 1, NULL, 16);
        page_token_render(again, read);
        if (strcmp(again, text) != 0 || read >= (uint64_t)LIMIT_COUNT)
            return query_refuse("page_token", "is not one that was given out", error);
    }
    *position = read;
    return ST_OK;
}

enum status body_fingerprint(uint8_t fingerprint[SHA256_SIZE],
                             const struct request_line *line, const char *body,
                             size_t size, struct error *error)
{
    struct json_reader reader;
    struct json_node root;
    if (json_reader_open(&reader, &root, body, size, error) == ST_OK) {
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
