#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

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
