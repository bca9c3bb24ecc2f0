/*
 * json_schema.h - the pieces that a JSON Schema (2020-12) is made of: what a member of a
 * request may be, and what it is where it is left out.
 */
#ifndef API_JSON_SCHEMA_H
#define API_JSON_SCHEMA_H

#include "api/json_reader.h"
#include "api/json_writer.h"

/* An object with no members but those that are written in between. required is
 * NULL-ended. */
void json_schema_object(struct json_writer *writer, const char *name);
/* The same of an object that is open and already has members of its own. */
void json_schema_members(struct json_writer *writer);
void json_schema_object_end(struct json_writer *writer, const char *const *required);

/* A text that is this one and no other. */
void json_schema_word(struct json_writer *writer, const char *name, const char *word);

/* Values in a range; fallback NULL: none. */
void json_schema_count(struct json_writer *writer, const char *name, uint64_t low,
                       uint64_t high, const uint64_t *fallback);
void json_schema_real(struct json_writer *writer, const char *name,
                      struct json_range range, const double *fallback);
void json_schema_flag(struct json_writer *writer, const char *name, bool fallback);

/* A list of low to high values. It stays open for the schema of these, called "items", and
 * for more, until json_write_object_end. */
void json_schema_list(struct json_writer *writer, const char *name, uint64_t low,
                      uint64_t high);

/* A reference to the definition of that name, {"$ref":"#/$defs/NAME"}; it stays open for
 * more until json_write_object_end. */
void json_schema_reference(struct json_writer *writer, const char *name,
                           const char *definition);

#endif
