/*
 * json_wide.h - JSON whose whole numbers do not fit 64 bits. JSON has one kind of number
 * (RFC 8259, 6), but jansson reads a number without a point or an exponent as an int64 and
 * refuses larger ones. Here such numbers get a point, which makes reals of them.
 *
 * Pure.
 */
#ifndef API_JSON_WIDE_H
#define API_JSON_WIDE_H

#include <stddef.h>

struct json_wide {
    char *text; /* owned */
    size_t size;
};

/* Copies body[0..size) with ".0" behind each whole number beyond an int64. What is no JSON
 * is copied as it is. */
void json_wide_init(struct json_wide *wide, const char *body, size_t size);
void json_wide_fini(struct json_wide *wide);

/* Answers how many bytes were inserted before wide.text[place] in the line of that
 * place. */
size_t json_wide_inserted(const char *body, size_t size, size_t place);

#endif
