/*
 * schema_value.h - functions that only schema_text.c and columns_text.c share, for
 * members of a schema's JSON: ranges, lists without repetition, members that are
 * not allowed.
 */
#ifndef API_REQUESTS_SCHEMA_VALUE_H
#define API_REQUESTS_SCHEMA_VALUE_H

#include "api/json/json_reader.h"
#include "api/json/json_writer.h"
#include "engine/data/reader.h"

/* Allocates zeroed memory. The limit on bodies bounds its size. */
void *schema_value_allocate(size_t count, size_t size);

/* Reads [low, high], where low must be below high. */
void schema_value_read_range(double *low, double *high, struct json_node node);
void schema_value_write_range(struct json_writer *writer, double low, double high);

/* Refuses a text that is in the object seen, and adds it. The text of a node that was
 * refused before is "", which is ignored. */
void schema_value_remember(json_t *seen, struct json_node node, const char *text);

/* Refuses a member if it is present: "the reason". */
void schema_value_refuse(const struct json_node *object, const char *name,
                         const char *reason);

/* The same, because the format has something else instead: "csv has columns"; or
 * because only formats of another form have the member: "only csv has columns". */
void schema_value_refuse_of(const struct reader *reader, const struct json_node *object,
                            const char *name, const char *has);
void schema_value_refuse_unless(enum record_form form, const struct json_node *object,
                                const char *name, const char *has);

/* Refuses header, delimiter and decimal, because the format has no dialect. */
void schema_value_refuse_dialect(const struct reader *reader,
                                 const struct json_node *object);

#endif
