/*
 * columns_request.h - the members of a model of histograms (docs/network.md 7):
 *
 *   "columns"  the features of each column of the table, in their order; the default is
 *              the dataset's
 *   "pairs"    [["age", "hours"], ...] columns that have a step function together, by name,
 *              or by their number in "columns", counted from 0. It is written as numbers
 */
#ifndef API_REQUESTS_COLUMNS_REQUEST_H
#define API_REQUESTS_COLUMNS_REQUEST_H

#include "engine/data/schema.h"
#include "engine/nn/model_spec.h"

struct json_node;
struct json_writer;

#define COLUMNS_MEMBERS "columns", "pairs"

void columns_request_read(struct model_spec *model, const struct json_node *node);
void columns_request_write(struct json_writer *writer,
                           const struct model_columns *columns);

/* Takes the columns of the schema, and finds the numbers of named ones: a number, a date and a boolean are one column; each
 * part of a date, and a feature that says that a number is missing, are columns too.
 *   ST_INVALID  the dataset has no columns, has texts, or has too many ("/dataset"); the
 *               model names other columns ("/model/columns"); a pair names a column that
 *               does not exist or makes no features, or one twice ("/model/pairs/0") */
enum status columns_request_fit(struct model_spec *model, const struct schema *schema,
                                struct error *error);

/* The JSON Schema of a member. */
void columns_schema_write_columns(struct json_writer *writer);
void columns_schema_write_pairs(struct json_writer *writer);

#endif
