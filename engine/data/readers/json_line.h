/*
 * json_line.h - reads one JSON object from a line, member by member and in place. It reads
 * RFC 8259 strictly: UTF-8 without lone surrogates, no comments, no trailing comma, no NaN.
 *
 * A value is a text, a number, true, false or null. Arrays and objects as values are
 * refused, so no depth has to be bounded. The text of a number is as the line has it: no
 * digit is lost, which a library that reads numbers as doubles cannot promise.
 *
 * Threads: pure; one caller a line.
 */
#ifndef ENGINE_DATA_READERS_JSON_LINE_H
#define ENGINE_DATA_READERS_JSON_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/data/encode.h"
#include "engine/data/readers/lines.h"

struct json_line { /* a line that is being read */
    char *begin, *at, *end;
    bool begun; /* the brace of the object was read */
    const char
        *fault; /* what is wrong at `at`, without a byte of the line; else NULL */
};

struct json_member {
    struct cell name; /* without escapes; its place in the line, in bytes from 1 */
    size_t name_at;
    struct cell
        value; /* a text without escapes, a number, "true" or "false"; null: "" */
    size_t value_at;
};

struct json_line json_line_at(const struct line *line);

/* Reads the next member. Cells point into the line, which is overwritten up to `at`.
 * Returns false at the end of the object, and at a fault: line->fault then says what it
 * is, and json_line_place where. */
bool json_line_next(struct json_line *line, struct json_member *member);

/* Returns the place of `at` in the line, in bytes from 1. */
size_t json_line_place(const struct json_line *line);

#endif
