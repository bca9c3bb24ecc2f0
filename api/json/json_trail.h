/*
 * json_trail.h - the path to a place in text that need not be JSON: the containers that
 * are open there. Finds where text that is no JSON went wrong, and text that is nested
 * too deep, before it is parsed.
 *
 * Pure.
 */
#ifndef API_JSON_JSON_TRAIL_H
#define API_JSON_JSON_TRAIL_H

#include <stdbool.h>
#include <stddef.h>

#include "api/json/json_pointer.h"
#include "api/limits.h"

struct json_level {
    bool array, named; /* named: the name of the current member is known */
    size_t index;
    const char *name; /* in the text */
    size_t name_size;
};

struct json_trail {
    size_t depth;
    struct json_level levels[LIMIT_JSON_DEPTH];
};

/* Scans text up to its end. Returns false if it is nested deeper than
 * LIMIT_JSON_DEPTH. */
bool json_trail_follow(struct json_trail *trail, const char *text, size_t size);

/* Appends the path of the trail to the pointer. */
void json_trail_pointer(const struct json_trail *trail, struct json_pointer *pointer);

#endif
