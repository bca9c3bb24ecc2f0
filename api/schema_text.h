/*
 * schema_text.h - a dataset's schema as members of a JSON object: of the body that
 * creates it, of the dataset as answered, and of a model's "inputs" (api.md,
 * schema).
 *
 *   "format":name, "task":classification|regression, "classes":count, and by the form of
 *   the format's records (engine/data/reader.h):
 *   shaped   "features":{"shape":[...],"scale":x}, which all have defaults where the format
 *            says them itself
 *   indexed  "features":{"count":n,"range"?:[a,b]}, "labels"?:[numbers in class order]
 *   columns  "header"?:flag, "columns":[{"name","kind",...}] (columns_text.h)
 *   "target":{"range":[a,b]}  of a regression without columns
 *   "privacy_id"?:flag        without columns: the ids of persons come in a file of their own
 *   "rows_kept"?:count        of a person; where the unit is the person
 *
 * After reading, every default stands in the schema: the labels of an indexed
 * classification are never NULL, and the classes of columns are counted from the label's
 * values.
 */
#ifndef API_SCHEMA_TEXT_H
#define API_SCHEMA_TEXT_H

#include "engine/data/schema.h"

struct json_node;
struct json_writer;

/* The members above, NULL-ended after those of head (NULL-ended too): for the check
 * that an object holds no other. */
enum { SCHEMA_MEMBERS_MAX = 20 };
void schema_text_members(const char *members[SCHEMA_MEMBERS_MAX],
                         const char *const *head);

/* Fills in a zeroed schema, which the caller finishes whether or not it is refused. Of
 * one that is refused only schema_fini may be called: its reader may be NULL. */
void schema_text_read(struct schema *schema, const struct json_node *object);
void schema_text_write(struct json_writer *writer, const struct schema *schema);

#endif
