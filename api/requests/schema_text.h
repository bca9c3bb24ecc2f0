/*
 * schema_text.h - a dataset's schema as members of a JSON object: of the body that
 * creates it, of the dataset in responses, and of a model's "inputs" (api.md, schema).
 *
 *   "format":name, "task":classification|regression, "classes":count; the others depend
 *   on the form of the format's records (engine/data/reader.h):
 *   shaped   "features":{"shape":[...],"scale":x}, which both have defaults if the
 *            format fixes them
 *   indexed  "features":{"count":n,"range"?:[a,b]}, "labels"?:[numbers in class order]
 *   columns  "header"?:flag, "delimiter"?, "decimal"?,
 *            "columns":[{"name","kind",...}] (columns_text.h)
 *   "target":{"range":[a,b]}  for a regression without columns
 *   "privacy_id"?:flag        without columns: the ids of persons come in a file of
 *                             their own
 *   "rows_kept"?:count        for each person, if the unit is the person
 *
 * After reading, the schema contains every default: the labels of an indexed
 * classification are never NULL, and the classes of columns are counted from the
 * label's values.
 */
#ifndef API_REQUESTS_SCHEMA_TEXT_H
#define API_REQUESTS_SCHEMA_TEXT_H

#include "engine/data/schema.h"

struct json_node;
struct json_writer;

/* Lists the members above, NULL-ended, after those of head (NULL-ended too), to check
 * that an object has no other members. */
enum { SCHEMA_MEMBERS_MAX = 24 };
void schema_text_members(const char *members[SCHEMA_MEMBERS_MAX],
                         const char *const *head);

/* Fills in a zeroed schema, which the caller must finish, whether or not it is refused.
 * If it is refused, only schema_fini may be called: its reader may be NULL. */
void schema_text_read(struct schema *schema, const struct json_node *object);
void schema_text_write(struct json_writer *writer, const struct schema *schema);

#endif
