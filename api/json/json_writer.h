/*
 * json_writer.h - writes JSON text member by member in a fixed order, without blanks.
 *
 * Reals are finite or null. JSON_SHOWN: 15 significant digits. JSON_EXACT: the fewest
 * of 15, 16 and 17 that read back to the same double. A real always has a point or an
 * exponent, a count never. Strings are always valid UTF-8: a broken sequence in the
 * input becomes U+FFFD.
 *
 * name is the member's name, or NULL inside an array and for the outermost value.
 */
#ifndef API_JSON_JSON_WRITER_H
#define API_JSON_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum json_digits { JSON_SHOWN, JSON_EXACT };

struct json_writer {
    FILE *stream;
    char *text;
    size_t size;
    enum json_digits digits; /* of the reals written next; may be set at any time */
    bool comma;              /* a value comes before, at this level */
};

void json_writer_open(struct json_writer *writer, enum json_digits digits);

/* Returns the text, to be freed; NULL if there was no memory for it. */
char *json_writer_finish(struct json_writer *writer);

/* The same for texts of bounded size. Aborts if there is no memory, so the result is
 * never NULL. */
char *json_writer_close(struct json_writer *writer);

void json_write_object(struct json_writer *writer, const char *name); /* { */
void json_write_object_end(struct json_writer *writer);               /* } */
void json_write_array(struct json_writer *writer, const char *name);  /* [ */
void json_write_array_end(struct json_writer *writer);                /* ] */

void json_write_text(struct json_writer *writer, const char *name,
                     const char *text); /* NULL: null */
void json_write_real(struct json_writer *writer, const char *name, double value);
void json_write_count(struct json_writer *writer, const char *name, uint64_t value);
void json_write_flag(struct json_writer *writer, const char *name, bool value);
void json_write_null(struct json_writer *writer, const char *name);

/* Writes null unless the value is known. */
void json_write_real_if(struct json_writer *writer, bool known, const char *name,
                        double value);
void json_write_count_if(struct json_writer *writer, bool known, const char *name,
                         uint64_t value);

/* Copies json, which must be the text of one JSON value, as it is. */
void json_write_raw(struct json_writer *writer, const char *name, const char *json);

/* Writes the time as RFC 3339 UTC in whole seconds, and 0 as null. */
void json_write_time(struct json_writer *writer, const char *name, int64_t wall_ms);

/* Writes 32 bytes as hexadecimal digits, and NULL as null. */
void json_write_digest(struct json_writer *writer, const char *name,
                       const uint8_t *digest);

void json_write_reals(struct json_writer *writer, const char *name,
                      const double *values, size_t count);

#endif
