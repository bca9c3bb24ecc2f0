/*
 * columns_text.h - the columns of a schema as JSON: the members of an object that only
 * formats with columns have.
 *
 *   "header"?:flag, "delimiter"?:","|";"|TAB|"|", "decimal"?:"."|",",
 *   "columns":[{"name","kind":numeric|categorical|label|ignored,
 *               "range"|"values","default"}], "classes"?:count
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
