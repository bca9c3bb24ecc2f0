#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *status_wire(enum status status)
{
    switch (status) {
#define X(symbol, wire, advice)                                                        \
    case ST_##symbol: return wire;
        STATUS_LIST(X)
#undef X
    }
    return "internal";
}

const char *status_advice(enum status status)
{
    switch (status) {
#define X(symbol, wire, advice)                                                        \
    case ST_##symbol: return advice;
        STATUS_LIST(X)
#undef X
    }
    return "";
}

static void record(struct error *error, enum status status, const char *pointer,
                   const char *format, va_list arguments)
    __attribute__((format(printf, 4, 0)));

static void record(struct error *error, enum status status, const char *pointer,
                   const char *format, va_list arguments)
{
    if (error == NULL || error->status != ST_OK)
        return;
    error->status = status;
    snprintf(error->pointer, sizeof error->pointer, "%s", pointer);
    vsnprintf(error->text, sizeof error->text, format, arguments);
}

enum status error_set(struct error *error, enum status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record(error, status, "", format, arguments);
    va_end(arguments);
    return status;
}

enum status error_set_at(struct error *error, enum status status, const char *pointer,
                         const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record(error, status, pointer, format, arguments);
    va_end(arguments);
    return status;
}

/* Copies as much of text as fits, and returns where the copy ends. */
static size_t append(char *out, size_t at, size_t size, const char *text)
{
    while (*text != '\0' && at + 1 < size)
        out[at++] = *text++;
    out[at] = '\0';
    return at;
}

enum status error_within(struct error *error, enum status status, const char *format,
                         ...)
{
    char was[sizeof error->text];
    va_list arguments;
    if (error == NULL)
        return status;
    memcpy(was, error->text, sizeof was);
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    size_t at = append(error->text, strlen(error->text), sizeof error->text, ": ");
    append(error->text, at, sizeof error->text, was);
    return status;
}
