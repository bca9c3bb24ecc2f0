/*
 * schema_text.h - a dataset's schema as members of a JSON object: of the body that
 * creates it, of the dataset as answered, and of a model's "inputs" (api.md,
 * schema).
 *
 *   "format":name, "task":classification|regression, "classes":count,
 *   idx, npy  "features":{"shape":[...],"scale":x}
 *   cifar10, cifar100  "features"?:{"shape"?:[3,32,32],"scale"?:255}
 *   libsvm  "features":{"count":n,"range"?:[a,b]}, "labels"?:[numbers in class order]
 *   csv     "header"?:flag, "columns":[{"name","kind",...}]
 *   "target":{"range":[a,b]}  of a regression, not in csv
 *
 * After reading every default stands in the schema: libsvm labels are never NULL for a
 * classification, csv classes are counted from the label's values.
 */
#ifndef API_SCHEMA_TEXT_H
#define API_SCHEMA_TEXT_H

#include "engine/data/schema.h"

struct json_node;
struct json_writer;

/* The members above, NULL-ended after those of head (NULL-ended too): for the check
 * that an object holds no other. */
enum { SCHEMA_MEMBERS_MAX = 16 };
void schema_text_members(const char *members[SCHEMA_MEMBERS_MAX],
                         const char *const *head);

/* Fills in a zeroed schema. What it owns must be released whether
 * or not it is refused. */
void schema_text_read(struct schema *schema, const struct json_node *object);
void schema_text_write(struct json_writer *writer, const struct schema *schema);

#endif
