/*
 * json_wide.h - JSON whose whole numbers do not fit 64 bits. JSON has only one kind of
 * number (RFC 8259, 6), but jansson reads a number without a point or an exponent as an
 * int64 and refuses larger ones. This file adds a point to such numbers, so that they
 * are read as reals.
 *
 * Pure.
 */
#ifndef API_JSON_JSON_WIDE_H
#define API_JSON_JSON_WIDE_H

#include <stddef.h>

struct json_wide {
    char *text; /* owned */
    size_t size;
};

/* Copies body[0..size) with ".0" after each whole number beyond an int64. Text that is
 * not JSON is copied as it is. */
void json_wide_init(struct json_wide *wide, const char *body, size_t size);
void json_wide_fini(struct json_wide *wide);

/* Returns how many bytes were inserted before wide.text[place] in the line of
 * that place. */
size_t json_wide_inserted(const char *body, size_t size, size_t place);

#endif
