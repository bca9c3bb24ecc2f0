/*
 * schema_value.h - what members of a schema's JSON have in common, for schema_text.c and
 * columns_text.c alone: ranges, lists without repetition, members that have no place.
 */
#ifndef API_SCHEMA_VALUE_H
#define API_SCHEMA_VALUE_H

#include "api/json_reader.h"
#include "api/json_writer.h"
#include "engine/data/reader.h"

/* Zeroed memory, of a size that the limit on bodies bounds. */
void *schema_value_allocate(size_t count, size_t size);

/* Must be [low, high] with low below high. */
void schema_value_read_range(double *low, double *high, struct json_node node);
void schema_value_write_range(struct json_writer *writer, double low, double high);

/* Refuses a text that is in seen, an object, and puts it there. One that was refused
 * before is "", and no text at all. */
void schema_value_remember(json_t *seen, struct json_node node, const char *text);

/* Refuses a member that is there: "the reason". */
void schema_value_refuse(const struct json_node *object, const char *name,
                         const char *reason);

/* The same because of what the format has in its place: "csv has columns"; or because
 * only formats of another form have it: "only csv has columns". */
void schema_value_refuse_of(const struct reader *reader, const struct json_node *object,
                            const char *name, const char *has);
void schema_value_refuse_unless(enum record_form form, const struct json_node *object,
                                const char *name, const char *has);

#endif
