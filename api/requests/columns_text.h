/*
 * columns_text.h - the columns of a schema as JSON: the members of an object that only
 * formats with columns have.
 *
 *   "header"?:flag, "delimiter"?:","|";"|TAB|"|", "decimal"?:"."|",",
 *   "missing"?:[texts], "columns":[{"name","kind",...}], "classes"?:count
 *
 * The texts of missing cells of the table are those of each column that has no "missing"
 * of its own (column_text.h), and are written there.
 *
 * The classes are counted from the label's values. If "classes" is given as well, the
 * two must agree.
 */
#ifndef API_REQUESTS_COLUMNS_TEXT_H
#define API_REQUESTS_COLUMNS_TEXT_H

#include "engine/data/schema.h"

struct json_node;
struct json_writer;

/* Fills in the columns of a schema whose reader and task are known. */
void columns_text_read(struct schema *schema, const struct json_node *object);

/* Writes "header" and "columns"; "delimiter" and "decimal" if they are not the default,
 * so that texts that were stored by earlier versions keep their form. */
void columns_text_write(struct json_writer *writer, const struct schema *schema);

#endif
