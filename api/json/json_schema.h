/*
 * json_schema.h - the building blocks of a JSON Schema (2020-12): the allowed values of
 * a request's member, and its default.
 */
#ifndef API_JSON_JSON_SCHEMA_H
#define API_JSON_JSON_SCHEMA_H

#include "api/json/json_reader.h"
#include "api/json/json_writer.h"

/* Writes an object that allows no members except those that are written between the two
 * calls. required is NULL-ended. */
void json_schema_object(struct json_writer *writer, const char *name);
/* The same for an object that is open and already has members of its own. */
void json_schema_members(struct json_writer *writer);
void json_schema_object_end(struct json_writer *writer, const char *const *required);

/* Writes a text with exactly one allowed value. */
void json_schema_word(struct json_writer *writer, const char *name, const char *word);

/* Writes a text that is one of the words (NULL-ended). fallback is the default; NULL:
 * none. */
void json_schema_words(struct json_writer *writer, const char *name,
                       const char *const *words, const char *fallback);

/* Write values in a range. fallback is the default; NULL: none. */
void json_schema_count(struct json_writer *writer, const char *name, uint64_t low,
                       uint64_t high, const uint64_t *fallback);
void json_schema_real(struct json_writer *writer, const char *name,
                      struct json_range range, const double *fallback);
void json_schema_flag(struct json_writer *writer, const char *name, bool fallback);

/* Writes a list of low to high values. It stays open for the schema of the values,
 * called "items", and for more, until json_write_object_end. */
void json_schema_list(struct json_writer *writer, const char *name, uint64_t low,
                      uint64_t high);

/* Writes a reference to the definition of that name, {"$ref":"#/$defs/NAME"}. It stays
 * open for more until json_write_object_end. */
void json_schema_reference(struct json_writer *writer, const char *name,
                           const char *definition);

#endif
