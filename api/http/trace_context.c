#include "api/http/trace_context.h"

#include <string.h>

enum {
    PARENT_LENGTH = TRACE_PARENT_SIZE - 1,
    TRACE_AT = 3, /* position of the trace id, */
    SPAN_AT = 36, /* and of the parent id, */
    FLAGS_AT = 53,
    SPAN_LENGTH = 16,
};

/* Returns whether text begins with length lower-case hexadecimal digits. */
static bool is_hex(const char *text, size_t length)
{
    return strspn(text, "0123456789abcdef") >= length;
}

static bool is_zero(const char *text, size_t length)
{
    return strspn(text, "0") >= length;
}

/* Returns whether value[0..PARENT_LENGTH) has the digits and dashes of a
 * traceparent. */
static bool has_form(const char *value)
{
    return is_hex(value, 2) && value[2] == '-' &&
           is_hex(value + TRACE_AT, TRACE_ID_SIZE - 1) && value[SPAN_AT - 1] == '-' &&
           is_hex(value + SPAN_AT, SPAN_LENGTH) && value[FLAGS_AT - 1] == '-' &&
           is_hex(value + FLAGS_AT, 2);
}

bool trace_context_parse(struct trace_context *trace, const char *value)
{
    trace->parent[0] = '\0';
    if (value == NULL || strlen(value) < PARENT_LENGTH || !has_form(value))
        return false;
    bool is_first = strncmp(value, "00", 2) == 0;
    char end = value[PARENT_LENGTH];
    if (strncmp(value, "ff", 2) == 0 || (end != '\0' && (is_first || end != '-')) ||
        is_zero(value + TRACE_AT, TRACE_ID_SIZE - 1) ||
        is_zero(value + SPAN_AT, SPAN_LENGTH))
        return false;
    memcpy(trace->parent, value, PARENT_LENGTH);
    trace->parent[PARENT_LENGTH] = '\0';
    memcpy(trace->parent, "00", 2);
    return true;
}

bool trace_context_id(const struct trace_context *trace, char id[TRACE_ID_SIZE])
{
    id[0] = '\0';
    if (trace->parent[0] == '\0')
        return false;
    memcpy(id, trace->parent + TRACE_AT, TRACE_ID_SIZE - 1);
    id[TRACE_ID_SIZE - 1] = '\0';
    return true;
}
