#include "api/json/json_schema.h"

#include <stdio.h>

void json_schema_members(struct json_writer *writer)
{
    json_write_text(writer, "type", "object");
    json_write_object(writer, "properties");
}

void json_schema_object(struct json_writer *writer, const char *name)
{
    json_write_object(writer, name);
    json_schema_members(writer);
}

void json_schema_object_end(struct json_writer *writer, const char *const *required)
{
    json_write_object_end(writer);
    json_write_array(writer, "required");
    while (*required != NULL)
        json_write_text(writer, NULL, *required++);
    json_write_array_end(writer);
    json_write_flag(writer, "additionalProperties", false);
    json_write_object_end(writer);
}

void json_schema_word(struct json_writer *writer, const char *name, const char *word)
{
    json_write_object(writer, name);
    json_write_text(writer, "const", word);
    json_write_object_end(writer);
}

void json_schema_words(struct json_writer *writer, const char *name,
                       const char *const *words, const char *fallback)
{
    json_write_object(writer, name);
    json_write_array(writer, "enum");
    while (*words != NULL)
        json_write_text(writer, NULL, *words++);
    json_write_array_end(writer);
    if (fallback != NULL)
        json_write_text(writer, "default", fallback);
    json_write_object_end(writer);
}

void json_schema_count(struct json_writer *writer, const char *name, uint64_t low,
                       uint64_t high, const uint64_t *fallback)
{
    json_write_object(writer, name);
    json_write_text(writer, "type", "integer");
    json_write_count(writer, "minimum", low);
    json_write_count(writer, "maximum", high);
    if (fallback != NULL)
        json_write_count(writer, "default", *fallback);
    json_write_object_end(writer);
}

void json_schema_real(struct json_writer *writer, const char *name,
                      struct json_range range, const double *fallback)
{
    json_write_object(writer, name);
    json_write_text(writer, "type", "number");
    json_write_real(writer, range.low_open ? "exclusiveMinimum" : "minimum", range.low);
    json_write_real(writer, range.high_open ? "exclusiveMaximum" : "maximum",
                    range.high);
    if (fallback != NULL)
        json_write_real(writer, "default", *fallback);
    json_write_object_end(writer);
}

void json_schema_flag(struct json_writer *writer, const char *name, bool fallback)
{
    json_write_object(writer, name);
    json_write_text(writer, "type", "boolean");
    json_write_flag(writer, "default", fallback);
    json_write_object_end(writer);
}

void json_schema_list(struct json_writer *writer, const char *name, uint64_t low,
                      uint64_t high)
{
    json_write_object(writer, name);
    json_write_text(writer, "type", "array");
    json_write_count(writer, "minItems", low);
    json_write_count(writer, "maxItems", high);
}

void json_schema_reference(struct json_writer *writer, const char *name,
                           const char *definition)
{
    char place[64];
    snprintf(place, sizeof place, "#/$defs/%s", definition);
    json_write_object(writer, name);
    json_write_text(writer, "$ref", place);
}
