/*
 * json_pointer.h - a JSON pointer (RFC 6901) under construction. Text that does not fit
 * is cut off.
 *
 * Pure.
 */
#ifndef API_JSON_JSON_POINTER_H
#define API_JSON_JSON_POINTER_H

#include <stddef.h>

#include "api/json/fault.h"

enum { JSON_POINTER_SIZE = sizeof((struct fault *)NULL)->pointer };

struct json_pointer {
    size_t size;
    char text[JSON_POINTER_SIZE];
};

/* These append one reference token: a name, whose ~ and / are escaped, or an index. */
void json_pointer_name(struct json_pointer *pointer, const char *name, size_t size);
void json_pointer_index(struct json_pointer *pointer, size_t index);

#endif
